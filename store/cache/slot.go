package cache

import (
	"context"
	"sync/atomic"
)

// slot holds one value that is expensive to load. The zero slot is empty.
//
// A reader that arrives after the value was marked old must not be served by a
// load that began before that: he waits for the one that follows in the line.
// However many readers and writers there are, loads come one after another.
type slot[T any] struct {
	current atomic.Pointer[T] // nil: unknown or old; set under mu

	line[*T]
	held *T // the last value loaded, old or not, for a cheaper reload
}

// get returns the value, by load where it is not known to be current. When ctx
// ends first, its error is returned and the load goes on for those who still
// wait for it. An error is not kept.
func (s *slot[T]) get(ctx context.Context, load func(ctx context.Context, held *T) (*T, error)) (*T, error) {
	f, value := s.board(ctx, load)
	if f == nil {
		return value, nil
	}
	if !f.landed(ctx) {
		s.mu.Lock()
		defer s.mu.Unlock()
		f.leave()
		return nil, ctx.Err()
	}
	return f.value, f.err
}

// board returns a load to wait for that begins no earlier than the value was
// last marked old, or the value when it has become known.
func (s *slot[T]) board(ctx context.Context, load func(ctx context.Context, held *T) (*T, error)) (*flight[*T], *T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if value := s.current.Load(); value != nil {
		return nil, value
	}
	f, first := s.join(ctx, func(ctx context.Context, f *flight[*T]) {
		f.value, f.err = load(ctx, s.last())
		s.keep(f)
	})
	if first {
		s.start(f)
	}
	return f, nil
}

// last returns the last value loaded, or nil.
func (s *slot[T]) last() *T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held
}

// keep takes over what a load has brought: as current, unless it was overtaken.
func (s *slot[T]) keep(f *flight[*T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.err != nil {
		return
	}
	s.held = f.value
	if !f.closed {
		s.current.Store(f.value)
	}
}

// markOld makes the next get load again, and keeps a load that is under way from
// being taken for current.
func (s *slot[T]) markOld() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.overtake()
}

// overtake is markOld where s.mu is held.
func (s *slot[T]) overtake() {
	s.current.Store(nil)
	s.close()
}
