// Package cache serves the reads of a store from memory.
package cache

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// Source is the store behind the cache.
type Source interface {
	service.Store
	// UpdateMirrored is Update with a mirror of the namespace.
	UpdateMirrored(ctx context.Context, namespace string, w service.Write, mirror service.Mirror[guidon.SnapshotDelta],
		fn func(ctx context.Context, tx service.Tx) error) (int64, error)
	// UpdateAuthenticationsMirrored is UpdateAuthentications with a mirror of the
	// authentications.
	UpdateAuthenticationsMirrored(ctx context.Context, w service.Write, mirror service.Mirror[service.AuthenticationDelta],
		fn func(ctx context.Context, tx service.AuthenticationTx) error) error
	// Load returns the current snapshot of the namespace, or NotFound. It may
	// use held, an earlier snapshot or nil, to read only what changed since.
	Load(ctx context.Context, namespace string, held *guidon.Snapshot) (*guidon.Snapshot, error)
	// LoadAt returns the state of the namespace at a moment, as [service.Store.SnapshotAt]
	// does. It may use held, another snapshot of the namespace or nil, to read less.
	LoadAt(ctx context.Context, namespace string, at service.Moment, held *guidon.Snapshot, admit service.Admit) (*guidon.Snapshot, error)
	// LoadAuthentications returns all authentications. It may use held, an earlier set or
	// nil, to read only what changed since.
	LoadAuthentications(ctx context.Context, held *service.AuthenticationSet) (*service.AuthenticationSet, error)
}

// Cache is a [service.Store] that keeps the snapshots, the list of namespaces and the
// authentications of its source in memory.
//
// It relies on every write passing through it. Before a write returns, the resulting
// state is in memory, or, if it is not known, what the write changed is invalidated. So
// no stale state is ever returned. The error of a failed load goes to the caller, and
// the next call tries again. Memory use is bounded by what is stored: names that do not
// exist leave nothing behind and cost the source nothing.
type Cache struct {
	service.ChangeLog // of the source; records are not cached
	source            Source
	directory         slot[directory]
	authentications   slot[service.AuthenticationSet]
	watches
	stats
}

var _ service.Store = (*Cache)(nil)

// New returns an empty cache over the source.
func New(source Source) *Cache { return &Cache{ChangeLog: source, source: source} }

// directory is the list of namespaces with a slot for the snapshot of each.
type directory struct {
	list  []*guidon.Namespace
	slots map[string]*slot[guidon.Snapshot]
}

// Namespaces returns every namespace in creation order. The result is shared and must
// not be modified.
func (c *Cache) Namespaces(ctx context.Context) ([]*guidon.Namespace, error) {
	d, err := c.currentDirectory(ctx)
	if err != nil {
		return nil, err
	}
	return d.list, nil
}

// Snapshot implements [service.Store].
func (c *Cache) Snapshot(ctx context.Context, namespace string, _ service.Demand) (*guidon.Snapshot, time.Duration, error) {
	d, err := c.currentDirectory(ctx)
	if err != nil {
		return nil, 0, err
	}
	s := d.slots[namespace]
	if s == nil {
		return nil, 0, namespaceNotFound(namespace)
	}
	if v := s.current.Load(); v != nil {
		c.stats.hit()
		return v.get(), 0, nil
	}
	c.stats.misses.Add(1)
	snapshot, err := s.get(ctx, versions(func(ctx context.Context, held *guidon.Snapshot) (*guidon.Snapshot, error) {
		return c.source.Load(ctx, namespace, held)
	}, (*guidon.Snapshot).Revision))
	return snapshot, 0, err
}

// SnapshotAt implements [service.Store]. Earlier states are computed from the current one,
// which is cached.
func (c *Cache) SnapshotAt(
	ctx context.Context, namespace string, at service.Moment, d service.Demand, admit service.Admit,
) (*guidon.Snapshot, error) {
	return loadAt(ctx, c, c.source, namespace, at, d, admit)
}

// loadAt returns the state of the namespace at a moment, computed by the source from the
// current state in the cache.
func loadAt(
	ctx context.Context, cache service.Store, source Source, namespace string, at service.Moment, d service.Demand, admit service.Admit,
) (*guidon.Snapshot, error) {
	held, _, err := cache.Snapshot(ctx, namespace, d)
	if err != nil && !errors.Is(err, guidon.NotFound) { // a deleted namespace has earlier states
		return nil, err
	}
	return source.LoadAt(ctx, namespace, at, held, admit)
}

// Authentications implements [service.Store].
func (c *Cache) Authentications(ctx context.Context, _ service.Demand, _ string) (*service.AuthenticationSet, time.Duration, error) {
	if v := c.authentications.current.Load(); v != nil {
		c.stats.hit()
		return v.get(), 0, nil
	}
	c.stats.misses.Add(1)
	set, err := c.authentications.get(ctx, versions(c.source.LoadAuthentications, (*service.AuthenticationSet).Revision))
	return set, 0, err
}

func (c *Cache) currentDirectory(ctx context.Context) (*directory, error) {
	if d := c.directory.current.Load(); d != nil {
		return d.get(), nil
	}
	return c.directory.get(ctx, c.loadDirectory)
}

// loadDirectory reads the list of namespaces. A known namespace keeps its slot, so that
// a write that began under the old directory invalidates the slot that readers of the
// new one find.
func (c *Cache) loadDirectory(ctx context.Context, held *version[directory]) (*version[directory], error) {
	list, err := c.source.Namespaces(ctx)
	if err != nil {
		return nil, err
	}
	d := &directory{list: list, slots: make(map[string]*slot[guidon.Snapshot], len(list))}
	for _, n := range list {
		if held != nil && held.get().slots[n.Key] != nil {
			d.slots[n.Key] = held.get().slots[n.Key]
		} else {
			d.slots[n.Key] = &slot[guidon.Snapshot]{}
		}
	}
	return newVersion(guidon.Revision{}, d), nil
}

// Stats counts the operations of a cache since it was created.
type Stats struct {
	Hits   uint64 // snapshots and authentication sets returned from memory
	Misses uint64 // those that waited for a load
	Stale  uint64 // requests that [Shared] served from memory because the source did not respond
}

type stats struct {
	// Every request counts a hit. A single counter would move from processor to
	// processor all the time, so there are several, each in its own cache line.
	hits   [16]paddedCounter
	misses atomic.Uint64
	stale  atomic.Uint64
}

type paddedCounter struct {
	atomic.Uint64
	_ [56]byte
}

func (s *stats) hit() {
	s.hits[rand.Uint32()%uint32(len(s.hits))].Add(1) // #nosec G404 -- spreads load, keeps no secret
}

// Stats returns the counts so far.
func (s *stats) Stats() Stats {
	c := Stats{Misses: s.misses.Load(), Stale: s.stale.Load()}
	for i := range s.hits {
		c.Hits += s.hits[i].Load()
	}
	return c
}
