package cache

import (
	"sync"
	"sync/atomic"

	"github.com/guidonhq/guidon"
)

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
