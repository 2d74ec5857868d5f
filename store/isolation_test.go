package store

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/integration/harness/dbtest"
	"github.com/guidonhq/guidon/service"
)

// A read transaction sees one state, whatever is committed in the meantime. The test
// runs on SQLite and on the installed servers.
func TestReadSeesOneState(t *testing.T) {
	urls := map[string]string{"sqlite": "sqlite:" + filepath.Join(t.TempDir(), "a.db")}
	for name, start := range map[string]func(ctx context.Context, settings ...string) (*dbtest.Server, error){
		"postgres": dbtest.Postgres, "mysql": dbtest.MariaDB,
	} {
		server, err := start(t.Context())
		if errors.Is(err, dbtest.ErrNotInstalled) {
			t.Logf("skipping %s: %v", name, err)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := server.Close(); err != nil {
				t.Error(err)
			}
		})
		urls[name] = server.URL
		if name == "mysql" {
			urls[name] = createDatabase(t, server.URL)
		}
	}
	for name, url := range urls {
		t.Run(name, func(t *testing.T) {
			db := openMigrated(t, url)
			err := db.read(t.Context(), func(ctx context.Context, s *session) error {
				before, err := s.head(ctx, "default")
				if err != nil {
					return err
				}
				key := service.NewID()
				put := func(ctx context.Context, tx service.Tx) error { return tx.PutFlag(ctx, &guidon.Flag{Key: key}) }
				if _, err := db.Update(ctx, "default", service.Write{}, put); err != nil {
					return err
				}
				after, err := s.head(ctx, "default")
				if err != nil {
					return err
				}
				if after.revision != before.revision {
					t.Errorf("got revision %v after %v in one transaction", after.revision, before.revision)
				}
				var n int
				found, err := s.row(ctx, "SELECT 1 FROM flags WHERE namespace_key = ? AND flag_key = ?", []any{"default", key}, &n)
				if found {
					t.Error("the transaction sees a flag that was created after its first statement")
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// createDatabase creates a database on a MySQL server whose URL names none, and
// returns its URL.
func createDatabase(t *testing.T, server string) string {
	t.Helper()
	admin, err := Open(t.Context(), server+"mysql", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = admin.Close() }()
	if _, err := admin.SQL().ExecContext(t.Context(), "CREATE DATABASE guidon"); err != nil {
		t.Fatal(err)
	}
	return server + "guidon"
}
