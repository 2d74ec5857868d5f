package harness

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/guidonhq/guidon/integration/harness/dbtest"
)

// StartPrivate calls start to start a server for a single test. It is closed at the end of
// the test. The test is skipped if the server is not installed.
func StartPrivate(t testing.TB, start func() (*dbtest.Server, error)) *dbtest.Server {
	t.Helper()
	s, err := start()
	if errors.Is(err, dbtest.ErrNotInstalled) {
		Skip(t, "%v", err)
	}
	mustSucceed(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of the server at %s:\n%s", s.Addr, s.Log())
		}
		_ = s.Close()
	})
	return s
}

// OwnDatabase starts a database server of the kind of s, which must be one of
// PrivateServers, for a single test. It returns the server, which the test may kill or
// freeze, and the URL of a migrated database.
func OwnDatabase(t testing.TB, s *DatabaseServer, settings ...string) (*dbtest.Server, string) {
	t.Helper()
	own := StartPrivate(t, func() (*dbtest.Server, error) { return s.process(t.Context(), settings...) })
	name := newName()
	mustSucceed(t, administer(t.Context(), own.URL, "CREATE DATABASE "+name))
	migrateUp(t, own.Database(name))
	return own, own.Database(name)
}

// StartRedis starts a private Redis for the test.
func StartRedis(t testing.TB, flags ...string) *dbtest.Server {
	t.Helper()
	return StartPrivate(t, func() (*dbtest.Server, error) { return dbtest.Redis(context.Background(), flags...) })
}

// ThroughRedis returns the settings of a server that uses the Redis at the URL.
func ThroughRedis(url string) []string {
	return []string{"GUIDON_CACHE_BACKEND=redis", "GUIDON_CACHE_REDIS_URL=" + url}
}

// OpenDir returns a directory that a server running as another user can read. It is removed
// at the end of the test.
func OpenDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "guidon-open-")
	mustSucceed(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil { // #nosec G302 -- for the other user
		t.Fatal(err)
	}
	return dir
}
