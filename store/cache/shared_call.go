package cache

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/guidonhq/guidon"
)

// line lets questions to the source run one after another, each for all who
// wait for it. At most one is under way. Who comes when that one has begun too
// early for him waits for the one that its end begins, together with all others
// of his kind.
type line[T any] struct {
	mu     sync.Mutex
	flight *flight[T] // under way
	next   *flight[T] // the one that its end begins
}

// flight is one question to the source and those who wait for the answer.
type flight[T any] struct {
	run     func(ctx context.Context, f *flight[T]) // sets value and err
	ctx     context.Context                         // ends when nobody waits any more
	cancel  context.CancelFunc
	closed  bool // began too early for who comes now
	waiters int
	done    chan struct{} // closed when value and err are set
	value   T
	err     error
}

// join returns a flight to wait for: the one under way, or the next where that
// is closed. run is for the flight that has to be made, if any. Where there was
// none the caller is the first, and begins it, by start or lead. l.mu is held.
func (l *line[T]) join(ctx context.Context, run func(ctx context.Context, f *flight[T])) (f *flight[T], first bool) {
	f = l.flight
	switch {
	case f == nil:
		f, first = newFlight(ctx, run), true
		l.flight = f
	case f.closed || f.ctx.Err() != nil:
		if l.next == nil || l.next.ctx.Err() != nil { // all who wanted it have left
			l.next = newFlight(ctx, run)
		}
		f = l.next
	}
	f.waiters++
	return f, first
}

func newFlight[T any](ctx context.Context, run func(ctx context.Context, f *flight[T])) *flight[T] {
	f := &flight[T]{run: run, done: make(chan struct{})}
	f.ctx, f.cancel = context.WithCancel(context.WithoutCancel(ctx)) // #nosec G118 -- land and leave call it
	return f
}

// close keeps those who come now from joining the flight under way. l.mu is held.
func (l *line[T]) close() {
	if l.flight != nil {
		l.flight.closed = true
	}
}

// start begins the flight. The goroutine ends with the question, which is
// cancelled when nobody waits for it any more, and those that follow it.
func (l *line[T]) start(f *flight[T]) {
	go func() {
		for f != nil {
			f.fly(f.ctx)
			f = l.land(f)
		}
	}()
}

// lead is start on the goroutine of the first who waits, since to change to
// another one and back takes as long as a small question. It tells whether the
// flight has landed. It has not when ctx ended first, or the limit, which is zero
// for none: the caller then sees to it that it is started for the others.
func (l *line[T]) lead(ctx context.Context, f *flight[T], limit time.Duration) bool {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	f.fly(ctx)
	if f.err != nil && ctx.Err() != nil {
		return false
	}
	if next := l.land(f); next != nil {
		l.start(next)
	}
	return true
}

// fly runs the flight. A panic is an error for those who wait: it would end the
// process, or leave them waiting.
func (f *flight[T]) fly(ctx context.Context) {
	defer func() {
		if p := recover(); p != nil {
			f.err = fmt.Errorf("cache: panic while loading: %v", p)
		}
	}()
	f.run(ctx, f)
}

// land hands out the answer and returns the next flight if one is wanted.
func (l *line[T]) land(f *flight[T]) *flight[T] {
	l.mu.Lock()
	defer l.mu.Unlock()
	f.cancel()
	close(f.done)
	l.flight, l.next = l.next, nil
	if l.flight != nil && l.flight.waiters == 0 {
		l.flight = nil
	}
	return l.flight
}

// landed waits for the flight and tells whether it ended before ctx did.
func (f *flight[T]) landed(ctx context.Context) bool {
	select {
	case <-f.done:
		return true
	case <-ctx.Done():
		return false
	}
}

// leave takes one waiter off the flight. The mu of its line is held.
func (f *flight[T]) leave() {
	f.waiters--
	if f.waiters == 0 {
		f.cancel()
	}
}

// within asks a question that has a time of its own, whoever waits for how long:
// those behind it in the line must get their turn.
func within[T any](ctx context.Context, limit time.Duration, question func(ctx context.Context) (T, error)) (T, error) {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	value, err := question(bounded)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		err = &guidon.Error{Code: guidon.Unavailable, Message: "the database did not answer in time", Err: err}
	}
	return value, err
}
