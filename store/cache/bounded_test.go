package cache_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/bubble"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
	"github.com/guidonhq/guidon/store/storetest"
)

var bounded = cache.Freshness{MaxAge: time.Second}

// All writes are its own, so MaxAge never expires.
func TestBoundedConformance(t *testing.T) {
	storetest.RunAgain(t, func(t *testing.T) service.Store {
		return cache.NewShared(openSQLite(t), cache.Freshness{MaxAge: time.Hour})
	})
}

// A result is valid for MaxAge from the start of its query, however long that took, and
// no longer.
func TestBoundedAge(t *testing.T) {
	for _, key := range []string{"a", authentications} {
		bubble.Test(t, func(t *testing.T) {
			f := newFake()
			f.set(key, 1, 1)
			s := cache.NewShared(f, bounded)
			f.afterHook = func() { time.Sleep(200 * time.Millisecond) } // on the way back from the query and from the load
			wantNumber(t, "at first", read(t.Context(), s, key), 1)
			f.set(key, 2, 2)
			time.Sleep(600*time.Millisecond - time.Nanosecond)
			for range 100 {
				wantNumber(t, "within MaxAge", read(t.Context(), s, key), 1)
			}
			if got := f.queries(); got != 1 {
				t.Errorf("%d queries, want 1", got)
			}
			time.Sleep(time.Nanosecond)
			wantNumber(t, "after MaxAge", read(t.Context(), s, key), 2)
		})
	}
}

// Callers that find memory too old share one query, even one that is already running if
// it began late enough.
func TestBoundedSharesQueries(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f, gate := newFake(), make(chan struct{})
		s := cache.NewShared(f, bounded)
		wantNumber(t, "at first", read(t.Context(), s, "a"), 1)
		time.Sleep(time.Second)
		f.headsHook = func(ctx context.Context, _ []string) error { return pass(ctx, gate) }
		var answers []chan result
		for range 10 {
			answers = append(answers, readAsync(t.Context(), s, "a"))
			synctest.Wait()
		}
		close(gate)
		for _, answer := range answers {
			wantNumber(t, "together", <-answer, 1)
		}
		if got := f.queries(); got != 2 {
			t.Errorf("%d queries, want 2", got)
		}
	})
}

// The next request sees what was written through this instance, whatever query was
// running at the time, and whether or not the namespace was cached, or existed.
func TestBoundedOwnWrites(t *testing.T) {
	for _, key := range []string{"a", authentications, "new"} {
		for name, during := range map[string]bool{"while a query is running": true, "when it has ended": false} {
			t.Run(key+" "+name, func(t *testing.T) {
				bubble.Test(t, func(t *testing.T) {
					f, gate := newFake(), make(chan struct{})
					s := cache.NewShared(f, bounded)
					number := read(t.Context(), s, key).revision.Number
					time.Sleep(time.Second)
					f.afterHook = func() { <-gate }
					before := readAsync(t.Context(), s, key)
					synctest.Wait() // it has read, and is on its way back
					if err := write(t.Context(), s, key); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Millisecond)
					after := make(chan result, 1)
					if during {
						after = readAsync(t.Context(), s, key)
						synctest.Wait()
						close(gate)
						<-before
					} else {
						close(gate)
						<-before
						after <- read(t.Context(), s, key)
					}
					wantNumber(t, "after the write", <-after, number+1)
					wantNumber(t, "later", read(t.Context(), s, key), number+1)
				})
			})
		}
	}
}

// A failed write may have taken effect.
func TestBoundedUncertainWrite(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFake()
		s := cache.NewShared(f, bounded)
		wantNumber(t, "at first", read(t.Context(), s, "a"), 1)
		f.set("a", 2, 2)
		f.writeErr = guidon.Errorf(guidon.Unavailable, "the outcome is unknown")
		if err := write(t.Context(), s, "a"); !errors.Is(err, guidon.Unavailable) {
			t.Errorf("got %v, want the error", err)
		}
		wantNumber(t, "after the failure", read(t.Context(), s, "a"), 2)
	})
}

// A call that requires a fresh result gets one in every mode.
func TestFresh(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFake()
		s := cache.NewShared(f, bounded)
		wantNumber(t, "at first", read(t.Context(), s, "a"), 1)
		f.set("a", 2, 2)
		wantNumber(t, "not fresh", read(t.Context(), s, "a"), 1)
		wantNumber(t, "fresh", readAs(t.Context(), s, service.Demand{Fresh: true}, "a"), 2)
	})
}

