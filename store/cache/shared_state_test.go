package cache_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/bubble"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
)

// After a restored backup, revision numbers repeat but stamps do not. A cached state of
// the other history never counts as current.
func TestRestoredBackup(t *testing.T) {
	for name, freshness := range modes {
		for _, key := range []string{"a", authentications} {
			bubble.Test(t, func(t *testing.T) {
				f := newFake()
				s := cache.NewShared(f, freshness)
				for _, state := range []guidon.Revision{
					{Number: 50, Stamp: 1}, {Number: 42, Stamp: 2}, {Number: 42, Stamp: 3}, {Number: 50, Stamp: 4}, {Number: 50, Stamp: 1},
				} {
					f.set(key, state.Number, state.Stamp)
					time.Sleep(freshness.MaxAge)
					for range 2 {
						if got := read(t.Context(), s, key); got.err != nil || got.revision != state {
							t.Errorf("%s: %s: got %v, want %v", name, key, got, state)
						}
					}
				}
				if got := len(f.loads); got != 5 {
					t.Errorf("%s: %s: %d loads, want one for each state", name, key, got)
				}
			})
		}
	}
}

// A backup is restored between a query and its load, to the very state whose revision
// the query returned. The state that the load brought before is not current.
func TestStrictRestoredToStatedRevision(t *testing.T) {
	f := newFake()
	s := cache.NewShared(f, cache.Freshness{})
	f.loadHook = func(context.Context, string) error { f.set("a", 2, 2); return nil }
	wantNumber(t, "later than the query", read(t.Context(), s, "a"), 2)
	f.loadHook = nil
	f.set("a", 1, 1)
	wantNumber(t, "restored", read(t.Context(), s, "a"), 1)
}

// The same while a load is running that has read the undone state: only callers from
// before the restore may get that.
func TestStrictRestoredDuringLoad(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f, gate := newFake(), make(chan struct{})
		s := cache.NewShared(f, cache.Freshness{})
		f.previous["a"] = guidon.Revision{Number: 2, Stamp: 2}
		f.loadHook = func(ctx context.Context, _ string) error { return pass(ctx, gate) }
		before := readAsync(t.Context(), s, "a")
		synctest.Wait()
		after := readAsync(t.Context(), s, "a")
		synctest.Wait()
		gate <- struct{}{}
		wantNumber(t, "before the restore", <-before, 2)
		synctest.Wait()
		delete(f.previous, "a")
		close(gate)
		wantNumber(t, "after the restore", <-after, 1)
	})
}

// A load that brings an older state than the query reported is rejected: query and load
// are repeated once.
func TestStrictLoadBringsLess(t *testing.T) {
	for name, old := range map[string]guidon.Revision{"older": {Number: 8, Stamp: 8}, "of another history": {Number: 9, Stamp: 8}} {
		f := newFake()
		s := cache.NewShared(f, cache.Freshness{})
		f.set("a", 9, 9)
		f.previous["a"] = old
		if got := read(t.Context(), s, "a"); !errors.Is(got.err, guidon.Unavailable) {
			t.Errorf("%s: got %v, want Unavailable", name, got)
		}
		if len(f.queried) != 2 || len(f.loads) != 2 {
			t.Errorf("%s: %d queries and %d loads, want 2 of each", name, len(f.queried), len(f.loads))
		}
		f.loads = nil
		f.loadHook = func(context.Context, string) error {
			if len(f.loads) == 2 {
				delete(f.previous, "a")
			}
			return nil
		}
		wantNumber(t, name, read(t.Context(), s, "a"), 9)
	}
}

// A deleted namespace is not found from then on, not even between the query and the
// load. One that is created again is a new one.
func TestStrictDeleted(t *testing.T) {
	f := newFake()
	s := cache.NewShared(f, cache.Freshness{})
	f.loadHook = func(context.Context, string) error { f.drop("a"); return nil }
	if got := read(t.Context(), s, "a"); !errors.Is(got.err, guidon.NotFound) {
		t.Errorf("deleted before the load: got %v, want NotFound", got)
	}
	f.loadHook = nil
	f.set("a", 3, 3)
	wantNumber(t, "again", read(t.Context(), s, "a"), 3)
	f.drop("a")
	if got := read(t.Context(), s, "a"); !errors.Is(got.err, guidon.NotFound) {
		t.Errorf("deleted: got %v, want NotFound", got)
	}
	f.set("a", 5, 5)
	wantNumber(t, "and again", read(t.Context(), s, "a"), 5)
	if got := f.held[len(f.held)-1]; got != (guidon.Revision{}) {
		t.Errorf("the load started from %v of the deleted namespace, want nothing", got)
	}
}

// Once a minute a query is about all cached keys, so that deleted namespaces do not
// stay in memory. Names that never existed are not cached.
func TestStrictDropsDeleted(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFake()
		s := cache.NewShared(f, cache.Freshness{})
		f.set("b", 1, 1)
		f.set("c", 1, 1)
		for _, key := range []string{"a", "b", "c"} {
			wantNumber(t, key, read(t.Context(), s, key), 1)
		}
		for i := range 100 {
			read(t.Context(), s, fmt.Sprint("unknown-", i))
		}
		f.drop("b")
		f.queried = nil
		for range 2 {
			read(t.Context(), s, "a")
			time.Sleep(time.Minute) // by the clock of the bubble
			read(t.Context(), s, "c")
		}
		want := [][]string{{"a"}, {"a", "b", "c"}, {"a"}, {"a", "c"}}
		if diff := cmp.Diff(want, f.queried); diff != "" {
			t.Errorf("queries (-want +got):\n%s", diff)
		}
	})
}

// The key of the authentications is not that of a namespace.
func TestStrictReservedKey(t *testing.T) {
	f := newFake()
	s := cache.NewShared(f, cache.Freshness{})
	f.set(authentications, 1, 1)
	if _, _, err := s.Snapshot(t.Context(), authentications, service.Demand{}); !errors.Is(err, guidon.NotFound) {
		t.Errorf("got %v, want NotFound", err)
	}
	if len(f.queried) != 0 {
		t.Errorf("queried %q, want nothing", f.queried)
	}
}
