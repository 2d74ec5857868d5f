package storetest

import (
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/store"
)

// NewSQLite returns a store on a new SQLite file in its seed state. It is closed at the end of
// the test.
func NewSQLite(t testing.TB) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "guidon.db"), store.Options{})
	mustSucceed(t, err)
	t.Cleanup(func() { _ = db.Close() })
	_, err = migrate.Up(t.Context(), db.SQL(), db.Dialect())
	mustSucceed(t, err)
	return db
}