// The loop queries ahead of time. No request waits, however long the query and the load
// take within their part of MaxAge, and no query runs while the cache is unused.
func TestRefresh(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFake()
		f.set("b", 1, 1)
		s := cache.NewShared(f, bounded)
		for _, key := range []string{"a", "b", authentications} {
			read(t.Context(), s, key)
			read(t.Context(), s, key) // the second read finds the slot
		}
		f.afterHook = func() { time.Sleep(50 * time.Millisecond) }
		ctx, cancel := context.WithCancel(t.Context())
		var loop sync.WaitGroup
		defer loop.Wait()
		defer cancel()
		loop.Go(func() {
			for ctx.Err() == nil {
				time.Sleep(600*time.Millisecond + rand.N(133*time.Millisecond))
				if err := s.Refresh(ctx, 833*time.Millisecond); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
		start, written := time.Now(), []time.Time{time.Now()}
		for time.Since(start) < 2*time.Minute {
			before := time.Now()
			if rand.N(100) == 0 {
				f.set("a", int64(len(written))+1, int64(len(written))+1)
				written = append(written, before)
			}
			got := read(t.Context(), s, "a")
			if time.Since(before) > 0 {
				t.Fatalf("a request waited for %v", time.Since(before))
			}
			if next := int(got.revision.Number); got.err != nil || next < len(written) && before.Sub(written[next]) > time.Second {
				t.Fatalf("got revision %d, %v, of %d, %v after the next", next, got.err, len(written), before.Sub(written[next]))
			}
			time.Sleep(10 * time.Millisecond)
		}
		f.mu.Lock()
		last := f.queried[len(f.queried)-1]
		f.mu.Unlock()
		if diff := cmp.Diff([]string{"a"}, last); diff != "" {
			t.Errorf("queried keys that were unused for two minutes (-want +got):\n%s", diff)
		}
		if got := f.queries(); got > 200 {
			t.Errorf("%d queries in two minutes", got)
		}
		time.Sleep(2 * time.Minute)
		idle := f.queries()
		time.Sleep(2 * time.Minute)
		if got := f.queries(); got != idle {
			t.Errorf("%d queries while the cache was unused", got-idle)
		}
	})
}

// An authenticated request queries the tokens and its namespace together, and still
// gets states from after its start.
func TestOneQueryForTokenAndNamespace(t *testing.T) {
	f := newFake()
	f.set(authentications, 5, 5)
	s := cache.NewShared(f, cache.Freshness{})
	for i := range 10 {
		before := f.queries()
		f.set("a", int64(i)+10, int64(i))
		f.set(authentications, int64(i)+10, int64(i))
		d := service.Demand{Begun: time.Now()}
		set, _, err := s.Authentications(t.Context(), d, "a")
		if err != nil || set.Revision().Number != int64(i)+10 {
			t.Errorf("tokens: got %v, %v, want revision %d", set, err, i+10)
		}
		wantNumber(t, "namespace", readAs(t.Context(), s, d, "a"), int64(i)+10)
		if got := f.queries() - before; got != 1 {
			t.Errorf("request %d: %d queries, want 1", i, got)
		}
		if err := write(t.Context(), s, "a"); err != nil {
			t.Fatal(err)
		}
		wantNumber(t, "after a write of the same request", readAs(t.Context(), s, d, "a"), int64(i)+11)
	}
}

// Names that do not exist leave nothing behind and cost at most one query at a time.
// Unknown tokens are looked up in the cached set.
func TestUnknownNamesLeaveNothing(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFake()
		s := cache.NewShared(f, bounded)
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				set, _, err := s.Authentications(t.Context(), service.Demand{Begun: time.Now()}, fmt.Sprint("unknown-", i))
				if err != nil || set.ByTokenHash(service.HashToken(fmt.Sprint("token-", i))) != nil {
					t.Errorf("got %v, %v", set, err)
				}
			})
		}
		wg.Wait()
		if got := f.queries(); got > 2 || f.highest[""] > 1 {
			t.Errorf("%d queries, %d concurrently, for 200 unknown tokens", got, f.highest[""])
		}
		time.Sleep(time.Minute)
		read(t.Context(), s, "a") // queries all cached keys
		if got := f.queried[len(f.queried)-1]; !cmp.Equal(got, []string{"a"}) {
			t.Errorf("queried %q, want only a", got)
		}
	})
}

// Whatever the interleaving, no result was out of date for MaxAge or more when its call
// began. None is older than a write of this instance that ended before, and no caller
// sees a revision go backwards.
func TestBoundedFreshness(t *testing.T) {
	const maxAge = 300 * time.Microsecond
	for seed := range uint64(200) {
		bubble.Test(t, func(t *testing.T) {
			h := newHistory(seed, "a", "b")
			h.linear = true
			s := cache.NewShared(h, cache.Freshness{MaxAge: maxAge})
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					last := map[string]int64{}
					for range 60 {
						key := []string{"a", "b"}[h.draw(2)]
						from := max(h.stateAt(key, time.Now().Add(-maxAge)), h.ownWrite(key))
						got := read(t.Context(), s, key)
						if wrong := h.explain(key, from, h.now(key), got); wrong != "" {
							t.Errorf("%s: %s", key, wrong)
						}
						if got.err == nil && got.revision.Number < last[key] {
							t.Errorf("%s: revision %d after %d", key, got.revision.Number, last[key])
						}
						last[key] = max(last[key], got.revision.Number)
						time.Sleep(time.Duration(h.draw(100)) * time.Microsecond)
					}
				})
			}
			wg.Go(func() {
				for range 60 {
					time.Sleep(time.Duration(h.draw(150)) * time.Microsecond)
					h.write([]string{"a", "b"}[h.draw(2)])
				}
			})
			wg.Go(func() {
				for range 10 {
					time.Sleep(time.Duration(h.draw(600)) * time.Microsecond)
					if err := write(t.Context(), s, []string{"a", "b"}[h.draw(2)]); err != nil {
						t.Error(err)
					}
				}
			})
			wg.Go(func() {
				for range 40 {
					time.Sleep(maxAge * 2 / 3)
					_ = s.Refresh(t.Context(), maxAge*9/10)
				}
			})
			wg.Wait()
			if h.highest[""] != 1 {
				t.Errorf("%d concurrent queries", h.highest[""])
			}
		})
		if t.Failed() {
			t.Fatalf("with seed %d", seed)
		}
	}
}
