package cache

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

const (
	// readTimeout limits one query for revisions, which reads a few rows by primary
	// key.
	readTimeout = 5 * time.Second
	// sweepInterval is how often all cached keys are queried, so that deleted
	// namespaces that are no longer requested do not stay in memory.
	sweepInterval = time.Minute
)

// revisions queries the source for current revisions, with one query for all waiters. A
// query serves the callers that came before it began, and those that accept a slightly
// older result.
type revisions struct {
	source   SharedSource
	stats    *stats
	maxAge   time.Duration
	epoch    time.Time                                        // instants are counted from here
	readFunc func(ctx context.Context, c *sharedCall[*batch]) // r.read, bound once

	line[*batch]
	last      outage // guarded by mu
	lastWrite int64  // end of the last write to a namespace through this instance; guarded by mu

	// The map is replaced under mu and never modified.
	snapshots atomic.Pointer[map[string]*tracked[guidon.Snapshot]]
	swept     time.Time

	authentications tracked[service.AuthenticationSet]
	watches         watches
}

// batch is one query for revisions.
type batch struct {
	firstJoined int64          // when the first caller joined
	began       int64          // zero until the query starts; guarded by the line's mu
	waiters     map[string]int // the number of waiters for each key; guarded by the line's mu
}

func newRevisions(source SharedSource, maxAge time.Duration, stats *stats) *revisions {
	r := &revisions{
		source: source, stats: stats, maxAge: maxAge, epoch: time.Now(),
		authentications: tracked[service.AuthenticationSet]{
			source: versions(source.LoadAuthentications, (*service.AuthenticationSet).Revision), stats: stats,
		},
	}
	r.authentications.now = r.now
	r.authentications.loaded = r.watches.wakeAll
	r.snapshots.Store(&map[string]*tracked[guidon.Snapshot]{})
	r.readFunc = r.read
	return r
}

// now returns the current instant. All instants are positive.
func (r *revisions) now() int64 { return r.at(time.Now()) }

// at returns the instant of t, or the current one if t is zero.
func (r *revisions) at(t time.Time) int64 {
	if t.IsZero() {
		return r.now()
	}
	return int64(t.Sub(r.epoch)) + 1
}

// snapshot returns the slot of a namespace, or nil if there is none.
func (r *revisions) snapshot(key string) *tracked[guidon.Snapshot] { return (*r.snapshots.Load())[key] }

// query returns when a query for the keys that satisfies d has completed, or with an
// error.
func (r *revisions) query(ctx context.Context, d requirement, keys ...string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c, inline, limit, err := r.addWaiter(ctx, d, keys)
	switch {
	case err != nil || c == nil:
		return err
	case !inline:
		return r.await(ctx, c, limit, keys)
	case r.doInline(ctx, c, limit):
		return c.err
	}
	defer r.start(c) // the query continues: its success would end the outage
	return r.abandon(ctx, c, keys)
}

// await waits for a query that another goroutine runs.
func (r *revisions) await(ctx context.Context, c *sharedCall[*batch], limit time.Duration, keys []string) error {
	var late <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
	case <-late:
	}
	return r.abandon(ctx, c, keys)
}

// abandon returns the error for a caller that stops waiting. If its context has ended,
// it is removed from the waiters; if only its wait limit has passed, it stays, so that
// the query continues.
func (r *revisions) abandon(ctx context.Context, c *sharedCall[*batch], keys []string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := ctx.Err(); err != nil {
		r.removeWaiter(c, keys)
		return err
	}
	return r.last.unavailable()
}

// addWaiter returns the query to wait for or to run, and the wait limit (zero means
// none). It returns nil if there is no need to wait. The caller runs the query itself
// only if that will probably complete in time: an inline query cannot continue without
// its caller.
func (r *revisions) addWaiter(
	ctx context.Context, d requirement, keys []string,
) (c *sharedCall[*batch], inline bool, limit time.Duration, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d.key != "" && r.confirmedAfter(d.key, d.after) { // confirmed since the caller checked
		return nil, false, 0, nil
	}
	now := r.now()
	limit, err = r.last.wait(now, r.runningSince(), d.mayBeStale)
	if err != nil {
		return nil, false, 0, err
	}
	if c = r.running; c != nil && c.ctx.Err() == nil && r.serves(c.value, d, keys) {
		c.waiters++
	} else {
		c, inline = r.join(ctx, r.readFunc)
	}
	if c.value == nil {
		c.value = &batch{firstJoined: now, waiters: make(map[string]int, 4)}
	}
	for _, key := range keys {
		c.value.waiters[key]++
	}
	if inline && !r.last.expectFast() {
		inline = false
		r.start(c)
	}
	return c, inline, limit, nil
}

// confirmedAfter reports whether a query that began later than after has confirmed the
// revision of the key, which must be cached.
func (r *revisions) confirmedAfter(key string, after int64) bool {
	if key == service.AuthenticationsKey {
		return r.authentications.confirmedAfter(after)
	}
	t := r.snapshot(key)
	return t != nil && t.confirmedAfter(after)
}

// runningSince returns when the running query began, or zero if none is running. r.mu
// must be held.
func (r *revisions) runningSince() int64 {
	if r.running == nil || r.running.value == nil {
		return 0
	}
	return r.running.value.began
}

