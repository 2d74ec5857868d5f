package cache

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/guidonhq/guidon"
)

// line coalesces queries to the source: at most one runs at a time, and its result is
// shared by all its waiters. Callers that arrive too late for the running query share
// the next one, which starts when it ends.
type line[T any] struct {
	mu      sync.Mutex
	running *sharedCall[T]
	next    *sharedCall[T] // starts when running ends
}

// sharedCall is one query to the source and its result, shared by its waiters.
type sharedCall[T any] struct {
	run     func(ctx context.Context, c *sharedCall[T]) // sets value and err
	ctx     context.Context                             // canceled when the last waiter leaves
	cancel  context.CancelFunc
	sealed  bool // began too early for new callers
	waiters int
	done    chan struct{} // closed when value and err are set
	value   T
	err     error
}

// join adds a waiter to the running call, or to the next one if the running one is
// sealed or canceled. It uses run for a call that must be created. If no call was
// running, first is true and the caller must run the call by start or doInline. l.mu
// must be held.
func (l *line[T]) join(ctx context.Context, run func(ctx context.Context, c *sharedCall[T])) (c *sharedCall[T], first bool) {
	c = l.running
	switch {
	case c == nil:
		c, first = newSharedCall(ctx, run), true
		l.running = c
	case c.sealed || c.ctx.Err() != nil:
		if l.next == nil || l.next.ctx.Err() != nil { // all its waiters have left
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

// sealRunning keeps later callers from joining the running call. l.mu must be held.
func (l *line[T]) sealRunning() {
	if l.running != nil {
		l.running.sealed = true
	}
}

// start runs the call, and then those that follow it, on a goroutine of its own. The
// goroutine ends with the last of them. A call is canceled when its last waiter leaves.
func (l *line[T]) start(c *sharedCall[T]) {
	go func() {
		for c != nil {
			c.do(c.ctx)
			c = l.finish(c)
		}
	}()
}

// doInline is start on the first waiter's goroutine, because switching goroutines twice
// costs as much as a small query. limit is the wait limit, or zero for none. doInline
// reports whether the call has finished. It has not if ctx or the limit ended first:
// the caller must then start it for the other waiters.
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

// do runs the call. It turns a panic into an error for the waiters: otherwise the panic
// would end the process or leave them waiting.
func (c *sharedCall[T]) do(ctx context.Context) {
	defer func() {
		if p := recover(); p != nil {
			c.err = fmt.Errorf("cache: panic while loading: %v", p)
		}
	}()
	c.run(ctx, c)
}

// finish publishes the result and returns the next call, or nil if no caller waits for
// one.
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

// wait waits for the call and reports whether it ended before ctx did.
func (c *sharedCall[T]) wait(ctx context.Context) bool {
	select {
	case <-c.done:
		return true
	case <-ctx.Done():
		return false
	}
}

// leave removes one waiter from the call. The mu of its line must be held.
func (c *sharedCall[T]) leave() {
	c.waiters--
	if c.waiters == 0 {
		c.cancel()
	}
}

// within runs a query with its own timeout, however long its callers would wait, so
// that it cannot block the next one.
func within[T any](ctx context.Context, limit time.Duration, query func(ctx context.Context) (T, error)) (T, error) {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	value, err := query(bounded)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		err = &guidon.Error{Code: guidon.Unavailable, Message: "the database did not answer in time", Err: err}
	}
	return value, err
}
