package cache_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/store/cache"
)

var (
	away = guidon.Errorf(guidon.Unavailable, "away")

	// modes are all there are, with answers from memory for a minute.
	modes = map[string]cache.Freshness{
		"strict":  {MaxStale: time.Minute},
		"bounded": {MaxAge: time.Second, MaxStale: time.Minute},
	}
)

// refuse makes the database refuse, hang makes it not answer at all, and recover
// makes it answer again: questions that are under way go on as they began.
func (f *fake) refuse() { f.setHeadsHook(func(context.Context, []string) error { return away }) }

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

// staleCall returns a context for a read that accepts what is old.
func staleCall(t *testing.T) (context.Context, *guidon.Call) {
	call := &guidon.Call{MayBeStale: true}
	return guidon.WithCall(t.Context(), call), call
}

// wantStale asks and expects what was current so long ago, at once.
func wantStale(t *testing.T, s *cache.Shared, key string, number int64, age time.Duration) {
	t.Helper()
	ctx, call := staleCall(t)
	begin := time.Now()
	wantNumber(t, "from memory", read(ctx, s, key), number)
	if call.Stale != age {
		t.Errorf("the answer is said to be %v old, want %v", call.Stale, age)
	}
	if took := time.Since(begin); took > 0 {
		t.Errorf("it took %v", took)
	}
}

func wantUnavailable(t *testing.T, what string, got result) {
	t.Helper()
	if !errors.Is(got.err, guidon.Unavailable) {
		t.Errorf("%s: got revision %d, %v, want Unavailable", what, got.revision.Number, got.err)
	}
}

// While the database is away, calls that accept it are answered from memory, as
// old as that is and up to the limit, and all others are refused. When it
// answers again, so do we.
func TestOutage(t *testing.T) {
	for name, freshness := range modes {
		for _, key := range []string{"a", authentications} {
			t.Run(name+" "+key, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newFake()
					f.set(key, 1, 1)
					s := cache.NewShared(f, freshness)
					wantNumber(t, "at first", read(t.Context(), s, key), 1)
					if got := s.Outage(); got != 0 {
						t.Errorf("an outage of %v before there is any", got)
					}
					f.refuse()
					time.Sleep(10 * time.Second)
					f.set(key, 2, 2) // by another, who can reach the database
					wantStale(t, s, key, 1, 10*time.Second)
					wantStale(t, s, key, 1, 10*time.Second)
					wantUnavailable(t, "a read that does not accept it", read(t.Context(), s, key))
					wantUnavailable(t, "one that demands a fresh answer",
						read(guidon.WithCall(t.Context(), &guidon.Call{Fresh: true, MayBeStale: true}), s, key))
					ctx, _ := staleCall(t)
					wantUnavailable(t, "what is not in memory", read(ctx, s, "b"))
					if got := s.Outage(); got != 10*time.Second {
						t.Errorf("an outage of %v, want 10s", got)
					}
					if got := s.Stats().Stale; got != 2 {
						t.Errorf("%d stale answers were counted, want 2", got)
					}
					time.Sleep(50 * time.Second)
					wantStale(t, s, key, 1, time.Minute)
					time.Sleep(time.Second)
					wantUnavailable(t, "beyond the limit", read(ctx, s, key))

					f.recover()
					time.Sleep(100 * time.Millisecond)
					ctx, call := staleCall(t)
					wantNumber(t, "again", read(ctx, s, key), 2)
					if call.Stale != 0 || s.Outage() != 0 {
						t.Errorf("stale by %v, an outage of %v, after the end", call.Stale, s.Outage())
					}
				})
			})
		}
	}
}

func TestOutageWithoutStaleAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		s := cache.NewShared(f, cache.Freshness{})
		wantNumber(t, "at first", read(t.Context(), s, "a"), 1)
		f.refuse()
		ctx, _ := staleCall(t)
		wantUnavailable(t, "with the limit 0", read(ctx, s, "a"))
	})
}

