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
)

const (
	// readTimeout bounds one reading of revisions: some rows by primary key.
	readTimeout = 5 * time.Second
	// sweepInterval is how often everything held is asked for, so that namespaces
	// that are gone, and that nobody names any more, do not stay in memory.
	sweepInterval = time.Minute
)

// revisions asks the source which revisions are current, with one question for
// all who wait. A question serves those who came before it began, and those
// whom an answer satisfies that is a little older.
type revisions struct {
	source   SharedSource
	stats    *stats
	maxAge   time.Duration
	epoch    time.Time                                        // instants are counted from here
	readFunc func(ctx context.Context, c *sharedCall[*batch]) // r.read, bound once

	line[*batch]
	last      outage // guarded by mu
	lastWrite int64  // when any write through this instance ended; guarded by mu

	// The map is replaced under mu, and not changed.
	snapshots atomic.Pointer[map[string]*tracked[guidon.Snapshot]]
	swept     time.Time

	authentications tracked[guidon.AuthenticationSet]
	watches         watches
}

// batch is one question.
type batch struct {
	firstJoined int64          // when the first one came
	began       int64          // zero until it has; guarded by the line's mu
	waiters     map[string]int // how many wait for each key; guarded by the line's mu
}

func newRevisions(source SharedSource, maxAge time.Duration, stats *stats) *revisions {
	r := &revisions{
		source: source, stats: stats, maxAge: maxAge, epoch: time.Now(),
		authentications: tracked[guidon.AuthenticationSet]{
			revision: (*guidon.AuthenticationSet).Revision, source: source.LoadAuthentications, stats: stats,
		},
	}
	r.authentications.now = r.now
	r.authentications.loaded = r.watches.wakeAll
	r.snapshots.Store(&map[string]*tracked[guidon.Snapshot]{})
	r.readFunc = r.read
	return r
}

// now returns the instant that it is. All instants are positive.
func (r *revisions) now() int64 { return r.at(time.Now()) }

// at returns the instant of the time, that of now where it is zero.
func (r *revisions) at(t time.Time) int64 {
	if t.IsZero() {
		return r.now()
	}
	return int64(t.Sub(r.epoch)) + 1
}

// snapshot returns the place of a namespace that is held, or nil.
func (r *revisions) snapshot(key string) *tracked[guidon.Snapshot] { return (*r.snapshots.Load())[key] }

// query returns when a question about the keys has been answered that satisfies
// the demand.
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
	defer r.start(c) // the question goes on: its answer is the end of the outage
	return r.abandon(ctx, c, keys)
}

// await is for those who come to a question that somebody else asks.
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

// abandon returns the error of one who cannot wait any longer. Where he has left the
// question is only for those who have not; otherwise it is still his.
func (r *revisions) abandon(ctx context.Context, c *sharedCall[*batch], keys []string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := ctx.Err(); err != nil {
		r.removeWaiter(c, keys)
		return err
	}
	return r.last.unavailable()
}

// addWaiter returns a flight to wait for, or to lead, and how long to wait, zero for as
// long as it takes; or nil where there is no need to wait. A question is led that
// will be answered in time: it could not go on without who leads it.
func (r *revisions) addWaiter(ctx context.Context, d requirement, keys []string) (c *sharedCall[*batch], inline bool, limit time.Duration, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d.key != "" && r.confirmedAfter(d.key, d.after) { // answered since the caller looked
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

// confirmedAfter tells whether the revision of the key, of one that is held, is known
// from a question that began later than the instant.
func (r *revisions) confirmedAfter(key string, after int64) bool {
	if key == guidon.AuthenticationsKey {
		return r.authentications.confirmedAfter(after)
	}
	t := r.snapshot(key)
	return t != nil && t.confirmedAfter(after)
}

// runningSince returns when the question under way began, zero where there is none.
// r.mu is held.
func (r *revisions) runningSince() int64 {
	if r.running == nil || r.running.value == nil {
		return 0
	}
	return r.running.value.began
}

// serves tells whether a question that has begun satisfies the demand. r.mu is
// held.
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

// removeWaiter takes one who waits for the keys off the flight. r.mu is held.
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

// read asks the source and notes what it says. A question that its context has
// ended tells nothing, and may be asked again.
func (r *revisions) read(ctx context.Context, c *sharedCall[*batch]) {
	runtime.Gosched() // so that all who are here already come along
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

// seal ends the boarding and returns what is wanted: who comes now wants to know
// of changes that this question may miss. Those who came before the last one
// failed have waited for that already, and share its fate.
func (r *revisions) seal(c *sharedCall[*batch]) (began int64, keys []string, err error) {
	r.mu.Lock() // which also waits for the first one, who may still be boarding
	defer r.mu.Unlock()
	r.sealRunning()
	b := c.value
	if r.last.cause != nil && b.firstJoined < r.last.failed {
		return 0, nil, r.last.unavailable()
	}
	if b.began == 0 { // what is asked again goes on
		b.began = r.now()
	}
	return b.began, slices.AppendSeq(make([]string, 0, len(b.waiters)), maps.Keys(b.waiters)), nil
}

// withCached adds, now and then, everything held to what is wanted.
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
	r.stats.reads.Add(1)
	left := readTimeout - time.Duration(r.now()-began)
	return within(ctx, left, func(ctx context.Context) (map[string]guidon.Revision, error) {
		return r.source.Heads(ctx, keys)
	})
}

// apply takes note of the answer to a question that began at the instant.
func (r *revisions) apply(queried []string, heads map[string]guidon.Revision, began int64) {
	known := r.syncSlots(queried, heads, began)
	for _, key := range queried {
		switch head, exists := heads[key]; {
		case key == guidon.AuthenticationsKey:
			r.authentications.observe(head, began) // the zero revision until one is stored
		case exists:
			known[key].observe(head, began)
		}
	}
}

// syncSlots makes a place for each namespace that exists among those asked for, and
// drops those of the others.
func (r *revisions) syncSlots(queried []string, heads map[string]guidon.Revision, began int64) map[string]*tracked[guidon.Snapshot] {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := *r.snapshots.Load()
	var created, deleted []string
	for _, key := range queried {
		_, exists := heads[key]
		switch t := known[key]; {
		case key == guidon.AuthenticationsKey:
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
		r.addSlot(known, key) // what is loaded into it has all that was written before
	}
	for _, key := range deleted {
		delete(known, key)
		defer r.watches.wake(key)
	}
	r.snapshots.Store(&known)
	return known
}

// ensureSlot returns the place of a namespace, and makes one if there is none.
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

// addSlot adds an empty place to the map.
func (r *revisions) addSlot(known map[string]*tracked[guidon.Snapshot], key string) *tracked[guidon.Snapshot] {
	key = strings.Clone(key) // it may be a part of a whole request
	t := &tracked[guidon.Snapshot]{
		revision: (*guidon.Snapshot).Revision, stats: r.stats, now: r.now,
		loaded:  func() { r.watches.wake(key) },
		isEmpty: func(s *guidon.Snapshot) bool { return s.Namespace() == nil },
		source: func(ctx context.Context, held *guidon.Snapshot) (*guidon.Snapshot, error) {
			return r.source.Load(ctx, key, held)
		},
	}
	known[key] = t
	return t
}

func (r *revisions) outage() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last.duration(r.now(), r.runningSince())
}
