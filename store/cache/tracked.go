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
type tracked[T any] struct {
	slot[T]
	revision func(value *T) guidon.Revision
	source   func(ctx context.Context, held *T) (*T, error)
	stats    *stats
	loaded   func() // called when there is a value of another revision

	head   guidon.Revision // what the source said last; guarded by mu
	stated atomic.Int64    // when the question began that it answered; set under mu

	latest       atomic.Pointer[state[T]] // the last value loaded, current or not
	written      atomic.Int64             // when a write through this instance ended last
	acknowledged atomic.Int64             // when one was acknowledged
	used         atomic.Int64             // when somebody asked last, within useGrain
}

// state is a value and the last instant that it is known to have been current
// at: the begin of a question.
type state[T any] struct {
	value *T
	asOf  atomic.Int64
}

// observe takes note of the revision that the source has stated in answer to a
// question that began at the instant.
//
// A load that is under way is not for those who come now: it may have read
// something that was written and, by a restored backup, undone before the question.
// Where it brings the very revision that was stated, the next one costs nothing.
func (t *tracked[T]) observe(head guidon.Revision, began int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.latest.Load(); s != nil && t.revision(s.value) == head {
		s.asOf.Store(began)
	}
	if value := t.current.Load(); value == nil || t.revision(value) != head {
		t.head = head
		t.overtake()
	}
	t.stated.Store(began) // last: who sees it must not find what is old
}

// recent returns the value when it was current at an instant later than after,
// and than any write through this instance, and otherwise nil.
func (t *tracked[T]) recent(after int64) *T {
	s := t.latest.Load()
	if s == nil {
		return nil
	}
	if asOf := s.asOf.Load(); asOf <= after || asOf <= t.written.Load() {
		return nil
	}
	return s.value
}

// statedAfter tells whether the source has stated the revision in answer to a
// question that began later than after, and than any write through this instance.
func (t *tracked[T]) statedAfter(after int64) bool {
	stated := t.stated.Load()
	return stated > after && stated > t.written.Load()
}

// stale returns the value when it is no older than the limit, and its age. One
// that is older than a write that this instance has acknowledged is not it: who
// made that would see the revision go back.
func (t *tracked[T]) stale(now int64, limit time.Duration) (*T, time.Duration) {
	s := t.latest.Load()
	if s == nil {
		return nil, 0
	}
	asOf := s.asOf.Load()
	age := time.Duration(now - asOf)
	if age > limit || asOf <= t.acknowledged.Load() {
		return nil, 0
	}
	return s.value, age
}

// wrote takes note of a write that ended at the instant.
func (t *tracked[T]) wrote(now int64, acknowledged bool) {
	t.written.Store(now)
	if acknowledged {
		t.acknowledged.Store(now)
	}
}

// useGrain is how exactly it is known when a value was used last: writing that
// down each time would cost processors more than reading the value.
const useGrain = int64(time.Second)

func (t *tracked[T]) use(now int64) {
	if used := t.used.Load(); used == 0 || now-used > useGrain {
		t.used.Store(now)
	}
}

// fresh returns a value that is no older than the revision last observed, or
// errOlder.
func (t *tracked[T]) fresh(ctx context.Context) (*T, error) {
	if value := t.current.Load(); value != nil {
		t.stats.hit()
		return value, nil
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

func (t *tracked[T]) load(ctx context.Context, held *T) (*T, error) {
	head, stated := t.lastStated()
	if held != nil && t.revision(held) == head {
		return held, nil // a load that was overtaken has brought it already
	}
	t.stats.loads.Add(1)
	value, err := within(ctx, loadTimeout, func(ctx context.Context) (*T, error) { return t.source(ctx, held) })
	if err != nil {
		return nil, err
	}
	if got := t.revision(value); got.Number < head.Number || got.Number == head.Number && got.Stamp != head.Stamp {
		return nil, errOlder
	}
	s := &state[T]{value: value}
	s.asOf.Store(stated)
	t.latest.Store(s)
	t.loaded()
	return value, nil
}

func (t *tracked[T]) lastStated() (head guidon.Revision, stated int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.head, t.stated.Load()
}
