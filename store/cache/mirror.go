package cache

import (
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// kind describes snapshots, or sets of authentications, to the cache.
type kind[T, D any] struct {
	empty      *T // the state at the zero revision
	apply      func(base *T, deltas ...D) *T
	revisionOf func(delta D) guidon.Revision
	size       func(delta D) int
	namespace  func(delta D) bool // reports whether a namespace itself has changed
}

var (
	snapshotKind = &kind[guidon.Snapshot, guidon.SnapshotDelta]{
		empty:      guidon.NewSnapshot(nil, guidon.Revision{}, nil, nil),
		apply:      (*guidon.Snapshot).Apply,
		revisionOf: func(d guidon.SnapshotDelta) guidon.Revision { return d.Revision },
		size:       guidon.SnapshotDelta.Size,
		namespace:  func(d guidon.SnapshotDelta) bool { return d.Namespace != nil },
	}
	authenticationKind = &kind[service.AuthenticationSet, service.AuthenticationDelta]{
		empty:      service.NewAuthenticationSet(guidon.Revision{}, nil),
		apply:      (*service.AuthenticationSet).Apply,
		revisionOf: func(d service.AuthenticationDelta) guidon.Revision { return d.Revision },
		size:       service.AuthenticationDelta.Size,
		namespace:  func(service.AuthenticationDelta) bool { return false },
	}
)

// mirror brings the cached state to the state that one write has made. It implements
// [service.Mirror].
type mirror[T, D any] struct {
	kind *kind[T, D]
	last func() *version[T]     // the cached version, or nil
	put  func(next *version[T]) // makes it current
	now  func() int64           // or nil if no instant matters

	began       int64       // an instant before the commit
	held        *version[T] // the cached version at that instant
	listChanged bool        // the write has created, changed or deleted a namespace
	kept        bool        // the cache has the new state
	unchanged   bool        // there is none
}

func newMirror[T, D any](k *kind[T, D], last func() *version[T]) *mirror[T, D] {
	return &mirror[T, D]{kind: k, last: last}
}

// end ends a write, also one that panics. It calls invalidate if the new state is not in
// the cache, and wake if there may be one.
func (m *mirror[T, D]) end(invalidate, wake func()) {
	if m.unchanged {
		return
	}
	if !m.kept {
		invalidate()
	}
	wake()
}

func (m *mirror[T, D]) Held() (guidon.Revision, bool) {
	if m.now != nil {
		m.began = m.now()
	}
	m.held = m.last()
	if m.held == nil {
		return guidon.Revision{}, false
	}
	return m.held.revision, true
}

func (m *mirror[T, D]) Unchanged() { m.unchanged = true }

func (m *mirror[T, D]) Advance(from guidon.Revision, deltas ...D) {
	next := m.version(from)
	if next == nil {
		return
	}
	m.listChanged = from == guidon.Revision{} || slices.ContainsFunc(deltas, m.kind.namespace)
	if len(deltas) > 0 {
		size := 0
		for _, d := range deltas {
			size += 1 + m.kind.size(d)
		}
		next = after(next, m.kind.revisionOf(deltas[len(deltas)-1]), m.kind.apply, size, deltas)
	}
	m.put(next)
	m.kept = true
}

// version returns the version at revision r, or nil.
func (m *mirror[T, D]) version(r guidon.Revision) *version[T] {
	if r == (guidon.Revision{}) {
		return newVersion(r, m.kind.empty)
	}
	for _, v := range []*version[T]{m.held, m.last()} { // the latter if another write of the same group came first
		if v != nil && v.revision == r {
			return v
		}
	}
	return nil
}