// The database is slow. Who evaluates is answered from memory meanwhile, and the
// answers that take longer than that come all the same.
func TestSlowDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
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
		ctx, _ := staleCall(t)
		wantNumber(t, "the first to evaluate", read(ctx, s, "a"), 1)
		time.Sleep(10 * time.Second) // it led a question, which was asked anew
		for range 5 {
			ctx, call := staleCall(t)
			evaluation := readAsync(ctx, s, "a")
			synctest.Wait()
			read := readAsync(t.Context(), s, "a") // is for the next question
			wantNumber(t, "an evaluation", <-evaluation, 1)
			if call.Stale == 0 {
				t.Error("an evaluation waited for the database")
			}
			wantNumber(t, "a read", <-read, 1)
		}
	})
}

// The database hangs. The first wait for it, each for his bound, all others are
// answered at once, and it is asked by one at a time, until it answers again.
func TestHangingDatabase(t *testing.T) {
	for name, freshness := range modes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				s := cache.NewShared(f, freshness)
				wantNumber(t, "at first", read(t.Context(), s, "a"), 1)
				f.hang()
				time.Sleep(time.Second)
				begin := time.Now()
				ctx, call := staleCall(t)
				reads := []chan result{readAsync(t.Context(), s, "a")}
				synctest.Wait()
				reads = append(reads, readAsync(t.Context(), s, "a"))
				stale := []chan result{readAsync(ctx, s, "a")}
				time.Sleep(time.Second)
				late, _ := staleCall(t)
				stale = append(stale, readAsync(late, s, "a"))
				for _, answer := range stale {
					wantNumber(t, "the first to evaluate", <-answer, 1)
				}
				if took := time.Since(begin); took != 2*time.Second || call.Stale != 3*time.Second {
					t.Errorf("answered after %v, %v old, want 2s and 3s", took, call.Stale)
				}
				wantStale(t, s, "a", 1, 3*time.Second)
				for _, answer := range reads {
					wantUnavailable(t, "the first to read", <-answer)
				}
				if took := time.Since(begin); took != 5*time.Second {
					t.Errorf("refused after %v, want 5s", took)
				}

				// Every 10 ms somebody comes, for half a minute.
				var slowest time.Duration
				queries := f.queries()
				for range 3000 {
					begin := time.Now()
					ctx, _ := staleCall(t)
					wantNumber(t, "from memory", read(ctx, s, "a"), 1)
					wantUnavailable(t, "a read", read(t.Context(), s, "a"))
					slowest = max(slowest, time.Since(begin))
					time.Sleep(10 * time.Millisecond)
				}
				if slowest > 50*time.Millisecond {
					t.Errorf("somebody waited for %v", slowest)
				}
				if got := f.queries() - queries; got > 8 || f.highest[""] > 1 {
					t.Errorf("%d queries in half a minute, %d at once", got, f.highest[""])
				}
				f.set("a", 2, 2)
				f.recover()
				for range 600 { // one question may still hang
					time.Sleep(10 * time.Millisecond)
					ctx, call := staleCall(t)
					if got := read(ctx, s, "a"); call.Stale == 0 {
						wantNumber(t, "thawed", got, 2)
						return
					}
				}
				t.Error("no end of the outage was noticed in 6 s")
			})
		})
	}
}

// A slow answer is an answer: after a quiet time nobody takes an old failure for
// an outage.
func TestOutageIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		s := cache.NewShared(f, modes["strict"])
		wantNumber(t, "at first", read(t.Context(), s, "a"), 1)
		f.refuse()
		wantUnavailable(t, "away", read(t.Context(), s, "a"))
		f.recover()
		f.afterHook = func() { time.Sleep(time.Second) }
		f.set("a", 2, 2)
		time.Sleep(2 * time.Second)
		ctx, call := staleCall(t)
		wantNumber(t, "slow", read(ctx, s, "a"), 2)
		if call.Stale != 0 {
			t.Error("the answer is said to be stale")
		}
	})
}

