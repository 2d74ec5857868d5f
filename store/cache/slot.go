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
	current atomic.Pointer[version[T]] // nil: unknown or old; set under mu

	line[*version[T]]
	held *version[T] // the last value, old or not, for a cheaper reload
}

// get returns the value, by load where it is not known to be current. When ctx
// ends first, its error is returned and the load goes on for those who still
// wait for it. An error is not kept.
func (s *slot[T]) get(ctx context.Context, load func(ctx context.Context, held *version[T]) (*version[T], error)) (*T, error) {
	c, v := s.addWaiter(ctx, load)
	if c == nil {
		return v.get(), nil
	}
	if !c.wait(ctx) {
		s.mu.Lock()
		defer s.mu.Unlock()
		c.leave()
		return nil, ctx.Err()
	}
	if c.err != nil {
		return nil, c.err
	}
	return c.value.get(), nil
}

// addWaiter returns a load to wait for that begins no earlier than the value was
// last marked old, or the value when it has become known.
func (s *slot[T]) addWaiter(ctx context.Context, load func(ctx context.Context, held *version[T]) (*version[T], error)) (*sharedCall[*version[T]], *version[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.current.Load(); v != nil {
		return nil, v
	}
	c, first := s.join(ctx, func(ctx context.Context, c *sharedCall[*version[T]]) {
		c.value, c.err = load(ctx, s.last())
		s.storeResult(c)
	})
	if first {
		s.start(c)
	}
	return c, nil
}

// last returns the last value, or nil.
func (s *slot[T]) last() *version[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held
}

// storeResult takes over what a load has brought: as current, unless it was overtaken.
func (s *slot[T]) storeResult(c *sharedCall[*version[T]]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case c.err != nil:
	case !c.sealed:
		s.held = c.value
		s.current.Store(c.value)
	case s.current.Load() == nil: // otherwise a write has put a later one here
		s.held = c.value
	}
}

// put makes the version current, and keeps a load that is under way from being taken
// for it. s.mu must be held.
func (s *slot[T]) put(v *version[T]) {
	s.invalidateLocked()
	s.held = v
	s.current.Store(v)
}

// invalidate makes the next get load again, and keeps a load that is under way from
// being taken for current.
func (s *slot[T]) invalidate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.invalidateLocked()
}

// invalidateLocked is invalidate where s.mu is held.
func (s *slot[T]) invalidateLocked() {
	s.current.Store(nil)
	s.sealRunning()
}
