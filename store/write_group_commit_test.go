package store

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/bubble"
)

// part is the write of one member of a group.
type part func(ctx context.Context, s *session) error

func number(n int) part {
	return func(ctx context.Context, s *session) error { return insertNumber(ctx, s, n) }
}

var errPart = guidon.Errorf(guidon.FailedPrecondition, "the part failed")

// writeAsGroup runs the parts as one group, in order, and returns their errors. The
// first part does not end before the others wait.
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
	// sharing writes the number and checks that nothing of the group is visible yet,
	// so that it shares its transaction.
	sharing := func(t *testing.T, db *DB, n int) part {
		return func(ctx context.Context, s *session) error {
			wantNumbers(t, db)
			return insertNumber(ctx, s, n)
		}
	}
	failing := func(n int) part {
		return func(ctx context.Context, s *session) error { return errors.Join(insertNumber(ctx, s, n), errPart) }
	}
	panicking := func(n int) part {
		return func(ctx context.Context, s *session) error {
			if err := insertNumber(ctx, s, n); err != nil {
				return err
			}
			panic(errPart)
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
		panic(errPart)
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
	// dangling violates a foreign key, which is checked at the commit.
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
		{"one fails and undoes its own changes",
			func(t *testing.T, db *DB) []part { return []part{number(1), failing(2), sharing(t, db, 3)} }, []bool{false, true, false}, []int{1, 3}},
		{"the first fails",
			func(t *testing.T, db *DB) []part { return []part{failing(1), number(2), sharing(t, db, 3)} }, []bool{true, false, false}, []int{2, 3}},
		{"all fail",
			func(*testing.T, *DB) []part { return []part{failing(1), failing(2)} }, []bool{true, true}, nil},
		{"one stores nothing",
			func(*testing.T, *DB) []part { return []part{number(1), nothing, number(3)} }, []bool{false, false, false}, []int{1, 3}},
		{"one panics, in the goroutine of its caller",
			func(*testing.T, *DB) []part { return []part{number(1), panicking(2), number(3)} }, []bool{false, true, false}, []int{1, 3}},
		{"the first panics",
			func(*testing.T, *DB) []part { return []part{panicking(1), number(2)} }, []bool{true, false}, []int{2}},
		{"a statement of one fails",
			func(*testing.T, *DB) []part { return []part{number(1), broken, number(3)} }, []bool{false, true, false}, []int{1, 3}},
		{"a statement of the first fails, and it ignores the error",
			func(*testing.T, *DB) []part { return []part{swallowing, number(2)} }, []bool{true, false}, []int{2}},
		{"a statement of one fails, and it panics",
			func(*testing.T, *DB) []part { return []part{number(1), brokenPanicking, number(3)} }, []bool{false, true, false}, []int{1, 3}},
		{"one must run again",
			func(*testing.T, *DB) []part { return []part{number(1), conflicting(), number(3)} }, []bool{false, false, false}, []int{1, 3, 5}},
		{"the commit fails for one of them",
			func(*testing.T, *DB) []part { return []part{number(1), dangling, number(3)} }, []bool{false, true, false}, []int{1, 3}},
		{"the commit fails for a single part",
			func(*testing.T, *DB) []part { return []part{dangling} }, []bool{true}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
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

// A writer whose context ends while it waits writes nothing and does not delay the
// others.
func TestGroupCommitWithdrawn(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
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

// If the function of the leader ends its goroutine, the other writers still write.
func TestGroupCommitGoexit(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
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
