package flight

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/guidonhq/guidon/internal/bubble"
)

// work is a call that takes a second, unless its context ends. It counts.
type work struct{ begun, abandoned atomic.Int64 }

func (w *work) do(ctx context.Context) (int64, error) {
	n := w.begun.Add(1)
	select {
	case <-time.After(time.Second):
		return n, nil
	case <-ctx.Done():
		w.abandoned.Add(1)
		return 0, ctx.Err()
	}
}

// TestEqualKeys: equal keys at the same time share one call, and later ones do not.
func TestEqualKeys(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		g, w := new(Group[string, int64]), new(work)
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * time.Second / 20)
				if n, err := g.Do(t.Context(), "key", w.do); n != 1 || err != nil {
					t.Errorf("got call %d and %v, want the first", n, err)
				}
			})
		}
		all.Wait()
		if n, err := g.Do(t.Context(), "key", w.do); n != 2 || err != nil {
			t.Errorf("got call %d and %v, want another one", n, err)
		}
		if len(g.running) != 0 {
			t.Errorf("%d calls are kept", len(g.running))
		}
	})
}

// TestLeavingWaiter: a caller that leaves takes nobody along, not even the first. The last
// one ends the call, and the next caller starts another.
func TestLeavingWaiter(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		g, w := new(Group[string, int64]), new(work)
		first, leave := context.WithCancel(t.Context())
		results := make(chan error, 2)
		do := func(ctx context.Context) {
			_, err := g.Do(ctx, "key", w.do)
			results <- err
		}
		go do(first)
		synctest.Wait()
		go do(t.Context())
		synctest.Wait()
		leave()
		if err := <-results; !errors.Is(err, context.Canceled) {
			t.Errorf("the first got %v, want Canceled", err)
		}
		if err := <-results; err != nil || w.begun.Load() != 1 || w.abandoned.Load() != 0 {
			t.Errorf("the second got %v from %d calls, %d abandoned", err, w.begun.Load(), w.abandoned.Load())
		}

		last, leave := context.WithTimeout(t.Context(), time.Second/2)
		defer leave()
		do(last)
		if err := <-results; !errors.Is(err, context.DeadlineExceeded) || w.abandoned.Load() != 1 || len(g.running) != 0 {
			t.Errorf("the last got %v, %d calls abandoned, %d kept", err, w.abandoned.Load(), len(g.running))
		}
		do(t.Context())
		if err := <-results; err != nil {
			t.Errorf("the next got %v", err)
		}
	})
}

// TestNotAbandoned: nobody joins a call that was abandoned and has not ended yet.
func TestNotAbandoned(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		g, w := new(Group[string, int64]), new(work)
		ctx, leave := context.WithCancel(t.Context())
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			_, _ = g.Do(ctx, "key", func(ctx context.Context) (int64, error) {
				<-ctx.Done()
				time.Sleep(time.Minute)
				return 0, ctx.Err()
			})
		}()
		synctest.Wait()
		leave()
		synctest.Wait()
		start := time.Now()
		if n, err := g.Do(t.Context(), "key", w.do); n != 1 || err != nil || time.Since(start) != time.Second {
			t.Errorf("got call %d and %v after %v", n, err, time.Since(start))
		}
		<-gone
		if len(g.running) != 0 {
			t.Errorf("%d calls are kept", len(g.running))
		}
	})
}

// TestPanic: a panic is an error for the waiters.
func TestPanic(t *testing.T) {
	g := new(Group[string, int])
	_, err := g.Do(t.Context(), "key", func(context.Context) (int, error) { panic("boom") })
	if err == nil || !strings.HasPrefix(err.Error(), "panic: boom\n") || len(g.running) != 0 {
		t.Errorf("got %v, want an error", err)
	}
}
