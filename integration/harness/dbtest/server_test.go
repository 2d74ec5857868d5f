package dbtest_test

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"github.com/guidonhq/guidon/integration/harness/dbtest"
)

// TestFaults kills, restarts, freezes and stops each kind of server.
func TestFaults(t *testing.T) {
	servers := map[string]func(context.Context) (*dbtest.Server, error){
		"postgres": func(ctx context.Context) (*dbtest.Server, error) { return dbtest.Postgres(ctx) },
		"mariadb":  func(ctx context.Context) (*dbtest.Server, error) { return dbtest.MariaDB(ctx) },
		"redis":    func(ctx context.Context) (*dbtest.Server, error) { return dbtest.Redis(ctx) },
		"pgbouncer": func(ctx context.Context) (*dbtest.Server, error) {
			upstream, err := dbtest.Postgres(ctx)
			if err != nil {
				return nil, err
			}
			t.Cleanup(func() { _ = upstream.Close() })
			return dbtest.PgBouncer(ctx, upstream)
		},
	}
	for name, begin := range servers {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			s, err := begin(ctx)
			if errors.Is(err, dbtest.ErrNotInstalled) && os.Getenv("INTEGRATION") != "1" {
				t.Skipf("SKIPPED: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			s.Kill()
			if accepts(s) {
				t.Error("the port is open after Kill")
			}
			s.Kill() // does nothing
			if err := s.Restart(ctx); err != nil {
				t.Fatal(err)
			}
			s.Freeze()
			s.Stop()
			if accepts(s) {
				t.Error("the port is open after Stop")
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(s.Dir); !os.IsNotExist(err) {
				t.Errorf("%s still exists: %v", s.Dir, err)
			}
		})
	}
}

func accepts(s *dbtest.Server) bool {
	c, err := net.DialTimeout("tcp", s.Addr, time.Second)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}
