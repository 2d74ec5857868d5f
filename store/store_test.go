package store_test

import (
	"path/filepath"
	"testing"

	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) service.Store { return openNew(t) })
}

func TestDatabase(t *testing.T) {
	storetest.RunDatabase(t, func(t testing.TB) string { return "sqlite:" + openNew(t).Path() })
}

func TestAdditions(t *testing.T) {
	db := openNew(t)
	storetest.RunAdditions(t, db, db.SQL(), func(t *testing.T) {
		other := openFile(t, db.Path())
		if _, err := migrate.Additions(t.Context(), other.SQL(), other.Dialect()); err != nil {
			t.Fatal(err)
		}
	})
}

// openNew opens a new database in its seed state.
func openNew(t testing.TB) *store.DB {
	t.Helper()
	db := openFile(t, filepath.Join(t.TempDir(), "guidon.db"))
	if _, err := migrate.Up(t.Context(), db.SQL(), db.Dialect()); err != nil {
		t.Fatal(err)
	}
	return db
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
