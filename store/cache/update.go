package cache

import (
	"context"
	"maps"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// Update implements [service.Store]. When it returns, the resulting state is in memory,
// or what the write may have changed is invalidated if that state is not known. This
// holds even if Update returns an error, because the commit may have taken effect.
func (c *Cache) Update(
	ctx context.Context, namespace string, w service.Write, fn func(ctx context.Context, tx service.Tx) error,
) (int64, error) {
	m := c.snapshotMirror(namespace)
	if m.last() == nil {
		_, _, _ = c.Snapshot(ctx, namespace, service.Demand{}) // so that the mirror has a state to bring up to date
	}
	defer m.end(func() { c.invalidate(namespace) }, func() { c.watches.wake(namespace) })
	return c.source.UpdateMirrored(ctx, namespace, w, m, fn)
}

// snapshotMirror returns the mirror of a write to the namespace. It updates the
// snapshot and, if the namespace itself has changed, the list of namespaces.
func (c *Cache) snapshotMirror(namespace string) *mirror[guidon.Snapshot, guidon.SnapshotDelta] {
	m := newMirror(snapshotKind, func() *version[guidon.Snapshot] {
		if s := c.latestSlot(namespace); s != nil {
			return s.last()
		}
		return nil
	})
	m.put = func(next *version[guidon.Snapshot]) {
		if m.listChanged {
			c.updateDirectory(namespace, next)
		} else if s := c.latestSlot(namespace); s != nil {
			s.advance(next)
		}
	}
	return m
}

// advance makes the version current unless there is a later one. The revisions of a
// slot never go backwards.
func (s *slot[T]) advance(next *version[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil || s.held.revision.Number < next.revision.Number || s.held.revision == next.revision && s.current.Load() == nil {
		s.put(next)
	}
}

// updateDirectory updates the directory after the namespace was created, changed or
// deleted.
func (c *Cache) updateDirectory(namespace string, next *version[guidon.Snapshot]) {
	c.directory.mu.Lock()
	defer c.directory.mu.Unlock()
	known := c.directory.current.Load()
	if known == nil { // a load from now on sees the change
		c.directory.invalidateLocked()
		if held := c.directory.held; held != nil && held.get().slots[namespace] != nil {
			held.get().slots[namespace].invalidate()
		}
		return
	}
	c.directory.put(newVersion(guidon.Revision{}, known.get().with(namespace, next)))
}

// with returns a copy of the directory after a change of the namespace.
func (d *directory) with(namespace string, next *version[guidon.Snapshot]) *directory {
	changed := &directory{list: slices.Clone(d.list), slots: maps.Clone(d.slots)}
	index := slices.IndexFunc(d.list, func(n *guidon.Namespace) bool { return n.Key == namespace })
	n := next.get().Namespace()
	switch {
	case n == nil && index >= 0:
		changed.list = slices.Delete(changed.list, index, index+1)
		delete(changed.slots, namespace)
	case n == nil:
	case index >= 0:
		changed.list[index] = n
		changed.slots[namespace].advance(next)
	default:
		changed.list = append(changed.list, n)
		changed.slots[namespace] = &slot[guidon.Snapshot]{}
		changed.slots[namespace].advance(next)
	}
	return changed
}

// invalidate invalidates the list of namespaces and the namespace's snapshot. The list goes
// first: a reader that finds a new namespace in the list must also find its snapshot.
func (c *Cache) invalidate(namespace string) {
	s := c.latestSlot(namespace)
	c.directory.invalidate()
	if s != nil {
		s.invalidate()
	}
}

// latestSlot returns the slot of the namespace in the last directory, current or not, or
// nil. All directories in use share the slots of the namespaces that they have in common.
func (c *Cache) latestSlot(namespace string) *slot[guidon.Snapshot] {
	if v := c.directory.last(); v != nil {
		return v.get().slots[namespace]
	}
	return nil
}

// UpdateAuthentications implements [service.Store].
func (c *Cache) UpdateAuthentications(
	ctx context.Context, w service.Write, fn func(ctx context.Context, tx service.AuthenticationTx) error,
) error {
	m := newMirror(authenticationKind, c.authentications.last)
	m.put = c.authentications.advance
	if m.last() == nil {
		_, _, _ = c.Authentications(ctx, service.Demand{}, "") // so that the mirror has a state to bring up to date
	}
	defer m.end(c.authentications.invalidate, c.watches.wakeAll)
	return c.source.UpdateAuthenticationsMirrored(ctx, w, m, fn)
}
