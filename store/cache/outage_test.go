package cache_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/bubble"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
)

var (
	errUnavailable = guidon.Errorf(guidon.Unavailable, "unavailable")

	// modes are all modes, with results from memory for a minute.
	modes = map[string]cache.Freshness{
		"strict":  {MaxStale: time.Minute},
		"bounded": {MaxAge: time.Second, MaxStale: time.Minute},
	}
)

// refuse makes queries fail, hang makes them block, and recover makes them succeed
// again. Running queries are not affected.
func (f *fake) refuse() {
	f.setHeadsHook(func(context.Context, []string) error { return errUnavailable })
}

func (f *fake) hang() {
	f.setHeadsHook(func(ctx context.Context, _ []string) error {
		<-ctx.Done()
		return ctx.Err()
	})
}

func (f *fake) recover() { f.setHeadsHook(nil) }

func (f *fake) setHeadsHook(hook func(context.Context, []string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.headsHook = hook
}

// wantStale reads the key and wants a state of that age, immediately.
func wantStale(t *testing.T, s *cache.Shared, key string, number int64, age time.Duration) {
	t.Helper()
	begin := time.Now()
	got := readStale(t.Context(), s, key)
	wantNumber(t, "from memory", got, number)
	if got.age != age {
		t.Errorf("the result has the age %v, want %v", got.age, age)
	}
	if took := time.Since(begin); took > 0 {
		t.Errorf("the read took %v", took)
	}
}

func wantUnavailable(t *testing.T, what string, got result) {
	t.Helper()
	if !errors.Is(got.err, guidon.Unavailable) {
		t.Errorf("%s: got revision %d, %v, want Unavailable", what, got.revision.Number, got.err)
	}
}

// While the database is unavailable, calls that accept it get the state in memory with
// its age, up to the limit, and all others fail. When the database recovers, so does
// the cache.
func TestOutage(t *testing.T) {
	for name, freshness := range modes {
		for _, key := range []string{"a", authentications} {
			t.Run(name+" "+key, func(t *testing.T) {
				bubble.Test(t, func(t *testing.T) {
					f := newFake()
					f.set(key, 1, 1)
					s := cache.NewShared(f, freshness)
					wantNumber(t, "at first", read(t.Context(), s, key), 1)
					if got := s.Outage(); got != 0 {
						t.Errorf("Outage() = %v before the outage", got)
					}
					f.refuse()
					time.Sleep(10 * time.Second)
					f.set(key, 2, 2) // by another instance that can reach the database
					wantStale(t, s, key, 1, 10*time.Second)
					wantStale(t, s, key, 1, 10*time.Second)
					wantUnavailable(t, "a read that accepts no stale state", read(t.Context(), s, key))
					wantUnavailable(t, "a read that requires a fresh state",
						readAs(t.Context(), s, service.Demand{Fresh: true, MayBeStale: true}, key))
					wantUnavailable(t, "a namespace that is not in memory", readStale(t.Context(), s, "b"))
					if got := s.Outage(); got != 10*time.Second {
						t.Errorf("Outage() = %v, want 10s", got)
					}
					want := uint64(2)
					if key == authentications {
						want = 0 // only snapshots count
					}
					if got := s.Stats().Stale; got != want {
						t.Errorf("%d stale reads were counted, want %d", got, want)
					}
					time.Sleep(50 * time.Second)
					wantStale(t, s, key, 1, time.Minute)
					time.Sleep(time.Second)
					wantUnavailable(t, "beyond the limit", readStale(t.Context(), s, key))

					f.recover()
					time.Sleep(100 * time.Millisecond)
					again := readStale(t.Context(), s, key)
					wantNumber(t, "again", again, 2)
					if again.age != 0 || s.Outage() != 0 {
						t.Errorf("after the outage: stale by %v, Outage() = %v", again.age, s.Outage())
					}
				})
			})
		}
	}
}

func TestOutageWithoutStaleAnswers(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFake()
		s := cache.NewShared(f, cache.Freshness{})
		wantNumber(t, "at first", read(t.Context(), s, "a"), 1)
		f.refuse()
		wantUnavailable(t, "with the limit 0", readStale(t.Context(), s, "a"))
	})
}

