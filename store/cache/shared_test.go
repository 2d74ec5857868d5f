package cache_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/bubble"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
)

const authentications = service.AuthenticationsKey

// Callers that come while a query is running share the next one, whatever keys they
// request. It starts when the first has ended.
func TestStrictSharesQueries(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f, gate := newFake(), make(chan struct{})
		f.headsHook = func(ctx context.Context, _ []string) error { return pass(ctx, gate) }
		s := cache.NewShared(f, cache.Freshness{})
		f.set("b", 7, 1)
		first := readAsync(t.Context(), s, "a")
		synctest.Wait()
		f.set("a", 2, 2) // after the first query began, before the other callers came
		var later []chan result
		for range 10 {
			later = append(later, readAsync(t.Context(), s, "a"), readAsync(t.Context(), s, "b"),
				readAsync(t.Context(), s, authentications), readAsync(t.Context(), s, "nope"))
		}
		synctest.Wait()
		if got := len(f.queried); got != 1 {
			t.Fatalf("%d queries were run concurrently", got)
		}
		gate <- struct{}{}
		wantNumber(t, "first", <-first, 2) // its query had begun, but not yet read
		gate <- struct{}{}
		for i := 0; i < len(later); i += 4 {
			wantNumber(t, "a", <-later[i], 2)
			wantNumber(t, "b", <-later[i+1], 7)
			wantNumber(t, "authentications", <-later[i+2], 0)
			if got := <-later[i+3]; !errors.Is(got.err, guidon.NotFound) {
				t.Errorf("unknown: got %v, want NotFound", got.err)
			}
		}
		if diff := cmp.Diff([][]string{{"a"}, {authentications, "a", "b", "nope"}}, f.queried); diff != "" {
			t.Errorf("queries (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(map[string]int{"": 1, "a": 1, "b": 1, authentications: 1}, f.highest); diff != "" {
			t.Errorf("running concurrently (-want +got):\n%s", diff)
		}
		// A caller that returns from the query after the load has ended has a hit.
		if got := s.Stats(); got.Hits+got.Misses != 31 || got.Misses < 3 || len(f.loads) != 3 {
			t.Errorf("got stats %+v and loads %q, want 31 results from 3 loads", got, f.loads)
		}
	})
}

// A query that has read before a write, but has not ended, does not serve callers that
// came after the write.
func TestStrictQueryBeforeWrite(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f, gate := newFake(), make(chan struct{})
		s := cache.NewShared(f, cache.Freshness{})
		wantNumber(t, "at first", read(t.Context(), s, "a"), 1)
		f.afterHook = func() { <-gate }
		before := readAsync(t.Context(), s, "a")
		synctest.Wait()
		f.set("a", 2, 2)
		after := readAsync(t.Context(), s, "a")
		synctest.Wait()
		gate <- struct{}{}
		wantNumber(t, "before", <-before, 1)
		close(gate)
		wantNumber(t, "after", <-after, 2)
	})
}

// Callers that come while a load is running share the next one. It starts from the
// cached state, and costs nothing if that has the confirmed revision.
func TestStrictSharesLoads(t *testing.T) {
	for name, test := range map[string]struct {
		written int64 // during the load
		want    []guidon.Revision
	}{
		"unchanged": {2, []guidon.Revision{{}, {Number: 1, Stamp: 1}}},
		"overtaken": {3, []guidon.Revision{{}, {Number: 1, Stamp: 1}, {Number: 2, Stamp: 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				f, gate := newFake(), make(chan struct{})
				s := cache.NewShared(f, cache.Freshness{})
				wantNumber(t, "at first", read(t.Context(), s, "a"), 1)
				f.set("a", 2, 2)
				f.afterHook = func() {
					if f.running["a"] > 0 { // the load, which the gate blocks after it has read
						<-gate
					}
				}
				first := readAsync(t.Context(), s, "a")
				synctest.Wait()
				f.afterHook = nil // queries are not blocked
				later := []chan result{readAsync(t.Context(), s, "a")}
				synctest.Wait()
				f.set("a", test.written, test.written)
				later = append(later, readAsync(t.Context(), s, "a"), readAsync(t.Context(), s, "a"))
				synctest.Wait()
				close(gate)
				wantNumber(t, "first", <-first, 2)
				for _, answer := range later {
					wantNumber(t, "later", <-answer, test.written)
				}
				if diff := cmp.Diff(test.want, f.held); diff != "" || f.highest["a"] != 1 {
					t.Errorf("%d concurrent loads, started from (-want +got):\n%s", f.highest["a"], diff)
				}
			})
		})
	}
}

// A load may bring a later state than the query reported. The next query confirms it
// without another load.
func TestStrictLoadBringsMore(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFake()
		s := cache.NewShared(f, cache.Freshness{})
		f.loadHook = func(context.Context, string) error { f.set("a", 2, 2); return nil }
		wantNumber(t, "loaded", read(t.Context(), s, "a"), 2)
		wantNumber(t, "from memory", read(t.Context(), s, "a"), 2)
		if len(f.loads) != 1 {
			t.Errorf("%d loads, want 1", len(f.loads))
		}
	})
}

