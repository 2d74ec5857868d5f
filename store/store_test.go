package store_test

import (
	"testing"

	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) service.Store { return storetest.NewSQLite(t) })
}

func TestDatabase(t *testing.T) {
	storetest.RunDatabase(t, func(t testing.TB) string { return "sqlite:" + storetest.NewSQLiteFile(t) })
}

func TestAdditions(t *testing.T) {
	db := storetest.NewSQLite(t)
	storetest.RunAdditions(t, db, db.SQL(), func(t *testing.T) {
		other := openFile(t, db.Path())
		if _, err := migrate.Additions(t.Context(), other.SQL(), other.Dialect()); err != nil {
			t.Fatal(err)
		}
	})
}

// openFile opens a database file as it is.
func openFile(t testing.TB, path string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), "sqlite:"+path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}