// While the database is slow, evaluations get the state in memory. Results that take
// longer than they wait still arrive.
func TestSlowDatabase(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFake()
		s := cache.NewShared(f, cache.Freshness{MaxStale: time.Hour})
		wantNumber(t, "at first", read(t.Context(), s, "a"), 1)
		f.headsHook = func(ctx context.Context, _ []string) error {
			select {
			case <-time.After(3500 * time.Millisecond):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		wantNumber(t, "the first to evaluate", readStale(t.Context(), s, "a"), 1)
		time.Sleep(10 * time.Second) // it ran a query inline, which was then started again
		for range 5 {
			evaluation := readStaleAsync(t.Context(), s, "a")
			synctest.Wait()
			read := readAsync(t.Context(), s, "a") // waits for the next query
			evaluated := <-evaluation
			wantNumber(t, "an evaluation", evaluated, 1)
			if evaluated.age == 0 {
				t.Error("an evaluation waited for the database")
			}
			wantNumber(t, "a read", <-read, 1)
		}
	})
}

// While the database hangs, each of the first callers waits up to its limit and all
// others return immediately. One query at a time is tried until the database responds
// again.
func TestHangingDatabase(t *testing.T) {
	for name, freshness := range modes {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				f := newFake()
				s := cache.NewShared(f, freshness)
				wantNumber(t, "at first", read(t.Context(), s, "a"), 1)
				f.hang()
				time.Sleep(time.Second)
				begin := time.Now()
				reads := []chan result{readAsync(t.Context(), s, "a")}
				synctest.Wait()
				reads = append(reads, readAsync(t.Context(), s, "a"))
				stale := []chan result{readStaleAsync(t.Context(), s, "a")}
				time.Sleep(time.Second)
				stale = append(stale, readStaleAsync(t.Context(), s, "a"))
				first, late := <-stale[0], <-stale[1]
				wantNumber(t, "the first to evaluate", first, 1)
				wantNumber(t, "a second later", late, 1)
				if took := time.Since(begin); took != 2*time.Second || first.age != 3*time.Second {
					t.Errorf("got a state after %v that is %v old, want 2s and 3s", took, first.age)
				}
				wantStale(t, s, "a", 1, 3*time.Second)
				for _, answer := range reads {
					wantUnavailable(t, "the first to read", <-answer)
				}
				if took := time.Since(begin); took != 5*time.Second {
					t.Errorf("failed after %v, want 5s", took)
				}

				// A caller comes every 10 ms, for half a minute.
				var slowest time.Duration
				queries := f.queries()
				for range 3000 {
					begin := time.Now()
					wantNumber(t, "from memory", readStale(t.Context(), s, "a"), 1)
					wantUnavailable(t, "a read", read(t.Context(), s, "a"))
					slowest = max(slowest, time.Since(begin))
					time.Sleep(10 * time.Millisecond)
				}
				if slowest > 50*time.Millisecond {
					t.Errorf("a caller waited for %v", slowest)
				}
				if got := f.queries() - queries; got > 8 || f.highest[""] > 1 {
					t.Errorf("%d queries in half a minute, %d concurrently", got, f.highest[""])
				}
				f.set("a", 2, 2)
				f.recover()
				for range 600 { // one query may still hang
					time.Sleep(10 * time.Millisecond)
					if got := readStale(t.Context(), s, "a"); got.age == 0 {
						wantNumber(t, "recovered", got, 2)
						return
					}
				}
				t.Error("the end of the outage was not noticed in 6 s")
			})
		})
	}
}

// A slow response is a response: after a pause without queries an old failure does not
// count as an outage.
func TestOutageIsForgotten(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFake()
		s := cache.NewShared(f, modes["strict"])
		wantNumber(t, "at first", read(t.Context(), s, "a"), 1)
		f.refuse()
		wantUnavailable(t, "during the outage", read(t.Context(), s, "a"))
		f.recover()
		f.afterHook = func() { time.Sleep(time.Second) }
		f.set("a", 2, 2)
		time.Sleep(2 * time.Second)
		got := readStale(t.Context(), s, "a")
		wantNumber(t, "slow", got, 2)
		if got.age != 0 {
			t.Error("the result is marked as stale")
		}
	})
}

