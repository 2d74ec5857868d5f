package call

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/guidonhq/guidon/internal/bubble"
)

type contextKey struct{}

// TestBounded: it ends like a context with a deadline, whether Done or only Err is
// called.
func TestBounded(t *testing.T) {
	for _, test := range []struct {
		name   string
		caller time.Duration // the caller's own deadline, 0 for none
		end    func(caller context.CancelFunc, b *bounded)
		want   error
	}{
		{"still running", 0, func(context.CancelFunc, *bounded) {}, nil},
		{"the caller cancels", 0, func(caller context.CancelFunc, _ *bounded) { caller() }, context.Canceled},
		{"the deadline passes", 0, func(context.CancelFunc, *bounded) { time.Sleep(time.Minute) }, context.DeadlineExceeded},
		{"shortly before the deadline", 0, func(context.CancelFunc, *bounded) { time.Sleep(time.Minute - 1) }, nil},
		{"the caller's deadline comes first", time.Second, func(context.CancelFunc, *bounded) { time.Sleep(time.Second) }, context.DeadlineExceeded},
		{"it is stopped", 0, func(_ context.CancelFunc, b *bounded) { b.stop() }, context.Canceled},
	} {
		for _, waited := range []bool{false, true} {
			t.Run(test.name, func(t *testing.T) {
				bubble.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(context.WithValue(t.Context(), contextKey{}, "value"))
					defer cancel()
					if test.caller > 0 {
						ctx, cancel = context.WithTimeout(ctx, test.caller)
						defer cancel()
					}
					b := &bounded{Context: ctx, deadline: time.Now().Add(time.Minute)}
					defer b.stop()
					if waited {
						b.Done()
					}
					test.end(cancel, b)
					synctest.Wait()
					if got := b.Err(); !errors.Is(got, test.want) {
						t.Errorf("got error %v, want %v", got, test.want)
					}
					ended := false
					select {
					case <-b.Done():
						ended = true
					default:
					}
					if ended != (test.want != nil) {
						t.Errorf("Done is closed: %t, want %t", ended, test.want != nil)
					}
					if got := b.Value(contextKey{}); got != "value" {
						t.Errorf("got value %v", got)
					}
				})
			})
		}
	}
}

// TestBoundedDeadline: the deadline is the earlier of the caller's and its own.
func TestBoundedDeadline(t *testing.T) {
	now := time.Now()
	for caller, want := range map[time.Duration]time.Duration{time.Second: time.Second, time.Hour: time.Minute} {
		ctx, cancel := context.WithDeadline(t.Context(), now.Add(caller))
		defer cancel()
		got, ok := (&bounded{Context: ctx, deadline: now.Add(time.Minute)}).Deadline()
		if !ok || !got.Equal(now.Add(want)) {
			t.Errorf("got %v, want %v from now", got.Sub(now), want)
		}
	}
}

// TestBoundedChildren: derived contexts end with it, and stop leaves no goroutine
// behind, which synctest would report.
func TestBoundedChildren(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := &bounded{Context: t.Context(), deadline: time.Now().Add(time.Minute)}
		before, cancel := context.WithCancel(b)
		defer cancel()
		time.Sleep(time.Minute)
		<-before.Done()
		if got := before.Err(); !errors.Is(got, context.DeadlineExceeded) {
			t.Errorf("got error %v, want that of the deadline", got)
		}
		b.stop()

		b = &bounded{Context: t.Context(), deadline: time.Now().Add(time.Minute)}
		b.stop()
		after, cancel := context.WithTimeout(b, time.Hour)
		defer cancel()
		if got := after.Err(); !errors.Is(got, context.Canceled) {
			t.Errorf("derived from a stopped context: got error %v, want %v", got, context.Canceled)
		}
	})
}

// TestBoundedConcurrently is for the race detector.
func TestBoundedConcurrently(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		b := &bounded{Context: t.Context(), deadline: time.Now().Add(time.Minute)}
		for range 4 {
			go func() {
				_, _ = b.Err(), b.Value(contextKey{})
				<-b.Done()
			}()
		}
		b.stop()
		synctest.Wait()
	})
}
