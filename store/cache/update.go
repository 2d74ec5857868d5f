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
// holds even if Update returns an error after fn succeeded, because the commit may have
// taken effect.
func (c *Cache) Update(
	ctx context.Context, namespace string, w service.Write, fn func(ctx context.Context, tx service.Tx) error,
) (int64, error) {
	stored, listChanged := false, false
	m := c.snapshotMirror(namespace, &listChanged)
	if m.last() == nil {
		_, _, _ = c.Snapshot(ctx, namespace, service.Demand{}) // so that the mirror has a state to bring up to date
	}
	defer func() {
		if stored && !m.kept {
			c.invalidate(namespace, listChanged)
		}
		if stored {
			c.watches.wake(namespace)
		}
	}()
	return c.source.UpdateMirrored(ctx, namespace, w, m, func(ctx context.Context, tx service.Tx) error {
		stored, listChanged = false, false
		if err := fn(ctx, &watchedTx{Tx: tx, listChanged: &listChanged}); err != nil {
			return err
		}
		stored = true
		return nil
	})
}

// snapshotMirror returns the mirror of a write to the namespace. It updates the
// snapshot and, if *listChanged is true by then, the list of namespaces.
func (c *Cache) snapshotMirror(namespace string, listChanged *bool) *mirror[guidon.Snapshot, guidon.SnapshotDelta] {
	return &mirror[guidon.Snapshot, guidon.SnapshotDelta]{
		kind: snapshotKind, now: func() int64 { return 0 }, // nothing here depends on instants
		last: func() *version[guidon.Snapshot] {
			if d := c.latestDirectory(); d != nil && d.slots[namespace] != nil {
				return d.slots[namespace].last()
			}
			return nil
		},
		put: func(next *version[guidon.Snapshot], _ int64) {
			if *listChanged {
				c.updateDirectory(namespace, next)
			} else if d := c.latestDirectory(); d != nil && d.slots[namespace] != nil {
				d.slots[namespace].advance(next)
			}
		},
	}
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

// invalidate invalidates the namespace's snapshot and, if it may have changed, the list
// of namespaces. The list goes first: a reader that finds a new namespace in the list
// must also find its snapshot.
func (c *Cache) invalidate(namespace string, listChanged bool) {
	d := c.latestDirectory()
	if listChanged {
		c.directory.invalidate()
	}
	if d == nil {
		return
	}
	if s := d.slots[namespace]; s != nil {
		s.invalidate()
	}
}

// latestDirectory returns the last directory, current or not, or nil. All directories
// in use share the slots of the namespaces that they have in common.
func (c *Cache) latestDirectory() *directory {
	if v := c.directory.last(); v != nil {
		return v.get()
	}
	return nil
}

// UpdateAuthentications implements [service.Store].
func (c *Cache) UpdateAuthentications(
	ctx context.Context, w service.Write, fn func(ctx context.Context, tx service.AuthenticationTx) error,
) error {
	stored := false
	m := &mirror[service.AuthenticationSet, service.AuthenticationDelta]{
		kind: authenticationKind, now: func() int64 { return 0 },
		last: c.authentications.last,
		put:  func(next *version[service.AuthenticationSet], _ int64) { c.authentications.advance(next) },
	}
	if m.last() == nil {
		_, _, _ = c.Authentications(ctx, service.Demand{}, "") // so that the mirror has a state to bring up to date
	}
	defer func() {
		if stored && !m.kept {
			c.authentications.invalidate()
		}
		if stored {
			c.watches.wakeAll()
		}
	}()
	return c.source.UpdateAuthenticationsMirrored(ctx, w, m, func(ctx context.Context, tx service.AuthenticationTx) error {
		stored = false
		if err := fn(ctx, tx); err != nil {
			return err
		}
		stored = true
		return nil
	})
}

// watchedTx records whether the list of namespaces may change.
type watchedTx struct {
	service.Tx
	listChanged *bool
}

func (tx *watchedTx) PutNamespace(ctx context.Context, n *guidon.Namespace) error {
	*tx.listChanged = true
	return tx.Tx.PutNamespace(ctx, n)
}

func (tx *watchedTx) DeleteNamespace(ctx context.Context) error {
	*tx.listChanged = true
	return tx.Tx.DeleteNamespace(ctx)
}
