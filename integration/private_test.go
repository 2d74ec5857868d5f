package integration

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/guidonhq/guidon/integration/dbproc"
)

// private starts a server for a single test. It is closed at the end of the test.
func private(t testing.TB, start func() (*dbproc.Server, error)) *dbproc.Server {
	t.Helper()
	s, err := start()
	if errors.Is(err, dbproc.ErrNotInstalled) {
		skip(t, "%v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of the server at %s:\n%s", s.Addr, s.Log())
		}
		_ = s.Close()
	})
	return s
}

// ownDatabase starts a database server for a single test that kills or freezes it, and
// returns it with the URL of a migrated database.
func ownDatabase(t testing.TB, s *databaseServer, settings ...string) (*dbproc.Server, string) {
	t.Helper()
	own := private(t, func() (*dbproc.Server, error) { return s.process(t.Context(), settings...) })
	name := newName()
	if err := administer(t.Context(), own.URL, "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	migrateUp(t, own.Database(name))
	return own, own.Database(name)
}

// startRedis starts a private Redis for the test.
func startRedis(t testing.TB, flags ...string) *dbproc.Server {
	t.Helper()
	return private(t, func() (*dbproc.Server, error) { return dbproc.Redis(context.Background(), flags...) })
}

// throughRedis returns the environment of a server with the Redis of the URL.
func throughRedis(url string) []string {
	return []string{"GUIDON_CACHE_BACKEND=redis", "GUIDON_CACHE_REDIS_URL=" + url}
}

// openDir returns a directory that a server running as another user can read.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "guidon-open-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil { // #nosec G302 -- for the other user
		t.Fatal(err)
	}
	return dir
}
