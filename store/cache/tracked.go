package cache

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/guidonhq/guidon"
)

// loadTimeout limits one load. It is generous: the largest namespace must come through
// a slow connection, and waiters have limits of their own.
const loadTimeout = 30 * time.Second

// tracked is a slot whose value is current as long as the source confirms its revision.
// Instants are those of [revisions.now].
//
// A write through this instance stores the resulting state here. A concurrent query may
// have read before the commit or after it. So there are three cases, by the start of
// the query:
//   - Before the write began: its result is ignored.
//   - Later, but before the new state was stored: the next reader loads, which is
//     harmless if there is nothing to load.
//   - After that: its result is right.
type tracked[T any] struct {
	slot[T]
	source  func(ctx context.Context, held *version[T]) (*version[T], error)
	stats   *stats
	now     func() int64
	loaded  func()              // called after another revision was loaded
	isEmpty func(value *T) bool // reports whether the value is that of a deleted namespace

	head      guidon.Revision // the last one that the source returned or a write made; guarded by mu
	observed  int64           // when the source last returned one; guarded by mu
	confirmed atomic.Int64    // start of the query or write that confirmed it; set under mu
	mirrored  span            // the last write that stored its state here; guarded by mu
	writes    int             // the number of such writes; guarded by mu

	latest       atomic.Pointer[version[T]] // the last version loaded or written, current or not; set under mu
	written      atomic.Int64               // end of the last write through this instance whose state is not here
	acknowledged atomic.Int64               // end of the last such write that was acknowledged
	used         atomic.Int64               // when it was last requested, within useGrain
}

// span holds an instant before the commit of a write and when its state was stored
// here.
type span struct{ began, put int64 }

// observe records the revision that the source returned for a query started at began.
//
// Later callers do not share a load that is already running: it may have read a change
// that a restored backup undid before the query. If the load brings the very revision
// that the query returned, the next load costs nothing.
func (t *tracked[T]) observe(head guidon.Revision, began int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if v := t.latest.Load(); v != nil && v.revision == head {
		raise(&v.asOf, began)
	}
	if began <= t.mirrored.began {
		return
	}
	t.observed = t.now()
	if v := t.current.Load(); v == nil || v.revision != head {
		t.head = head
		t.invalidateLocked()
	}
	raise(&t.confirmed, began) // last: a reader that sees it must not find an old version
}

// observeAbsent records that a query started at began found no namespace. It reports
// whether to drop the slot. A deletion through this instance stays in memory for
// sweepInterval, in case the source becomes unavailable.
func (t *tracked[T]) observeAbsent(began int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if began <= t.mirrored.began {
		return false
	}
	defer raise(&t.confirmed, began)
	switch v := t.latest.Load(); {
	case began <= t.mirrored.put:
		t.invalidateLocked()
		return false
	case t.mirrored.put == 0 || t.now()-t.mirrored.put > int64(sweepInterval) || !t.isEmpty(v.get()):
		return true
	default:
		raise(&v.asOf, began)
		t.head, t.observed = v.revision, t.now()
		t.put(v)
		return false
	}
}

// advance stores the state that a write has made or found. It was current at some
// moment after began.
func (t *tracked[T]) advance(next *version[T], began int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	t.mirrored = span{began: max(t.mirrored.began, began), put: now}
	t.writes++
	switch latest := t.latest.Load(); {
	case latest != nil && latest.revision == next.revision: // already loaded, or nothing has changed
		next = latest
	case latest != nil && latest.since >= began && latest.revision.Number > next.revision.Number:
		return // a later write of another instance has been loaded
	default:
		next.since = now
		t.latest.Store(next)
	}
	raise(&next.asOf, began)
	if t.observed >= began && t.head.Number > next.revision.Number {
		t.invalidateLocked() // likewise, but not loaded yet
		return
	}
	t.head = next.revision
	t.put(next)
	raise(&t.confirmed, began)
}

// raise sets the instant unless it is already later. The mu of the slot must be held.
func raise(instant *atomic.Int64, to int64) {
	if instant.Load() < to {
		instant.Store(to)
	}
}

// recent returns the value if it was current later than after, and later than any write
// through this instance whose state is not here. Otherwise it returns nil.
func (t *tracked[T]) recent(after int64) *T {
	v := t.latest.Load()
	if v == nil {
		return nil
	}
	if asOf := v.asOf.Load(); asOf <= after || asOf <= t.written.Load() {
		return nil
	}
	return v.get()
}

