package store

import (
	"testing"

	"github.com/guidonhq/guidon/migrate"
)

// openMigrated opens the database and applies all schema steps. It is closed at the end of
// the test.
func openMigrated(t *testing.T, url string) *DB {
	t.Helper()
	db, err := Open(t.Context(), url, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := migrate.Up(t.Context(), db.SQL(), db.Dialect()); err != nil {
		t.Fatal(err)
	}
	return db
}
