package call

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// bounded is a context that ends with the caller's or at its deadline, like one of
// context.WithDeadline. It starts no timer until its end is waited for, so that
// requests answered from memory need none.
type bounded struct {
	context.Context // the caller's
	deadline        time.Time

	timed   atomic.Pointer[timedContext] // set under mu
	mu      sync.Mutex
	stopped bool
}

type timedContext struct {
	context.Context
	stop context.CancelFunc
}

// Deadline implements [context.Context].
func (b *bounded) Deadline() (time.Time, bool) {
	if earlier, ok := b.Context.Deadline(); ok && earlier.Before(b.deadline) {
		return earlier, true
	}
	return b.deadline, true
}

// Done implements [context.Context].
func (b *bounded) Done() <-chan struct{} { return b.timer().Done() }

// Err implements [context.Context].
func (b *bounded) Err() error {
	if t := b.timed.Load(); t != nil {
		return t.Err()
	}
	if err := b.Context.Err(); err != nil {
		return err
	}
	if b.ended() || !time.Now().Before(b.deadline) {
		return b.timer().Err()
	}
	return nil
}

// Value implements [context.Context]. It exposes the timer's context to package context,
// so that contexts derived from b need no goroutine to wait for it.
func (b *bounded) Value(key any) any {
	if t := b.timed.Load(); t != nil {
		return t.Value(key)
	}
	return b.Context.Value(key)
}

// stop ends the context and those derived from it.
func (b *bounded) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = true
	if t := b.timed.Load(); t != nil {
		t.stop()
	}
}

func (b *bounded) ended() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stopped
}

// timer returns the context with the timer, which it starts if needed.
func (b *bounded) timer() *timedContext {
	if t := b.timed.Load(); t != nil {
		return t
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if t := b.timed.Load(); t != nil {
		return t
	}
	t := new(timedContext)
	t.Context, t.stop = context.WithDeadline(b.Context, b.deadline)
	if b.stopped {
		t.stop()
	}
	b.timed.Store(t)
	return t
}
