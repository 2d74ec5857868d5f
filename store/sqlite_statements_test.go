package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
)

// openCaching returns the write connection of a new database and a function that
// counts its cached statements.
func openCaching(t *testing.T) (*sql.Conn, func() int) {
	t.Helper()
	db, err := Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "a.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	conn, err := db.writer.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn, func() (cached int) {
		err := conn.Raw(func(driverConn any) error {
			cached = len(driverConn.(*cachingConn).cache)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return cached
	}
}

func mustExec(t *testing.T, conn execer, query string, args ...any) {
	t.Helper()
	if _, err := conn.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func numbers(t *testing.T, rows *sql.Rows, err error) []int {
	t.Helper()
	var all []int
	if err := scanAll(rows, err, func(rows *sql.Rows) error {
		all = append(all, 0)
		return rows.Scan(&all[len(all)-1])
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// A cached statement can be reused with other arguments, after it has failed, and
// after a column was added to the table.
func TestCachedStatementsAreReusable(t *testing.T) {
	conn, cached := openCaching(t)
	mustExec(t, conn, "CREATE TABLE numbers (n INTEGER PRIMARY KEY)")
	const insert, query = "INSERT INTO numbers (n) VALUES (?)", "SELECT n FROM numbers WHERE n < ? ORDER BY n"
	for n := range 3 {
		mustExec(t, conn, insert, n)
	}
	if got := cached(); got != 1 {
		t.Errorf("%d statements are cached, want only the insertion", got)
	}
	if _, err := conn.ExecContext(t.Context(), insert, 0); !sqliteDialect.failure(err).unique {
		t.Errorf("a duplicate number: got %v", err)
	}
	mustExec(t, conn, "ALTER TABLE numbers ADD COLUMN more TEXT")
	mustExec(t, conn, insert, 3)
	for want := range 4 {
		rows, err := conn.QueryContext(t.Context(), query, want)
		if got := numbers(t, rows, err); len(got) != want {
			t.Errorf("got %v, want those below %d", got, want)
		}
	}
	if got := cached(); got != 2 {
		t.Errorf("%d statements are cached, want 2", got)
	}
}

// A query may run again while its rows are being read.
func TestCachedQueryWithinItself(t *testing.T) {
	conn, _ := openCaching(t)
	mustExec(t, conn, "CREATE TABLE numbers (n INTEGER)")
	mustExec(t, conn, "INSERT INTO numbers (n) VALUES (1), (2), (3)")
	const query = "SELECT n FROM numbers ORDER BY n"
	for range 2 {
		outer, err := conn.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		for want := 1; outer.Next(); want++ {
			var got int
			if err := outer.Scan(&got); err != nil || got != want {
				t.Errorf("got %d, %v, want %d", got, err, want)
			}
			inner, err := conn.QueryContext(t.Context(), query)
			if got := numbers(t, inner, err); len(got) != 3 {
				t.Errorf("inside, got %v", got)
			}
		}
		if err := outer.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// The cache is limited, and a context that has ended is respected.
func TestStatementCacheIsBounded(t *testing.T) {
	conn, cached := openCaching(t)
	for n := range 3 * maxCached {
		rows, err := conn.QueryContext(t.Context(), fmt.Sprintf("SELECT %d", n))
		if got := numbers(t, rows, err); len(got) != 1 || got[0] != n {
			t.Fatalf("got %v, want %d", got, n)
		}
	}
	if got := cached(); got != maxCached {
		t.Errorf("%d statements are cached, want %d", got, maxCached)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, query := range []string{"SELECT 1", "SELECT 'never asked before'"} {
		if _, err := conn.ExecContext(canceled, query); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want context.Canceled", query, err)
		}
	}
}

// execer is a connection or a pool of them.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}
