package store_test

import (
	"context"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/service/count"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) service.Store { return openNew(t) })
}

func TestReaders(t *testing.T) {
	storetest.RunReaders(t, func(t *testing.T) storetest.ReaderStore { return openNew(t) })
}

func TestEvaluations(t *testing.T) {
	storetest.RunEvaluations(t, func(t *testing.T) count.Store { return openNew(t) })
}

func TestFavorites(t *testing.T) {
	storetest.RunFavorites(t, func(t *testing.T) storetest.FavoriteStore { return openNew(t) })
}

func TestUnreadable(t *testing.T) { storetest.RunUnreadable(t, openNew(t)) }

func TestAdditions(t *testing.T) {
	db := openNew(t)
	storetest.RunAdditions(t, db, db.SQL(), func(t *testing.T) {
		other := openFile(t, db.Path())
		if _, err := migrate.Additions(t.Context(), other.SQL(), other.Dialect()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAuthenticationLoads(t *testing.T) {
	storetest.RunAuthenticationLoads(t, func(t *testing.T) storetest.AuthenticationLoader { return openNew(t) })
}

func TestMirror(t *testing.T) {
	db := openNew(t)
	storetest.RunMirrored(t, db, openFile(t, db.Path()))
}

func TestSecrets(t *testing.T) {
	storetest.RunSecrets(t, func(t *testing.T) [2]storetest.SecretStore {
		db := openNew(t)
		return [2]storetest.SecretStore{db, openFile(t, db.Path())}
	})
}

func TestTraced(t *testing.T) {
	storetest.RunTraced(t, func(t *testing.T, trace func(context.Context, string) func(string, error)) storetest.PingedStore {
		path := openNew(t).Path()
		db, err := store.Open(t.Context(), "sqlite:"+path, store.Options{Trace: trace})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
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

func TestWebhooks(t *testing.T) {
	storetest.RunWebhooks(t, func(t *testing.T) storetest.WebhookStore { return openNew(t) })
}
