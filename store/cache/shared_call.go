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
	mu      sync.Mutex
	running *sharedCall[T] // under way
	next    *sharedCall[T] // the one that its end begins
}

// sharedCall is one question to the source and those who wait for the answer.
type sharedCall[T any] struct {
	run     func(ctx context.Context, c *sharedCall[T]) // sets value and err
	ctx     context.Context                             // ends when nobody waits any more
	cancel  context.CancelFunc
	sealed  bool // began too early for who comes now
	waiters int
	done    chan struct{} // closed when value and err are set
	value   T
	err     error
}

// join returns a flight to wait for: the one under way, or the next where that
// is closed. run is for the flight that has to be made, if any. Where there was
// none the caller is the first, and begins it, by start or lead. l.mu is held.
func (l *line[T]) join(ctx context.Context, run func(ctx context.Context, c *sharedCall[T])) (c *sharedCall[T], first bool) {
	c = l.running
	switch {
	case c == nil:
		c, first = newSharedCall(ctx, run), true
		l.running = c
	case c.sealed || c.ctx.Err() != nil:
		if l.next == nil || l.next.ctx.Err() != nil { // all who wanted it have left
			l.next = newSharedCall(ctx, run)
		}
		c = l.next
	}
	c.waiters++
	return c, first
}

func newSharedCall[T any](ctx context.Context, run func(ctx context.Context, c *sharedCall[T])) *sharedCall[T] {
	c := &sharedCall[T]{run: run, done: make(chan struct{})}
	c.ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx)) // #nosec G118 -- finish and leave call it
	return c
}

// sealRunning keeps those who come now from joining the flight under way. l.mu is held.
func (l *line[T]) sealRunning() {
	if l.running != nil {
		l.running.sealed = true
	}
}

// start begins the flight. The goroutine ends with the question, which is
// cancelled when nobody waits for it any more, and those that follow it.
func (l *line[T]) start(c *sharedCall[T]) {
	go func() {
		for c != nil {
			c.do(c.ctx)
			c = l.finish(c)
		}
	}()
}

// doInline is start on the goroutine of the first who waits, since to change to
// another one and back takes as long as a small question. It tells whether the
// sharedCall has landed. It has not when ctx ended first, or the limit, which is zero
// for none: the caller then sees to it that it is started for the others.
func (l *line[T]) doInline(ctx context.Context, c *sharedCall[T], limit time.Duration) bool {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	c.do(ctx)
	if c.err != nil && ctx.Err() != nil {
		return false
	}
	if next := l.finish(c); next != nil {
		l.start(next)
	}
	return true
}

// do runs the flight. A panic is an error for those who wait: it would end the
// process, or leave them waiting.
func (c *sharedCall[T]) do(ctx context.Context) {
	defer func() {
		if p := recover(); p != nil {
			c.err = fmt.Errorf("cache: panic while loading: %v", p)
		}
	}()
	c.run(ctx, c)
}

// finish hands out the answer and returns the next flight if one is wanted.
func (l *line[T]) finish(c *sharedCall[T]) *sharedCall[T] {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.cancel()
	close(c.done)
	l.running, l.next = l.next, nil
	if l.running != nil && l.running.waiters == 0 {
		l.running = nil
	}
	return l.running
}

// wait waits for the flight and tells whether it ended before ctx did.
func (c *sharedCall[T]) wait(ctx context.Context) bool {
	select {
	case <-c.done:
		return true
	case <-ctx.Done():
		return false
	}
}

// leave takes one waiter off the flight. The mu of its line is held.
func (c *sharedCall[T]) leave() {
	c.waiters--
	if c.waiters == 0 {
		c.cancel()
	}
}

// within asks a question that has a time of its own, whoever waits for how long:
// those behind it in the line must get their turn.
func within[T any](ctx context.Context, limit time.Duration, query func(ctx context.Context) (T, error)) (T, error) {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	value, err := query(bounded)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		err = &guidon.Error{Code: guidon.Unavailable, Message: "the database did not answer in time", Err: err}
	}
	return value, err
}