// confirmedAfter reports whether the revision was confirmed by a query that began later
// than after, and later than any write through this instance whose state is not here.
func (t *tracked[T]) confirmedAfter(after int64) bool {
	confirmed := t.confirmed.Load()
	return confirmed > after && confirmed > t.written.Load()
}

// stale returns the value and its age if it is no older than limit. It returns nil if
// the value predates a write acknowledged by this instance: the writer would see the
// revision go backwards.
func (t *tracked[T]) stale(now int64, limit time.Duration) (*T, time.Duration) {
	v := t.latest.Load()
	if v == nil {
		return nil, 0
	}
	asOf := v.asOf.Load()
	age := time.Duration(now - asOf)
	if age > limit || asOf <= t.acknowledged.Load() {
		return nil, 0
	}
	return v.get(), age
}

// recordWrite records a write that ended at now and whose state is not here.
func (t *tracked[T]) recordWrite(now int64, acknowledged bool) {
	t.written.Store(now)
	if acknowledged {
		t.acknowledged.Store(now)
	}
}

// useGrain is the resolution of the last-used time. Updating it on every read would
// cost more than the read.
const useGrain = int64(time.Second)

func (t *tracked[T]) touch(now int64) {
	if used := t.used.Load(); used == 0 || now-used > useGrain {
		t.used.Store(now)
	}
}

// fresh returns a value that is no older than the revision last observed. It returns
// errOlder if the source loads an older one.
func (t *tracked[T]) fresh(ctx context.Context) (*T, error) {
	if v := t.current.Load(); v != nil {
		t.stats.hit()
		return v.get(), nil
	}
	t.stats.misses.Add(1)
	return t.get(ctx, t.load)
}

// refresh loads the value if it is not current. It serves no request, so it counts no
// hit or miss.
func (t *tracked[T]) refresh(ctx context.Context) error {
	_, err := t.get(ctx, t.load)
	if errors.Is(err, guidon.NotFound) {
		return nil // deleted in the meantime
	}
	return err
}

// errOlder is returned if the source loads a state that is neither at the revision it
// returned nor later. With one database that happens only if a backup was restored in
// between.
var errOlder = errors.New("cache: the loaded state does not match the revision that the source returned")

func (t *tracked[T]) load(ctx context.Context, held *version[T]) (*version[T], error) {
	head, confirmed, writes := t.lastConfirmed()
	if v := t.latest.Load(); v != nil && v.revision == head {
		return v, nil // an invalidated load has brought it already
	}
	v, err := within(ctx, loadTimeout, func(ctx context.Context) (*version[T], error) { return t.source(ctx, held) })
	if err != nil {
		return nil, err
	}
	v.asOf.Store(confirmed)
	if v = t.accept(v, writes, head); v == nil {
		return nil, errOlder
	}
	t.loaded()
	return v, nil
}

// accept makes a loaded version the latest and returns it. writes is the number of
// writes at the start of the load. If a write has stored this version or a later one
// since then, accept returns the stored one. It returns nil instead of a version older
// than head, which was confirmed before the load.
func (t *tracked[T]) accept(v *version[T], writes int, head guidon.Revision) *version[T] {
	t.mu.Lock()
	defer t.mu.Unlock()
	latest, overtaken := t.latest.Load(), t.writes != writes
	if overtaken && latest.revision.Number >= v.revision.Number {
		return unlessOlder(latest, head)
	}
	if unlessOlder(v, head) == nil {
		return nil
	}
	v.since = t.now()
	t.latest.Store(v)
	if current := t.current.Load(); overtaken && current != nil && current.revision.Number < v.revision.Number {
		t.head = v.revision // another instance has written after that write
		t.put(v)
	}
	return v
}

// unlessOlder returns v, or nil if it is neither head nor a later version.
func unlessOlder[T any](v *version[T], head guidon.Revision) *version[T] {
	if v.revision.Number < head.Number || v.revision.Number == head.Number && v.revision.Stamp != head.Stamp {
		return nil
	}
	return v
}

// lastConfirmed returns the revision that a load must bring, the start of the query
// that confirmed it, and the number of writes that have stored their state here.
func (t *tracked[T]) lastConfirmed() (head guidon.Revision, confirmed int64, writes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.head, t.confirmed.Load(), t.writes
}