// Writes are refused at once while the database is known to hang, and reach it
// as soon as that is over.
func TestWritesDuringOutage(t *testing.T) {
	for _, key := range []string{"a", authentications} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			s := cache.NewShared(f, modes["strict"])
			wantNumber(t, "at first", read(t.Context(), s, "a"), 1)
			f.hang()
			wantUnavailable(t, "away", read(t.Context(), s, "a"))
			for _, pause := range []time.Duration{0, 101 * time.Millisecond} { // after a failure, and while the next hangs
				time.Sleep(pause)
				if pause > 0 {
					readAsync(t.Context(), s, "a")
					time.Sleep(100 * time.Millisecond)
				}
				begin := time.Now()
				if err := write(t.Context(), s, key); !errors.Is(err, guidon.Unavailable) || time.Since(begin) > 0 {
					t.Errorf("got %v after %v, want Unavailable at once", err, time.Since(begin))
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

// What this instance has acknowledged is never followed by an older state: not
// even while the database is away. A write that failed changes nothing of that. If
// the state that was written is not known, there is no answer.
func TestOutageAfterUnmirroredWrite(t *testing.T) {
	for _, key := range []string{"a", authentications} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			f.set(key, 1, 1)
			s := cache.NewShared(f, modes["bounded"])
			wantNumber(t, "at first", read(t.Context(), s, key), 1)
			time.Sleep(time.Second)
			f.writeErr = away
			_ = write(t.Context(), s, key)
			f.refuse()
			wantStale(t, s, key, 1, time.Second)
			f.writeErr, f.unmirrored = nil, true
			time.Sleep(3 * time.Second)
			if err := write(t.Context(), s, key); err != nil {
				t.Fatal(err)
			}
			ctx, _ := staleCall(t)
			wantUnavailable(t, "from before the write", read(ctx, s, key))
		})
	}
}

// A cleanup of tokens that finds none has changed nothing: it has found the set that
// is held to be current.
func TestOutageAfterEmptyCleanup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		s := cache.NewShared(f, modes["bounded"])
		wantNumber(t, "at first", read(t.Context(), s, authentications), 0)
		time.Sleep(time.Second)
		err := s.UpdateAuthentications(t.Context(), func(context.Context, guidon.AuthenticationTx) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		f.refuse()
		time.Sleep(time.Second)
		wantStale(t, s, authentications, 0, time.Second)
	})
}

// The revision is known, the state cannot be had: that is an outage, too.
func TestOutageOfLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		s := cache.NewShared(f, modes["strict"])
		wantNumber(t, "at first", read(t.Context(), s, "a"), 1)
		f.set("a", 2, 2)
		f.loadHook = func(context.Context, string) error { return away }
		time.Sleep(time.Second)
		wantStale(t, s, "a", 1, time.Second)
		wantUnavailable(t, "a read", read(t.Context(), s, "a"))
		f.loadHook = nil
		ctx, call := staleCall(t)
		wantNumber(t, "again", read(ctx, s, "a"), 2)
		if call.Stale != 0 {
			t.Error("the answer is said to be stale")
		}
	})
}

// The loop notices the end of an outage without any request.
func TestRefreshProbes(t *testing.T) {
	for name, freshness := range modes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				s := cache.NewShared(f, freshness)
				wantNumber(t, "at first", read(t.Context(), s, "a"), 1)
				f.refuse()
				time.Sleep(time.Second)
				wantUnavailable(t, "away", read(t.Context(), s, "a"))
				time.Sleep(time.Second)
				if err := s.Refresh(t.Context(), 0); !errors.Is(err, guidon.Unavailable) {
					t.Errorf("got %v, want Unavailable", err)
				}
				f.recover()
				time.Sleep(time.Second)
				if err := s.Refresh(t.Context(), 0); err != nil || s.Outage() != 0 {
					t.Errorf("got %v, an outage of %v, want none", err, s.Outage())
				}
				queries := f.queries()
				time.Sleep(2 * time.Minute)
				if err := s.Refresh(t.Context(), time.Second); err != nil || f.queries() != queries {
					t.Errorf("%v, %d queries without a reason", err, f.queries()-queries)
				}
			})
		})
	}
}
