package cache

import (
	"context"
	"maps"
	"slices"

	"github.com/guidonhq/guidon"
)

// Update implements [guidon.Store]. What it wrote is in memory before it returns.
// Otherwise what it may have changed is old, also when it returns an error after fn
// succeeded: whether the commit took effect is then not certain.
func (c *Cache) Update(ctx context.Context, namespace string, fn func(ctx context.Context, tx guidon.Tx) error) error {
	stored, listChanged := false, false
	m := c.snapshotMirror(namespace, &listChanged)
	if m.last() == nil {
		_, _ = c.Snapshot(ctx, namespace) // so that there is something to bring up to date
	}
	defer func() {
		if stored && !m.kept {
			c.invalidate(namespace, listChanged)
		}
		if stored {
			c.watches.wake(namespace)
		}
	}()
	return c.source.UpdateMirrored(ctx, namespace, m, func(ctx context.Context, tx guidon.Tx) error {
		stored, listChanged = false, false
		if err := fn(ctx, &watchedTx{Tx: tx, listChanged: &listChanged}); err != nil {
			return err
		}
		stored = true
		return nil
	})
}

// snapshotMirror returns what a write to the namespace brings up to date: with its
// snapshot the list of namespaces if that may have changed.
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

// advance makes the version current, unless there is a later one. Revisions of one
// slot never go back.
func (s *slot[T]) advance(next *version[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil || s.held.revision.Number < next.revision.Number || s.held.revision == next.revision && s.current.Load() == nil {
		s.put(next)
	}
}

// updateDirectory puts the namespace, which was created, changed or deleted, and its snapshot
// into the directory.
func (c *Cache) updateDirectory(namespace string, next *version[guidon.Snapshot]) {
	c.directory.mu.Lock()
	defer c.directory.mu.Unlock()
	known := c.directory.current.Load()
	if known == nil { // whoever loads it from now on finds the change
		c.directory.invalidateLocked()
		if held := c.directory.held; held != nil && held.get().slots[namespace] != nil {
			held.get().slots[namespace].invalidate()
		}
		return
	}
	c.directory.put(newVersion(guidon.Revision{}, known.get().with(namespace, next)))
}

// with returns the directory after the change of a namespace.
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

// invalidate marks the namespace's snapshot as old, and the list of namespaces where
// that may have changed. The list goes first: who sees a new namespace listed
// must not find its snapshot missing.
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

// latestDirectory returns the directory last loaded, old or not. All directories
// that are in use share the places of the namespaces they have in common.
func (c *Cache) latestDirectory() *directory {
	if v := c.directory.last(); v != nil {
		return v.get()
	}
	return nil
}

// UpdateAuthentications implements [guidon.Store].
func (c *Cache) UpdateAuthentications(ctx context.Context, fn func(ctx context.Context, tx guidon.AuthenticationTx) error) error {
	stored := false
	m := &mirror[guidon.AuthenticationSet, guidon.AuthenticationDelta]{
		kind: authenticationKind, now: func() int64 { return 0 },
		last: c.authentications.last,
		put:  func(next *version[guidon.AuthenticationSet], _ int64) { c.authentications.advance(next) },
	}
	if m.last() == nil {
		_, _ = c.Authentications(ctx) // so that there is something to bring up to date
	}
	defer func() {
		if stored && !m.kept {
			c.authentications.invalidate()
		}
		if stored {
			c.watches.wakeAll()
		}
	}()
	return c.source.UpdateAuthenticationsMirrored(ctx, m, func(ctx context.Context, tx guidon.AuthenticationTx) error {
		stored = false
		if err := fn(ctx, tx); err != nil {
			return err
		}
		stored = true
		return nil
	})
}

// watchedTx notices whether the list of namespaces may change.
type watchedTx struct {
	guidon.Tx
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
