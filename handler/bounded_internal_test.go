package handler

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

type contextKey struct{}

// TestBounded: it ends as a context with a deadline does, whether somebody waits
// for it or only asks.
func TestBounded(t *testing.T) {
	for _, test := range []struct {
		name   string
		caller time.Duration // the caller's own deadline, 0 for none
		end    func(caller context.CancelFunc, b *bounded)
		want   error
	}{
		{"nothing has happened", 0, func(context.CancelFunc, *bounded) {}, nil},
		{"the caller goes", 0, func(caller context.CancelFunc, _ *bounded) { caller() }, context.Canceled},
		{"the deadline comes", 0, func(context.CancelFunc, *bounded) { time.Sleep(time.Minute) }, context.DeadlineExceeded},
		{"shortly before the deadline", 0, func(context.CancelFunc, *bounded) { time.Sleep(time.Minute - 1) }, nil},
		{"the caller's deadline comes first", time.Second, func(context.CancelFunc, *bounded) { time.Sleep(time.Second) }, context.DeadlineExceeded},
		{"it is stopped", 0, func(_ context.CancelFunc, b *bounded) { b.stop() }, context.Canceled},
	} {
		for _, waited := range []bool{false, true} {
			t.Run(test.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
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
						t.Errorf("its end can be waited for: %t, want %t", ended, test.want != nil)
					}
					if got := b.Value(contextKey{}); got != "value" {
						t.Errorf("got value %v", got)
					}
				})
			})
		}
	}
}

// TestBoundedDeadline: it is the earlier one.
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

// TestBoundedChildren: what is derived from it ends with it, and after it was
// stopped nothing is left that waits: synctest would find it.
func TestBoundedChildren(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
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
			t.Errorf("got error %v of what was derived from a stopped one", got)
		}
	})
}

// TestBoundedConcurrently is for the race detector.
func TestBoundedConcurrently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
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
