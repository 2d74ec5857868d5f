package store

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"github.com/guidonhq/guidon"
)

// errConflict stands for an error of a database that requires a retry.
var errConflict = errors.New("conflict, run again")

// openRetrying opens a database whose dialect retries after errConflict, with one
// table to write to.
func openRetrying(t *testing.T) *DB {
	t.Helper()
	db, err := Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "a.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	d := *sqliteDialect
	d.failure = func(err error) failure { return failure{retry: errors.Is(err, errConflict)} }
	db.dialect = &d
	if _, err := db.writer.ExecContext(t.Context(), "CREATE TABLE numbers (n INTEGER)"); err != nil {
		t.Fatal(err)
	}
	return db
}

func insertNumber(ctx context.Context, s *session, n int) error {
	_, err := s.exec(ctx, "INSERT INTO numbers (n) VALUES (?)", n)
	return err
}

func wantNumbers(t *testing.T, db *DB, want ...int) {
	t.Helper()
	var got []int
	err := db.read(t.Context(), func(ctx context.Context, s *session) error {
		return s.rows(ctx, "SELECT n FROM numbers ORDER BY n", nil, func(rows *sql.Rows) error {
			var n int
			got = append(got, n)
			return rows.Scan(&got[len(got)-1])
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("got numbers %v, want %v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("got numbers %v, want %v", got, want)
		}
	}
}

// A transaction with a conflict is rolled back and run again, whatever the function
// does with the error.
func TestWriteRetries(t *testing.T) {
	for name, report := range map[string]func(err error) error{
		"passed on": func(err error) error { return err },
		"swallowed": func(error) error { return nil },
		"replaced":  func(error) error { return guidon.Errorf(guidon.NotFound, "something else") },
	} {
		db := openRetrying(t)
		runs := 0
		err := db.write(t.Context(), func(ctx context.Context, s *session) error {
			runs++
			if err := insertNumber(ctx, s, runs); err != nil {
				return err
			}
			if runs < 3 {
				return report(s.fail(ctx, errConflict))
			}
			return nil
		})
		if err != nil || runs != 3 {
			t.Errorf("%s: got %v after %d runs, want success after 3", name, err, runs)
		}
		wantNumbers(t, db, 3)
	}
}

// After a failed statement, nothing of the transaction may be stored, even if the
// function ignores the failure. The database may have rolled back by itself, so that
// every further statement would be committed immediately.
func TestWriteEndsWithFailedStatement(t *testing.T) {
	db := openRetrying(t)
	err := db.write(t.Context(), func(ctx context.Context, s *session) error {
		if err := insertNumber(ctx, s, 1); err != nil {
			return err
		}
		_, _ = s.exec(ctx, "INSERT INTO nowhere (n) VALUES (1)")
		if _, err := s.conn.ExecContext(ctx, "ROLLBACK"); err != nil {
			return err
		}
		_ = insertNumber(ctx, s, 2)
		return nil
	})
	if err == nil {
		t.Error("a transaction with a failed statement was committed")
	}
	wantNumbers(t, db)
}

func TestRetryEndsWithItsContext(t *testing.T) {
	db := openRetrying(t)
	ctx, cancel := context.WithCancel(t.Context())
	runs := 0
	err := db.write(ctx, func(ctx context.Context, s *session) error {
		if runs++; runs == 3 {
			cancel()
		}
		return s.fail(t.Context(), errConflict)
	})
	if !errors.Is(err, context.Canceled) || runs != 3 {
		t.Errorf("got %v after %d runs, want context.Canceled after 3", err, runs)
	}
}

// The write connection remains usable after a transaction whose context has ended.
func TestWriterSurvives(t *testing.T) {
	db := openRetrying(t)
	for i := range 5 {
		ctx, cancel := context.WithCancel(t.Context())
		_ = db.write(ctx, func(ctx context.Context, s *session) error {
			err := insertNumber(ctx, s, -i)
			cancel()
			return err
		})
		err := db.write(t.Context(), func(ctx context.Context, s *session) error { return insertNumber(ctx, s, i+1) })
		if err != nil {
			t.Fatal(err)
		}
	}
	wantNumbers(t, db, 1, 2, 3, 4, 5)
}
