package filelock_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/guidonhq/guidon/store/filelock"
)

func TestTryNamesTheHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lock")
	release, err := filelock.Try(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = filelock.Try(path)
	held, ok := errors.AsType[*filelock.HeldError](err)
	if !ok {
		t.Fatalf("second Try: got %v, want a HeldError", err)
	}
	if held.PID != os.Getpid() || held.Path != path {
		t.Errorf("got holder %d of %q, want %d of %q", held.PID, held.Path, os.Getpid(), path)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if err := release(); err != nil {
		t.Errorf("second release: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock file is left behind: %v", err)
	}
	if release, err = filelock.Try(path); err != nil {
		t.Fatalf("Try after release: %v", err)
	}
	defer release()
}

func TestWaitEndsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lock")
	release, err := filelock.Try(path)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := filelock.Wait(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

// TestWaitLetsOneInAtATime also covers the removal of the file on release: a
// waiter that opened the old file must not hold a lock on a removed name.
func TestWaitLetsOneInAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.lock")
	var wg sync.WaitGroup
	var inside, total atomic.Int32 // atomic, since the race detector does not know file locks
	for range 8 {
		wg.Go(func() {
			for range 5 {
				release, err := filelock.Wait(t.Context(), path)
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d holders at once", n)
				}
				total.Add(1)
				inside.Add(-1)
				if err := release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if total.Load() != 40 {
		t.Errorf("got %d turns, want 40", total.Load())
	}
}
