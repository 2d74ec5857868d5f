package cache

import (
	"context"
	"sync"
	"sync/atomic"
)

// slot holds one value that is expensive to load. The zero slot is empty.
//
// At most one load is under way. A reader that arrives after the value was
// marked old must not be served by a load that began before that, so it waits
// for the load that follows, together with all others of its kind: however many
// readers and writers there are, loads come one after another.
type slot[T any] struct {
	current atomic.Pointer[T] // nil: unknown or old

	mu      sync.Mutex
	version uint64     // grows each time the value is marked old
	held    *T         // the last value loaded, old or not, for a cheaper reload
	flight  *flight[T] // the load under way
	next    *flight[T] // the one that its end begins
}

// flight is one load and those who wait for it.
type flight[T any] struct {
	load    func(ctx context.Context, held *T) (*T, error)
	ctx     context.Context
	cancel  context.CancelFunc
	version uint64 // of the slot when the load began
	waiters int
	done    chan struct{} // closed when value and err are set
	value   *T
	err     error
}

// get returns the value, by load where it is not known to be current. When ctx
// ends first, its error is returned and the load goes on for those who still
// wait for it. An error is not kept.
func (s *slot[T]) get(ctx context.Context, load func(ctx context.Context, held *T) (*T, error)) (*T, error) {
	f, value := s.join(ctx, load)
	if f == nil {
		return value, nil
	}
	select {
	case <-f.done:
		return f.value, f.err
	case <-ctx.Done():
		s.leave(f)
		return nil, ctx.Err()
	}
}

// join returns a flight to wait for that begins no earlier than this call, or
// the value when it has become known.
func (s *slot[T]) join(ctx context.Context, load func(ctx context.Context, held *T) (*T, error)) (*flight[T], *T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if value := s.current.Load(); value != nil {
		return nil, value
	}
	f := s.flight
	switch {
	case f == nil:
		f = newFlight(ctx, load)
		s.start(f)
	case f.version != s.version || f.ctx.Err() != nil:
		if s.next == nil || s.next.ctx.Err() != nil { // all who wanted it have left
			s.next = newFlight(ctx, load)
		}
		f = s.next
	}
	f.waiters++
	return f, nil
}

func newFlight[T any](ctx context.Context, load func(ctx context.Context, held *T) (*T, error)) *flight[T] {
	f := &flight[T]{load: load, done: make(chan struct{})}
	f.ctx, f.cancel = context.WithCancel(context.WithoutCancel(ctx)) // #nosec G118 -- land and leave call it
	return f
}

// start begins the load. s.mu is held. The goroutine ends with the load, which
// is cancelled when nobody waits for it any more.
func (s *slot[T]) start(f *flight[T]) {
	s.flight, f.version = f, s.version
	held := s.held
	go func() {
		f.value, f.err = f.load(f.ctx, held)
		s.land(f)
	}()
}

// land hands out the result and begins the next load if one is wanted.
func (s *slot[T]) land(f *flight[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.cancel()
	if f.err == nil {
		s.held = f.value
		if f.version == s.version {
			s.current.Store(f.value)
		}
	}
	close(f.done)
	next := s.next
	s.flight, s.next = nil, nil
	if next != nil && next.waiters > 0 {
		s.start(next)
	}
}

// leave takes one waiter off the flight.
func (s *slot[T]) leave(f *flight[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.waiters--
	if f.waiters == 0 {
		f.cancel()
	}
}

// markOld makes the next get load again, and keeps a load that is under way from
// being taken for current.
func (s *slot[T]) markOld() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.current.Store(nil)
}
