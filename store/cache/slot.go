package cache

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/guidonhq/guidon"
)

// slot holds one value that is expensive to load. The zero slot is empty.
//
// A reader that arrives after the value was invalidated must not be served by a load
// that began before that: it waits for the next load of the line. However many readers
// and writers there are, loads run one after another.
type slot[T any] struct {
	current atomic.Pointer[version[T]] // nil: unknown or invalidated; set under mu

	line[*version[T]]
	held *version[T] // the last version, current or not, for a cheaper reload
}

// get returns the value, and loads it if it is not known to be current. If ctx ends
// first, get returns its error and the load continues for the other waiters. Errors are
// not cached.
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

// addWaiter returns a load to wait for that began after the last invalidation, or the
// version if one has become current by now.
func (s *slot[T]) addWaiter(
	ctx context.Context, load func(ctx context.Context, held *version[T]) (*version[T], error),
) (*sharedCall[*version[T]], *version[T]) {
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

// last returns the last version, current or not, or nil.
func (s *slot[T]) last() *version[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held
}

// storeResult stores a loaded version, as the current one unless the value was
// invalidated during the load.
func (s *slot[T]) storeResult(c *sharedCall[*version[T]]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case c.err != nil:
	case !c.sealed:
		s.held = c.value
		s.current.Store(c.value)
	case s.current.Load() == nil: // otherwise a write has stored a later one
		s.held = c.value
	}
}

// put makes the version current, and keeps a running load from replacing it. s.mu must
// be held.
func (s *slot[T]) put(v *version[T]) {
	s.invalidateLocked()
	s.held = v
	s.current.Store(v)
}

// invalidate makes the next get load again, and keeps a running load from becoming
// current.
func (s *slot[T]) invalidate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.invalidateLocked()
}

// invalidateLocked is invalidate for callers that hold s.mu.
func (s *slot[T]) invalidateLocked() {
	s.current.Store(nil)
	s.sealRunning()
}

// versions returns the function that loads a version from the source, which may use an earlier
// value, or nil, to read less.
func versions[T any](
	source func(ctx context.Context, held *T) (*T, error), revision func(*T) guidon.Revision,
) func(ctx context.Context, held *version[T]) (*version[T], error) {
	return func(ctx context.Context, held *version[T]) (*version[T], error) {
		var from *T
		if held != nil {
			from = held.get()
		}
		value, err := source(ctx, from)
		if err != nil {
			return nil, err
		}
		return newVersion(revision(value), value), nil
	}
}

// version is one state of a cached value. A version made by a write is computed when it
// is first read, so that many writes in a row cost one computation.
type version[T any] struct {
	revision guidon.Revision
	asOf     atomic.Int64 // the latest instant at which it is known to have been current
	since    int64        // when it was put into the cache

	made  atomic.Pointer[T]
	mu    sync.Mutex
	draft draft[T] // nil once made is set
}

// draft computes the value of a version.
type draft[T any] interface{ make() *T }

func newVersion[T any](revision guidon.Revision, value *T) *version[T] {
	v := &version[T]{revision: revision}
	v.made.Store(value)
	return v
}

// get returns the value, and computes it if necessary.
func (v *version[T]) get() *T {
	if value := v.made.Load(); value != nil {
		return value
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.draft != nil {
		v.made.Store(v.draft.make())
		v.draft = nil
	}
	return v.made.Load()
}

// maxDraft limits the changes that a version is computed from, since each may be a
// large object. A version with more of them is computed immediately.
const maxDraft = 32

// after returns the version that results from applying the deltas to v. size is the
// size of the deltas.
func after[T, D any](v *version[T], revision guidon.Revision, apply func(base *T, deltas ...D) *T, size int, deltas []D) *version[T] {
	d := &changes[T, D]{apply: apply, deltas: deltas, size: size}
	v.mu.Lock()
	d.base = v.made.Load()
	if previous, is := v.draft.(*changes[T, D]); is {
		d.base, d.previous, d.size = previous.base, previous, previous.size+size
	}
	v.mu.Unlock()
	next := &version[T]{revision: revision, draft: d}
	if d.size > maxDraft {
		next.get()
	}
	return next
}

// changes is a draft: the changes that several writes in a row have made to a base.
type changes[T, D any] struct {
	base     *T
	apply    func(base *T, deltas ...D) *T
	previous *changes[T, D] // the write before
	deltas   []D
	size     int // of the deltas of all these writes
}

func (c *changes[T, D]) make() *T {
	var writes []*changes[T, D]
	for w := c; w != nil; w = w.previous {
		writes = append(writes, w)
	}
	var all []D
	for i := len(writes) - 1; i >= 0; i-- {
		all = append(all, writes[i].deltas...)
	}
	return c.apply(c.base, all...)
}
