package store

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/guidonhq/guidon"
)

// part is what one of a group writes.
type part func(ctx context.Context, s *session) error

func number(n int) part {
	return func(ctx context.Context, s *session) error { return insertNumber(ctx, s, n) }
}

var errRefused = guidon.Errorf(guidon.FailedPrecondition, "refused")

// writeAsGroup runs the parts as one group, in order, and returns what became of
// each: the first one does not end before the others wait.
func writeAsGroup(t *testing.T, db *DB, parts ...part) []error {
	t.Helper()
	results := make([]error, len(parts))
	begun, proceed := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var writing sync.WaitGroup
	for i, p := range parts {
		writing.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					results[i] = p.(error)
				}
			}()
			results[i] = db.writeTo(t.Context(), "", func(ctx context.Context, s *session) error {
				once.Do(func() { close(begun); <-proceed })
				return p(ctx, s)
			})
		})
		if i == 0 {
			<-begun
		}
		synctest.Wait()
	}
	close(proceed)
	writing.Wait()
	return results
}

func TestGroupCommit(t *testing.T) {
	// sharing writes the number where nothing of the group can be seen so far: it
	// shares its transaction.
	sharing := func(t *testing.T, db *DB, n int) part {
		return func(ctx context.Context, s *session) error {
			wantNumbers(t, db)
			return insertNumber(ctx, s, n)
		}
	}
	refusing := func(n int) part {
		return func(ctx context.Context, s *session) error { return errors.Join(insertNumber(ctx, s, n), errRefused) }
	}
	panicking := func(n int) part {
		return func(ctx context.Context, s *session) error {
			if err := insertNumber(ctx, s, n); err != nil {
				return err
			}
			panic(errRefused)
		}
	}
	nothing := func(ctx context.Context, s *session) error {
		return errors.Join(insertNumber(ctx, s, 9), errNothingStored)
	}
	broken := func(ctx context.Context, s *session) error {
		_, err := s.exec(ctx, "INSERT INTO missing (n) VALUES (1)")
		return err
	}
	swallowing := func(ctx context.Context, s *session) error {
		_ = broken(ctx, s)
		return nil
	}
	brokenPanicking := func(ctx context.Context, s *session) error {
		_ = broken(ctx, s)
		panic(errRefused)
	}
	conflicting := func() part {
		runs := 0
		return func(ctx context.Context, s *session) error {
			if runs++; runs < 3 {
				return s.fail(ctx, errConflict)
			}
			return insertNumber(ctx, s, 5)
		}
	}
	// dangling breaks a rule that is checked at the commit.
	dangling := func(ctx context.Context, s *session) error {
		_, err := s.exec(ctx, "INSERT INTO children (n) VALUES (7)")
		return err
	}
	for _, c := range []struct {
		name   string
		parts  func(t *testing.T, db *DB) []part
		fails  []bool
		stored []int
	}{
		{"all share a commit",
			func(t *testing.T, db *DB) []part { return []part{number(1), sharing(t, db, 2), sharing(t, db, 3)} }, []bool{false, false, false}, []int{1, 2, 3}},
		{"one refuses, and takes back its own",
			func(t *testing.T, db *DB) []part { return []part{number(1), refusing(2), sharing(t, db, 3)} }, []bool{false, true, false}, []int{1, 3}},
		{"the first refuses",
			func(t *testing.T, db *DB) []part { return []part{refusing(1), number(2), sharing(t, db, 3)} }, []bool{true, false, false}, []int{2, 3}},
		{"all refuse",
			func(*testing.T, *DB) []part { return []part{refusing(1), refusing(2)} }, []bool{true, true}, nil},
		{"one turns out to change nothing",
			func(*testing.T, *DB) []part { return []part{number(1), nothing, number(3)} }, []bool{false, false, false}, []int{1, 3}},
		{"one panics, where it was called",
			func(*testing.T, *DB) []part { return []part{number(1), panicking(2), number(3)} }, []bool{false, true, false}, []int{1, 3}},
		{"the first panics",
			func(*testing.T, *DB) []part { return []part{panicking(1), number(2)} }, []bool{true, false}, []int{2}},
		{"a statement of one fails",
			func(*testing.T, *DB) []part { return []part{number(1), broken, number(3)} }, []bool{false, true, false}, []int{1, 3}},
		{"a statement of the first fails, and it says nothing",
			func(*testing.T, *DB) []part { return []part{swallowing, number(2)} }, []bool{true, false}, []int{2}},
		{"a statement of one fails, and it panics",
			func(*testing.T, *DB) []part { return []part{number(1), brokenPanicking, number(3)} }, []bool{false, true, false}, []int{1, 3}},
		{"one has to run again",
			func(*testing.T, *DB) []part { return []part{number(1), conflicting(), number(3)} }, []bool{false, false, false}, []int{1, 3, 5}},
		{"the commit fails for one of them",
			func(*testing.T, *DB) []part { return []part{number(1), dangling, number(3)} }, []bool{false, true, false}, []int{1, 3}},
		{"the commit fails for one alone",
			func(*testing.T, *DB) []part { return []part{dangling} }, []bool{true}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := openRetrying(t)
				db.dialect.beginWrite = "PRAGMA foreign_keys = 1; BEGIN IMMEDIATE" // on every connection
				mustExec(t, db.writer, "CREATE TABLE parents (n INTEGER PRIMARY KEY)")
				mustExec(t, db.writer, "CREATE TABLE children (n INTEGER REFERENCES parents (n) DEFERRABLE INITIALLY DEFERRED)")
				for i, err := range writeAsGroup(t, db, c.parts(t, db)...) {
					if got := err != nil; got != c.fails[i] {
						t.Errorf("writer %d: got %v, want an error: %v", i+1, err, c.fails[i])
					}
				}
				wantNumbers(t, db, c.stored...)
			})
		})
	}
}

// Who goes away while waiting is not written, and nobody waits for them.
func TestGroupCommitWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := openRetrying(t)
		ctx, cancel := context.WithCancel(t.Context())
		var waiter sync.WaitGroup
		err := db.writeTo(t.Context(), "", func(first context.Context, s *session) error {
			waiter.Go(func() {
				err := db.writeTo(ctx, "", func(ctx context.Context, s *session) error { return insertNumber(ctx, s, 2) })
				if !errors.Is(err, context.Canceled) {
					t.Errorf("got %v, want Canceled", err)
				}
			})
			synctest.Wait()
			cancel()
			waiter.Wait()
			return insertNumber(first, s, 1)
		})
		if err != nil {
			t.Error(err)
		}
		wantNumbers(t, db, 1)
	})
}

// A goroutine that ends inside its function leaves the others to themselves.
func TestGroupCommitGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := openRetrying(t)
		var waiter, ending sync.WaitGroup
		ending.Go(func() {
			_ = db.writeTo(t.Context(), "", func(ctx context.Context, s *session) error {
				waiter.Go(func() {
					if err := db.writeTo(t.Context(), "", number(2)); err != nil {
						t.Error(err)
					}
				})
				synctest.Wait()
				if err := insertNumber(ctx, s, 1); err != nil {
					t.Error(err)
				}
				runtime.Goexit()
				return nil
			})
		})
		ending.Wait()
		waiter.Wait()
		wantNumbers(t, db, 2)
	})
}
