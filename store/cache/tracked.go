package cache

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/guidonhq/guidon"
)

// loadTimeout bounds one load. It is generous: the largest namespace over a slow
// line has to come through, and those who wait have bounds of their own.
const loadTimeout = 30 * time.Second

// tracked is a slot whose value is current as long as the source says that its
// revision is. Instants are those of [revisions.now].
//
// A write through this instance puts the state that it made here. Of a query that
// was under way at the same time nobody knows whether it read before the commit or
// after, so the three cases are: a query that began before the write did is not
// listened to; one that began later but before the new state was here makes the next
// reader load, which does no harm if there was nothing to load; and one that began
// after that is right.
type tracked[T any] struct {
	slot[T]
	revision func(value *T) guidon.Revision
	source   func(ctx context.Context, held *T) (*T, error)
	stats    *stats
	now      func() int64
	loaded   func()              // called when there is a value of another revision
	isEmpty  func(value *T) bool // reports whether the value says that there is nothing

	head      guidon.Revision // what the source said last, or a write made; guarded by mu
	observed  int64           // when it said so; guarded by mu
	confirmed atomic.Int64    // when the question began that it answered; set under mu
	mirrored  span            // of the last write that put its state here; guarded by mu
	writes    int             // how many have; guarded by mu

	latest       atomic.Pointer[version[T]] // the last value loaded or written, current or not; set under mu
	written      atomic.Int64               // when a write through this instance ended last whose state is not here
	acknowledged atomic.Int64               // when such a write was acknowledged
	used         atomic.Int64               // when somebody asked last, within useGrain
}

// span is when a write put its state into the cache, and an instant before its commit.
type span struct{ began, put int64 }

// observe takes note of the revision that the source has stated in answer to a
// question that began at the instant.
//
// A load that is under way is not for those who come now: it may have read
// something that was written and, by a restored backup, undone before the question.
// Where it brings the very revision that was stated, the next one costs nothing.
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
	raise(&t.confirmed, began) // last: who sees it must not find what is old
}

// observeAbsent takes note of an answer, to a question that began at the instant, that
// there is nothing to hold. It reports whether to forget what is held. That this
// instance has deleted it is remembered for a while, in which the source may go away.
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

// advance puts the state here that a write has made, or found, which is current at
// some moment after began.
func (t *tracked[T]) advance(next *version[T], began int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	t.mirrored = span{began: max(t.mirrored.began, began), put: now}
	t.writes++
	switch latest := t.latest.Load(); {
	case latest != nil && latest.revision == next.revision: // loaded already, or nothing has changed
		next = latest
	case latest != nil && latest.since >= began && latest.revision.Number > next.revision.Number:
		return // somebody else has written since, which has been loaded
	default:
		next.since = now
		t.latest.Store(next)
	}
	raise(&next.asOf, began)
	if t.observed >= began && t.head.Number > next.revision.Number {
		t.invalidateLocked() // the same, but it has not been loaded yet
		return
	}
	t.head = next.revision
	t.put(next)
	raise(&t.confirmed, began)
}

// raise sets the instant unless it is later already. There is one caller at a time.
func raise(instant *atomic.Int64, to int64) {
	if instant.Load() < to {
		instant.Store(to)
	}
}

// recent returns the value when it was current at an instant later than after,
// and than any write through this instance, and otherwise nil.
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

// confirmedAfter tells whether the source has stated the revision in answer to a
// question that began later than after, and than any write through this instance.
func (t *tracked[T]) confirmedAfter(after int64) bool {
	confirmed := t.confirmed.Load()
	return confirmed > after && confirmed > t.written.Load()
}

// stale returns the value when it is no older than the limit, and its age. One
// that is older than a write that this instance has acknowledged is not it: who
// made that would see the revision go back.
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

// recordWrite takes note of a write that ended at the instant and whose state is not here.
func (t *tracked[T]) recordWrite(now int64, acknowledged bool) {
	t.written.Store(now)
	if acknowledged {
		t.acknowledged.Store(now)
	}
}

// useGrain is how exactly it is known when a value was used last: writing that
// down each time would cost processors more than reading the value.
const useGrain = int64(time.Second)

func (t *tracked[T]) touch(now int64) {
	if used := t.used.Load(); used == 0 || now-used > useGrain {
		t.used.Store(now)
	}
}

// fresh returns a value that is no older than the revision last observed, or
// errOlder.
func (t *tracked[T]) fresh(ctx context.Context) (*T, error) {
	if v := t.current.Load(); v != nil {
		t.stats.hit()
		return v.get(), nil
	}
	t.stats.misses.Add(1)
	return t.get(ctx, t.load)
}

// refresh loads the value where it is not current, on nobody's behalf.
func (t *tracked[T]) refresh(ctx context.Context) error {
	_, err := t.get(ctx, t.load)
	if errors.Is(err, guidon.NotFound) {
		return nil // deleted meanwhile
	}
	return err
}

// errOlder says that the source loaded something that it had said is past. With
// one database that happens only when a backup was restored in between.
var errOlder = errors.New("cache: the source loaded a state other than the one it had stated")

func (t *tracked[T]) load(ctx context.Context, held *version[T]) (*version[T], error) {
	head, confirmed, writes := t.lastConfirmed()
	if v := t.latest.Load(); v != nil && v.revision == head {
		return v, nil // a load that was overtaken has brought it already
	}
	t.stats.loads.Add(1)
	value, err := within(ctx, loadTimeout, func(ctx context.Context) (*T, error) {
		if held == nil {
			return t.source(ctx, nil)
		}
		return t.source(ctx, held.get())
	})
	if err != nil {
		return nil, err
	}
	v := newVersion(t.revision(value), value)
	v.asOf.Store(confirmed)
	if v = t.accept(v, writes, head); v == nil {
		return nil, errOlder
	}
	t.loaded()
	return v, nil
}

// accept makes a version that was loaded the latest, and returns it. If a write has
// put a later one here since the load began, with so many writes before it, settle
// returns that. If what it would return is older than head, which was stated before
// the load, it returns nil.
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
		t.head = v.revision // somebody else has written after that write
		t.put(v)
	}
	return v
}

// unlessOlder returns the version, or nil if it is not head, nor later.
func unlessOlder[T any](v *version[T], head guidon.Revision) *version[T] {
	if v.revision.Number < head.Number || v.revision.Number == head.Number && v.revision.Stamp != head.Stamp {
		return nil
	}
	return v
}

// lastConfirmed returns the revision that a load must bring, when the question began
// that stated it, and how many writes have put their state here so far.
func (t *tracked[T]) lastConfirmed() (head guidon.Revision, confirmed int64, writes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.head, t.confirmed.Load(), t.writes
}