// Writes fail immediately while the database is known to hang, and reach it as soon as
// that is over.
func TestWritesDuringOutage(t *testing.T) {
	for _, key := range []string{"a", authentications} {
		bubble.Test(t, func(t *testing.T) {
			f := newFake()
			s := cache.NewShared(f, modes["strict"])
			wantNumber(t, "at first", read(t.Context(), s, "a"), 1)
			f.hang()
			wantUnavailable(t, "during the outage", read(t.Context(), s, "a"))
			for _, pause := range []time.Duration{0, 101 * time.Millisecond} { // after a failure, and while the next hangs
				time.Sleep(pause)
				if pause > 0 {
					readAsync(t.Context(), s, "a")
					time.Sleep(100 * time.Millisecond)
				}
				begin := time.Now()
				if err := write(t.Context(), s, key); !errors.Is(err, guidon.Unavailable) || time.Since(begin) > 0 {
					t.Errorf("got %v after %v, want Unavailable immediately", err, time.Since(begin))
				}
			}
			if f.writes != 0 {
				t.Errorf("%d writes reached the database", f.writes)
			}
			f.recover()
			time.Sleep(6 * time.Second)
			if err := write(t.Context(), s, key); err != nil {
				t.Errorf("after the outage: %v", err)
			}
		})
	}
}

// A state that this instance has acknowledged is never followed by an older one, not
// even while the database is unavailable. A failed write does not change that. If the
// written state is not known, reads fail.
func TestOutageAfterUnmirroredWrite(t *testing.T) {
	for _, key := range []string{"a", authentications} {
		bubble.Test(t, func(t *testing.T) {
			f := newFake()
			f.set(key, 1, 1)
			s := cache.NewShared(f, modes["bounded"])
			wantNumber(t, "at first", read(t.Context(), s, key), 1)
			time.Sleep(time.Second)
			f.writeErr = errUnavailable
			_ = write(t.Context(), s, key)
			f.refuse()
			wantStale(t, s, key, 1, time.Second)
			f.writeErr, f.unmirrored = nil, true
			time.Sleep(3 * time.Second)
			if err := write(t.Context(), s, key); err != nil {
				t.Fatal(err)
			}
			wantUnavailable(t, "after the write", readStale(t.Context(), s, key))
		})
	}
}

// A cleanup that finds no expired tokens has changed nothing, and confirms the cached
// set.
func TestOutageAfterEmptyCleanup(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFake()
		s := cache.NewShared(f, modes["bounded"])
		wantNumber(t, "at first", read(t.Context(), s, authentications), 0)
		time.Sleep(time.Second)
		err := s.UpdateAuthentications(t.Context(), service.Write{}, func(context.Context, service.AuthenticationTx) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		f.refuse()
		time.Sleep(time.Second)
		wantStale(t, s, authentications, 0, time.Second)
	})
}

// It is an outage, too, if the revision is known but the state cannot be loaded.
func TestOutageOfLoads(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFake()
		s := cache.NewShared(f, modes["strict"])
		wantNumber(t, "at first", read(t.Context(), s, "a"), 1)
		f.set("a", 2, 2)
		f.loadHook = func(context.Context, string) error { return errUnavailable }
		time.Sleep(time.Second)
		wantStale(t, s, "a", 1, time.Second)
		wantUnavailable(t, "a read", read(t.Context(), s, "a"))
		f.loadHook = nil
		got := readStale(t.Context(), s, "a")
		wantNumber(t, "again", got, 2)
		if got.age != 0 {
			t.Error("the result is marked as stale")
		}
	})
}

// The loop notices the end of an outage without any request.
func TestRefreshProbes(t *testing.T) {
	for name, freshness := range modes {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				f := newFake()
				s := cache.NewShared(f, freshness)
				wantNumber(t, "at first", read(t.Context(), s, "a"), 1)
				f.refuse()
				time.Sleep(time.Second)
				wantUnavailable(t, "during the outage", read(t.Context(), s, "a"))
				time.Sleep(time.Second)
				if err := s.Refresh(t.Context(), 0); !errors.Is(err, guidon.Unavailable) {
					t.Errorf("got %v, want Unavailable", err)
				}
				f.recover()
				time.Sleep(time.Second)
				if err := s.Refresh(t.Context(), 0); err != nil || s.Outage() != 0 {
					t.Errorf("got %v, Outage() = %v, want no error and 0", err, s.Outage())
				}
				queries := f.queries()
				time.Sleep(2 * time.Minute)
				if err := s.Refresh(t.Context(), time.Second); err != nil || f.queries() != queries {
					t.Errorf("got %v, %d unnecessary queries", err, f.queries()-queries)
				}
			})
		})
	}
}
