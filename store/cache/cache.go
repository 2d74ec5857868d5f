// Package cache answers a store's reads from memory.
package cache

import (
	"context"

	"github.com/guidonhq/guidon"
)

// Source is the store behind the cache.
type Source interface {
	guidon.Store
	// Load returns the current snapshot of the namespace, or NotFound. It may
	// use held, an earlier snapshot or nil, to read only what changed since.
	Load(ctx context.Context, namespace string, held *guidon.Snapshot) (*guidon.Snapshot, error)
}

// Cache is a [guidon.Store] that keeps the snapshots, the list of namespaces and
// the authentications of its source in memory.
//
// It relies on every write passing through it. A write marks what it changed as
// old before it returns, so that whoever learns of it sees it: nothing stale is
// ever answered. A load that fails is the caller's error and is tried again by
// the next call. What is in memory is bounded by what is stored: names that do
// not exist leave nothing behind and cost the source nothing.
type Cache struct {
	source          Source
	directory       slot[directory]
	authentications slot[guidon.AuthenticationSet]
	watches         watches
	stats           stats
}

var _ guidon.Store = (*Cache)(nil)

// New returns an empty cache over the source.
func New(source Source) *Cache { return &Cache{source: source} }

// directory is the list of namespaces with a place for the snapshot of each.
type directory struct {
	list  []*guidon.Namespace
	slots map[string]*slot[guidon.Snapshot]
}

// Namespaces returns every namespace in creation order. The answer is shared and
// must not be changed.
func (c *Cache) Namespaces(ctx context.Context) ([]*guidon.Namespace, error) {
	d, err := c.known(ctx)
	if err != nil {
		return nil, err
	}
	return d.list, nil
}

// Snapshot implements [guidon.Store].
func (c *Cache) Snapshot(ctx context.Context, namespace string) (*guidon.Snapshot, error) {
	d, err := c.known(ctx)
	if err != nil {
		return nil, err
	}
	s := d.slots[namespace]
	if s == nil {
		return nil, namespaceNotFound(namespace)
	}
	if snapshot := s.current.Load(); snapshot != nil {
		c.stats.hit()
		return snapshot, nil
	}
	c.stats.misses.Add(1)
	return s.get(ctx, func(ctx context.Context, held *guidon.Snapshot) (*guidon.Snapshot, error) {
		c.stats.loads.Add(1)
		return c.source.Load(ctx, namespace, held)
	})
}

// Authentications implements [guidon.Store].
func (c *Cache) Authentications(ctx context.Context) (*guidon.AuthenticationSet, error) {
	if set := c.authentications.current.Load(); set != nil {
		c.stats.hit()
		return set, nil
	}
	c.stats.misses.Add(1)
	return c.authentications.get(ctx, func(ctx context.Context, _ *guidon.AuthenticationSet) (*guidon.AuthenticationSet, error) {
		c.stats.loads.Add(1)
		return c.source.Authentications(ctx)
	})
}

// Changes implements [guidon.Store]. The records are not cached.
func (c *Cache) Changes(ctx context.Context, query guidon.ChangeQuery) ([]*guidon.Change, error) {
	return c.source.Changes(ctx, query)
}

// known returns the current directory.
func (c *Cache) known(ctx context.Context) (*directory, error) {
	if d := c.directory.current.Load(); d != nil {
		return d, nil
	}
	return c.directory.get(ctx, func(ctx context.Context, held *directory) (*directory, error) {
		c.stats.loads.Add(1)
		return c.loadDirectory(ctx, held)
	})
}

// loadDirectory reads the list of namespaces. A namespace that was known keeps
// its place, so that a write which began under the old directory marks the same
// snapshot old that readers of the new one find.
func (c *Cache) loadDirectory(ctx context.Context, held *directory) (*directory, error) {
	list, err := c.source.Namespaces(ctx)
	if err != nil {
		return nil, err
	}
	d := &directory{list: list, slots: make(map[string]*slot[guidon.Snapshot], len(list))}
	for _, n := range list {
		if held != nil && held.slots[n.Key] != nil {
			d.slots[n.Key] = held.slots[n.Key]
		} else {
			d.slots[n.Key] = &slot[guidon.Snapshot]{}
		}
	}
	return d, nil
}