// serves reports whether a running query satisfies d. r.mu must be held.
func (r *revisions) serves(b *batch, d requirement, keys []string) bool {
	if b.began <= d.after {
		return false
	}
	for _, key := range keys {
		if b.waiters[key] == 0 || b.began <= r.written(key) {
			return false
		}
	}
	return true
}

// removeWaiter removes a waiter for the keys from the query. r.mu must be held.
func (r *revisions) removeWaiter(c *sharedCall[*batch], keys []string) {
	for _, key := range keys {
		if waiters := c.value.waiters; waiters[key] > 1 {
			waiters[key]--
		} else {
			delete(waiters, key)
		}
	}
	c.leave()
}

// read queries the source and records the result. A query that its context has ended
// says nothing about the source, and may be run again.
func (r *revisions) read(ctx context.Context, c *sharedCall[*batch]) {
	runtime.Gosched() // let runnable callers join this query
	began, keys, err := r.seal(c)
	if err != nil {
		c.err = err
		return
	}
	if c.err = ctx.Err(); c.err != nil {
		return
	}
	queried := r.withCached(keys)
	heads, err := r.heads(ctx, queried, began)
	if err == nil {
		r.apply(queried, heads, began)
	}
	c.err = err
	if err != nil && ctx.Err() != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last.record(began, r.now(), err)
}

// seal closes the batch and returns its keys. A later caller must see changes that this
// query may miss. If the first caller joined before the previous query failed, seal
// returns that failure: these callers have already waited for it.
func (r *revisions) seal(c *sharedCall[*batch]) (began int64, keys []string, err error) {
	r.mu.Lock() // also waits for the first caller, which may still be in addWaiter
	defer r.mu.Unlock()
	r.sealRunning()
	b := c.value
	if r.last.cause != nil && b.firstJoined < r.last.failed {
		return 0, nil, r.last.unavailable()
	}
	if b.began == 0 { // a query that runs again keeps its start
		b.began = r.now()
	}
	return b.began, slices.AppendSeq(make([]string, 0, len(b.waiters)), maps.Keys(b.waiters)), nil
}

// withCached adds all cached namespaces to the keys, once every sweepInterval.
func (r *revisions) withCached(keys []string) []string {
	now := time.Now()
	if now.Sub(r.swept) < sweepInterval {
		return keys
	}
	r.swept = now
	all := slices.AppendSeq(slices.Clone(keys), maps.Keys(*r.snapshots.Load()))
	slices.Sort(all)
	return slices.Compact(all)
}

func (r *revisions) heads(ctx context.Context, keys []string, began int64) (map[string]guidon.Revision, error) {
	left := readTimeout - time.Duration(r.now()-began)
	return within(ctx, left, func(ctx context.Context) (map[string]guidon.Revision, error) {
		return r.source.Heads(ctx, keys)
	})
}

// apply records the result of a query that started at began.
func (r *revisions) apply(queried []string, heads map[string]guidon.Revision, began int64) {
	known := r.syncSlots(queried, heads, began)
	for _, key := range queried {
		switch head, exists := heads[key]; {
		case key == service.AuthenticationsKey:
			r.authentications.observe(head, began) // the zero revision until an authentication is stored
		case exists:
			known[key].observe(head, began)
		}
	}
}

// syncSlots adds a slot for each queried namespace that exists and removes the slots of
// those that do not.
func (r *revisions) syncSlots(queried []string, heads map[string]guidon.Revision, began int64) map[string]*tracked[guidon.Snapshot] {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := *r.snapshots.Load()
	var created, deleted []string
	for _, key := range queried {
		_, exists := heads[key]
		switch t := known[key]; {
		case key == service.AuthenticationsKey:
		case t == nil && exists:
			created = append(created, key)
		case t != nil && !exists && t.observeAbsent(began):
			deleted = append(deleted, key)
		}
	}
	if len(created)+len(deleted) == 0 {
		return known
	}
	known = maps.Clone(known)
	for _, key := range created {
		r.addSlot(known, key) // a load into it sees all earlier writes
	}
	for _, key := range deleted {
		delete(known, key)
		defer r.watches.wake(key)
	}
	r.snapshots.Store(&known)
	return known
}

// ensureSlot returns the slot of a namespace, and adds one if there is none.
func (r *revisions) ensureSlot(key string) *tracked[guidon.Snapshot] {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.snapshot(key); t != nil {
		return t
	}
	known := maps.Clone(*r.snapshots.Load())
	t := r.addSlot(known, key)
	r.snapshots.Store(&known)
	return t
}

// addSlot adds an empty slot to the map.
func (r *revisions) addSlot(known map[string]*tracked[guidon.Snapshot], key string) *tracked[guidon.Snapshot] {
	key = strings.Clone(key) // it may be a substring of a large request
	t := &tracked[guidon.Snapshot]{
		stats: r.stats, now: r.now,
		loaded:  func() { r.watches.wake(key) },
		isEmpty: func(s *guidon.Snapshot) bool { return s.Namespace() == nil },
		source: versions(func(ctx context.Context, held *guidon.Snapshot) (*guidon.Snapshot, error) {
			return r.source.Load(ctx, key, held)
		}, (*guidon.Snapshot).Revision),
	}
	known[key] = t
	return t
}

func (r *revisions) outage() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last.duration(r.now(), r.runningSince())
}
