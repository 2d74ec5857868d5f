package cache

import (
	"sync"
	"sync/atomic"

	"github.com/guidonhq/guidon"
)

// version is one state of what a cache keeps. A version made by a write is computed
// when it is first read, so that many writes in a row cost one computation.
type version[T any] struct {
	revision guidon.Revision
	asOf     atomic.Int64 // an instant at which it was current, the latest known
	since    int64        // when it was put into the cache

	made  atomic.Pointer[T]
	mu    sync.Mutex
	draft draft[T] // until made is set
}

// draft is how to compute a version.
type draft[T any] interface{ make() *T }

func newVersion[T any](revision guidon.Revision, value *T) *version[T] {
	v := &version[T]{revision: revision}
	v.made.Store(value)
	return v
}

// get returns the value.
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

// maxDraft bounds the changes that a version is computed from, each of which may be a
// large object; with more it is computed at once.
const maxDraft = 32

// after returns the version that the deltas lead to from v. The size is that of the
// deltas.
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

// changes is a draft: what several writes in a row have changed in a base.
type changes[T, D any] struct {
	base     *T
	apply    func(base *T, deltas ...D) *T
	previous *changes[T, D] // the write before
	deltas   []D
	size     int // of all
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
