package cache

import (
	"context"
	"errors"
	"time"

	"github.com/guidonhq/guidon"
)

// loadTimeout bounds one load. It is generous: the largest namespace over a slow
// line has to come through, and those who wait have bounds of their own.
const loadTimeout = 30 * time.Second

// tracked is a slot whose value is current as long as the source says that its
// revision is.
type tracked[T any] struct {
	slot[T]
	revision func(value *T) guidon.Revision
	source   func(ctx context.Context, held *T) (*T, error)
	stats    *stats
	head     guidon.Revision // what the source said last; guarded by mu
}

// observe takes note of the revision that the source has just stated.
//
// A load that is under way may go on serving those who come while the revision
// stays the same: it began after that was first seen. It need not be compared by
// more or less, so the numbers of a restored backup do no harm.
func (t *tracked[T]) observe(head guidon.Revision) {
	t.mu.Lock()
	defer t.mu.Unlock()
	value := t.current.Load()
	if value != nil && t.revision(value) == head || value == nil && t.head == head {
		return
	}
	t.head = head
	t.overtake()
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

// errOlder says that the source loaded something that it had said is past. With
// one database that happens only when a backup was restored in between.
var errOlder = errors.New("cache: the source loaded a state other than the one it had stated")

func (t *tracked[T]) load(ctx context.Context, held *T) (*T, error) {
	head := t.latest()
	if held != nil && t.revision(held) == head {
		return held, nil // a load that was overtaken had brought it already
	}
	t.stats.loads.Add(1)
	value, err := within(ctx, loadTimeout, func(ctx context.Context) (*T, error) { return t.source(ctx, held) })
	if err != nil {
		return nil, err
	}
	if got := t.revision(value); got.Number < head.Number || got.Number == head.Number && got.Stamp != head.Stamp {
		return nil, errOlder
	}
	return value, nil
}

func (t *tracked[T]) latest() guidon.Revision {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.head
}
