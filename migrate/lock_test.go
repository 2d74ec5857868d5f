package migrate

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

// testLock returns a function that creates locks of one database, one for each simulated
// process. It uses SQLite. The tests in integration/database use shared databases.
func testLock(t *testing.T) func() *rowLock {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "a.db")+"?_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	s, err := schemaOf(db, "sqlite")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	return func() *rowLock {
		n++
		return &rowLock{db: db, dialect: s.dialect, holder: string(rune('A' + n)), interval: 10 * time.Millisecond, timeout: time.Second}
	}
}

// Only one process holds the lock at a time, even for longer than the timeout.
func TestRowLockIsHeldByOne(t *testing.T) {
	newLock := testLock(t)
	var holders atomic.Int32
	var wait sync.WaitGroup
	for i := range 4 {
		l := newLock()
		l.timeout = 300 * time.Millisecond
		wait.Go(func() {
			held, release, err := l.hold(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			if n := holders.Add(1); n != 1 {
				t.Errorf("%d processes hold the lock", n)
			}
			if i == 0 {
				// Work that takes longer than the timeout.
				bounded, cancel := context.WithTimeout(held, 2*l.timeout)
				<-bounded.Done()
				cancel()
			}
			if held.Err() != nil {
				t.Errorf("the lock was lost: %v", context.Cause(held))
			}
			holders.Add(-1)
			if err := release(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}

// A lock that is not renewed is taken over. If its former holder is still running, its
// context ends and its release fails.
func TestRowLockIsTakenOver(t *testing.T) {
	newLock := testLock(t)
	frozen := newLock()
	frozen.interval = time.Hour
	_, releaseFrozen, err := frozen.hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other := newLock()
	other.timeout = 100 * time.Millisecond
	_, release, err := other.hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := releaseFrozen(); err != nil {
		t.Errorf("release of a lock that was taken over: %v", err)
	}
	if now, err := other.read(t.Context()); err != nil || now.holder != other.holder {
		t.Errorf("the lock is held by %q, %v, want the process that took it over", now.holder, err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}

	loser := newLock()
	held, releaseLoser, err := loser.hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := loser.db.ExecContext(t.Context(), "UPDATE schema_lock SET holder = 'OTHER'"); err != nil {
		t.Fatal(err)
	}
	<-held.Done()
	if err := context.Cause(held); !errors.Is(err, errLockLost) {
		t.Errorf("the context ended with %v, want errLockLost", err)
	}
	if err := releaseLoser(); !errors.Is(err, errLockLost) {
		t.Errorf("release: got %v, want errLockLost", err)
	}
}

// Waiting ends with the context.
func TestRowLockWaitEnds(t *testing.T) {
	newLock := testLock(t)
	_, release, err := newLock().hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = release() }()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := newLock().hold(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the end of the context", err)
	}
}