// An error goes to all callers that share the query or the load, and is not cached.
func TestStrictErrors(t *testing.T) {
	errUnavailable := guidon.Errorf(guidon.Unavailable, "unavailable")
	for name, breakIt := range map[string]func(f *fake, gate chan struct{}, fail func() error){
		"query": func(f *fake, gate chan struct{}, fail func() error) {
			f.headsHook = func(ctx context.Context, _ []string) error { return errors.Join(pass(ctx, gate), fail()) }
		},
		"load": func(f *fake, gate chan struct{}, fail func() error) {
			f.loadHook = func(ctx context.Context, _ string) error { return errors.Join(pass(ctx, gate), fail()) }
		},
	} {
		for how, fail := range map[string]func() error{
			"error": func() error { return errUnavailable },
			"panic": func() error { panic("out of order") },
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				bubble.Test(t, func(t *testing.T) {
					f, gate := newFake(), make(chan struct{})
					s := cache.NewShared(f, cache.Freshness{})
					breakIt(f, gate, fail)
					answers := []chan result{readAsync(t.Context(), s, "a")}
					synctest.Wait()
					for range 2 { // with a failing query these share the next one
						answers = append(answers, readAsync(t.Context(), s, "a"))
					}
					synctest.Wait()
					close(gate)
					for _, answer := range answers {
						got := <-answer
						if how == "error" && !errors.Is(got.err, guidon.Unavailable) || how == "panic" && guidon.CodeOf(got.err) != guidon.Internal {
							t.Errorf("got %v", got)
						}
					}
					f.headsHook, f.loadHook = nil, nil
					time.Sleep(100 * time.Millisecond) // the pause after a failure, by the clock of the bubble
					wantNumber(t, "again", read(t.Context(), s, "a"), 1)
				})
			})
		}
	}
}

// A cached state is not returned instead of an error, but the next load starts from it.
func TestStrictServesNothingOld(t *testing.T) { bubble.Test(t, testStrictServesNothingOld) }

func testStrictServesNothingOld(t *testing.T) {
	f := newFake()
	s := cache.NewShared(f, cache.Freshness{})
	wantNumber(t, "at first", read(t.Context(), s, "a"), 1)
	f.headsHook = func(context.Context, []string) error { return guidon.Errorf(guidon.Unavailable, "unavailable") }
	if got := read(t.Context(), s, "a"); !errors.Is(got.err, guidon.Unavailable) {
		t.Errorf("got %v, want Unavailable", got)
	}
	f.headsHook = nil
	time.Sleep(100 * time.Millisecond) // the pause after a failure, by the clock of the bubble
	wantNumber(t, "again", read(t.Context(), s, "a"), 1)
	if len(f.loads) != 1 {
		t.Errorf("%d loads, want 1: nothing has changed", len(f.loads))
	}
}

// Canceling one waiter does not cancel the others, and keys that only it requested are
// not queried.
func TestStrictCanceled(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f, gate := newFake(), make(chan struct{})
		f.headsHook = func(ctx context.Context, _ []string) error { return pass(ctx, gate) }
		s := cache.NewShared(f, cache.Freshness{})
		ctx, cancel := context.WithCancel(t.Context())
		leaves, stays := readAsync(ctx, s, "a"), readAsync(t.Context(), s, "a")
		synctest.Wait()
		leavesNext, staysNext := readAsync(ctx, s, "b"), readAsync(t.Context(), s, "a")
		leavesToo := readAsync(ctx, s, "a")
		synctest.Wait()
		cancel()
		for _, answer := range []chan result{leaves, leavesNext, leavesToo, readAsync(ctx, s, "c")} {
			if got := <-answer; !errors.Is(got.err, context.Canceled) {
				t.Errorf("got %v, want context.Canceled", got)
			}
		}
		close(gate)
		wantNumber(t, "the other waiter", <-stays, 1)
		wantNumber(t, "the other waiter of the next query", <-staysNext, 1)
		for _, keys := range f.queried {
			if !cmp.Equal(keys, []string{"a"}) {
				t.Errorf("queried %q, want only a", keys)
			}
		}
	})
}

// A query without waiters is canceled, and so is a next one that has not begun.
func TestStrictAbandoned(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFake()
		ended := make(chan error, 1)
		f.headsHook = func(ctx context.Context, _ []string) error {
			<-ctx.Done()
			ended <- ctx.Err()
			return ctx.Err()
		}
		s := cache.NewShared(f, cache.Freshness{})
		ctx, cancel := context.WithCancel(t.Context())
		first := readAsync(ctx, s, "a")
		synctest.Wait()
		ctxNext, cancelNext := context.WithCancel(t.Context())
		second := readAsync(ctxNext, s, "b")
		synctest.Wait()
		cancelNext()
		<-second
		cancel()
		<-first
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the query ended with %v", err)
		}
		synctest.Wait()
		f.headsHook = nil
		wantNumber(t, "the next caller", read(t.Context(), s, "a"), 1)
		if len(f.queried) != 2 {
			t.Errorf("queries %q, want none for the canceled callers", f.queried)
		}
	})
}

// A hanging database delays callers no longer than the query timeout, and is queried
// again.
func TestStrictTimeout(t *testing.T) {
	hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for _, test := range []struct {
		name    string
		breakIt func(f *fake)
		want    time.Duration
	}{
		{"query", func(f *fake) { f.headsHook = func(ctx context.Context, _ []string) error { return hang(ctx) } }, 5 * time.Second},
		{"load", func(f *fake) { f.loadHook = func(ctx context.Context, _ string) error { return hang(ctx) } }, 30 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				f := newFake()
				test.breakIt(f)
				s := cache.NewShared(f, cache.Freshness{})
				start := time.Now()
				got := read(t.Context(), s, "a")
				if !errors.Is(got.err, guidon.Unavailable) || time.Since(start) != test.want {
					t.Errorf("got %v after %v, want Unavailable after %v", got, time.Since(start), test.want)
				}
				f.headsHook, f.loadHook = nil, nil
				time.Sleep(100 * time.Millisecond) // the pause after a failure
				wantNumber(t, "recovered", read(t.Context(), s, "a"), 1)
			})
		})
	}
}
