package cache_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/bubble"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
)

// This instance knows the states that it has written, even if the database never
// responds again, regardless of who wrote before.
func TestOutageAfterOwnWrite(t *testing.T) {
	for name, freshness := range modes {
		for _, key := range []string{"a", authentications, "new"} {
			t.Run(name+" "+key, func(t *testing.T) {
				bubble.Test(t, func(t *testing.T) {
					f := newFake()
					s := cache.NewShared(f, freshness)
					before := read(t.Context(), s, key).revision.Number
					if key != "new" {
						before++
						f.set(key, before, before) // by another instance
					}
					time.Sleep(3 * time.Second)
					if err := write(t.Context(), s, key); err != nil {
						t.Fatal(err)
					}
					f.refuse()
					f.loadHook = func(context.Context, string) error { return errUnavailable }
					time.Sleep(10 * time.Second)
					wantStale(t, s, key, before+1, 10*time.Second)
					f.writeErr = errUnavailable
					_ = write(t.Context(), s, key) // which does not change that
					wantStale(t, s, key, before+1, 10*time.Second)
				})
			})
		}
	}
}

// The state after a write to something that was never requested from this instance is
// known as well.
func TestOutageAfterFirstWrite(t *testing.T) {
	for _, key := range []string{"a", authentications} {
		bubble.Test(t, func(t *testing.T) {
			f := newFake()
			f.set(key, 1, 1)
			s := cache.NewShared(f, modes["strict"])
			if err := write(t.Context(), s, key); err != nil {
				t.Fatal(err)
			}
			f.refuse()
			time.Sleep(time.Second)
			wantStale(t, s, key, 2, time.Second)
		})
	}
}

// With cold writes, the first write queries and loads nothing. Its state is unknown
// during an outage, and no earlier state takes its place.
func TestColdWrite(t *testing.T) {
	for _, key := range []string{"a", authentications} {
		bubble.Test(t, func(t *testing.T) {
			f := newFake()
			f.set(key, 1, 1)
			s := cache.NewShared(f, cache.Freshness{MaxStale: time.Minute, ColdWrites: true})
			if err := write(t.Context(), s, key); err != nil {
				t.Fatal(err)
			}
			if f.queries() > 0 || len(f.loads) > 0 {
				t.Errorf("%s: the write ran %d queries and loaded %v, want none", key, f.queries(), f.loads)
			}
			f.writeErr = errUnavailable
			f.refuse()
			time.Sleep(time.Second)
			if got := readStale(t.Context(), s, key); guidon.CodeOf(got.err) != guidon.Unavailable {
				t.Errorf("%s: during the outage: got %v, want Unavailable", key, got)
			}
			f.writeErr = nil
			f.recover()
			time.Sleep(time.Second)
			wantNumber(t, "after the outage", read(t.Context(), s, key), 2)
			if err := write(t.Context(), s, key); err != nil { // it is in memory now
				t.Fatal(err)
			}
			f.refuse()
			time.Sleep(time.Second)
			wantStale(t, s, key, 3, time.Second)
		})
	}
}

// A namespace that was deleted through this instance does not exist, and does not
// reappear before the database says so.
func TestOutageAfterDeletion(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFake()
		s := cache.NewShared(f, modes["strict"])
		wantNumber(t, "at first", read(t.Context(), s, "a"), 1)
		f.deleting = true
		if err := write(t.Context(), s, "a"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if got := read(t.Context(), s, "a"); !errors.Is(got.err, guidon.NotFound) {
			t.Errorf("confirmed by the database: got %v, want NotFound", got)
		}
		f.refuse()
		time.Sleep(time.Second)
		if got := readStale(t.Context(), s, "a"); !errors.Is(got.err, guidon.NotFound) {
			t.Errorf("during the outage: got %v, want NotFound", got)
		}
		f.recover()
		time.Sleep(time.Second)
		if got := read(t.Context(), s, "a"); !errors.Is(got.err, guidon.NotFound) {
			t.Errorf("after the outage: got %v, want NotFound", got)
		}
		f.set("a", 3, 3)
		wantNumber(t, "created by another instance", read(t.Context(), s, "a"), 3)
		f.drop("a")
		read(t.Context(), s, "a")
		time.Sleep(2 * time.Minute)
		read(t.Context(), s, "b")
		time.Sleep(2 * time.Minute)
		read(t.Context(), s, "b") // queries all cached keys
		if got := f.queried[len(f.queried)-1]; len(got) != 1 {
			t.Errorf("queried %q, want only b", got)
		}
	})
}

// A reader whose query found no namespace gets the one that this instance has created
// in the meantime.
func TestOwnCreationDuringQuery(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		f := newFake()
		s := cache.NewShared(f, modes["strict"])
		read(t.Context(), s, "new")
		f.beforeCommit, f.afterCommit = func() { time.Sleep(time.Second) }, func() { time.Sleep(time.Second) }
		written := make(chan error, 1)
		go func() { written <- write(t.Context(), s, "new") }()
		time.Sleep(500 * time.Millisecond) // before the commit
		synctest.Wait()
		f.loadHook = func(context.Context, string) error { return errUnavailable }
		f.afterHook = func() { time.Sleep(1700 * time.Millisecond) }
		query := readAsync(t.Context(), s, "new")
		if err := <-written; err != nil {
			t.Fatal(err)
		}
		f.refuse()
		wantNumber(t, "a reader during the write", <-query, 1)
		time.Sleep(time.Second)
		wantNumber(t, "the new namespace", readStale(t.Context(), s, "new"), 1)
	})
}

// After a write nothing is loaded. In strict mode each read queries the revision; in
// bounded mode none does while the write is recent.
func TestOwnWriteIsNotLoaded(t *testing.T) {
	for name, queries := range map[string]int{"strict": 20, "bounded": 0} {
		bubble.Test(t, func(t *testing.T) {
			f := newFake()
			s := cache.NewShared(f, modes[name])
			wantNumber(t, "at first", read(t.Context(), s, "a"), 1)
			before := f.queries()
			for i := range int64(20) {
				if err := write(t.Context(), s, "a"); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Millisecond)
				wantNumber(t, name, read(t.Context(), s, "a"), i+2)
			}
			if got := f.queries() - before; got != queries || len(f.loads) != 1 {
				t.Errorf("%s: %d queries and %d loads, want %d and 1", name, got, len(f.loads), queries)
			}
		})
	}
}

// A query or a load runs while a write commits and advances its mirror, in every order.
// Whatever it returns, the written state stays.
func TestOwnWriteDuringQuery(t *testing.T) {
	const last = 3 // seconds; the reader starts after the first and ends after the second
	for _, what := range []string{"query", "load"} {
		for commit := range last + 1 {
			for mirror := commit; mirror <= last; mirror++ {
				t.Run(fmt.Sprint(what, " ", commit, " ", mirror), func(t *testing.T) {
					bubble.Test(t, func(t *testing.T) {
						f := newFake()
						s := cache.NewShared(f, modes["strict"])
						wantNumber(t, "at first", read(t.Context(), s, "a"), 1)
						start := int64(1)
						if what == "load" {
							start = 2
							f.set("a", start, start)
						}
						time.Sleep(time.Second)
						f.beforeCommit, f.afterCommit = waitUntil(time.Duration(commit)*time.Second+time.Millisecond), waitUntil(time.Duration(mirror)*time.Second+2*time.Millisecond)
						begins, ends := waitUntil(time.Second), waitUntil(2*time.Second)
						if what == "query" {
							f.headsHook = func(context.Context, []string) error { begins(); return nil }
						} else {
							f.loadHook = func(context.Context, string) error { begins(); return nil }
						}
						f.afterHook = func() {
							if what == "query" || len(f.loads) == 2 {
								ends()
							}
						}
						written := make(chan error, 1)
						go func() { written <- write(t.Context(), s, "a") }()
						synctest.Wait()
						if got := readStale(t.Context(), s, "a"); got.err != nil || got.revision.Number < start {
							t.Errorf("the reader got %v, want revision %d at least", got, start)
						}
						if err := <-written; err != nil {
							t.Fatal(err)
						}
						wantNumber(t, "after the write", readStale(t.Context(), s, "a"), start+1)
						f.refuse()
						f.loadHook = func(context.Context, string) error { return errUnavailable }
						time.Sleep(time.Second)
						wantNumber(t, "during the outage", readStale(t.Context(), s, "a"), start+1)
					})
				})
			}
		}
	}
}

// waitUntil returns a function that waits until d after now.
func waitUntil(d time.Duration) func() {
	end := time.Now().Add(d)
	return func() { time.Sleep(time.Until(end)) }
}

// Many writes without a read cost one computation, and snapshots that were read before
// stay as they were.
func TestWritesInARow(t *testing.T) {
	s := newSource(t)
	c := cache.New(s)
	before := get(t, c, "default")
	for n := range 2500 { // more than are computed lazily
		put(t, c, fmt.Sprint("flag-", n%2000))
		if n == 100 && len(get(t, c, "default").Flags()) != 101 {
			t.Error("the writes so far are not visible")
		}
	}
	if got := len(get(t, c, "default").Flags()); got != 2000 || len(before.Flags()) != 0 {
		t.Errorf("%d flags now and %d before, want 2000 and 0", got, len(before.Flags()))
	}
	if got := s.calls["Load"]; got != 1 {
		t.Errorf("%d loads, want 1", got)
	}
}

// With SQLite the state after any write is in memory, so that nothing more is read.
func TestNoQueriesAfterWrites(t *testing.T) {
	s := newSource(t)
	c := cache.New(s)
	svc := service.NewService(c, time.Now)
	put(t, c, "f")
	before := s.total()
	for name, write := range map[string]func(ctx context.Context) error{
		"create namespace": func(ctx context.Context) error {
			_, _, err := svc.CreateNamespace(ctx, service.Write{}, service.NamespaceInput{Key: "other", Name: "Other"})
			return err
		},
		"delete flag": func(ctx context.Context) error {
			_, err := svc.DeleteFlag(ctx, service.Write{}, "default", "f")
			return err
		},
	} {
		if err := write(t.Context()); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	token, created, err := svc.CreateToken(t.Context(), service.Write{}, service.TokenInput{Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	known := s.total() // the tokens were read before that write
	s.fail = errUnavailable
	if _, _, err := svc.Authenticate(t.Context(), service.Demand{}, "", token); err != nil {
		t.Errorf("the new token: %v", err)
	}
	for _, namespace := range []string{"default", "other"} {
		if got := len(get(t, c, namespace).Flags()); got != 0 {
			t.Errorf("%s has %d flags, want none", namespace, got)
		}
	}
	if _, err := svc.DeleteNamespace(t.Context(), service.Write{}, "other", true); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Snapshot(t.Context(), "other", service.Demand{}); !errors.Is(err, guidon.NotFound) {
		t.Errorf("the deleted namespace: got %v, want NotFound", err)
	}
	if err := svc.DeleteAuthentication(t.Context(), service.Write{}, created.ID); err != nil {
		t.Fatal(err)
	}
	if _, _, err := svc.Authenticate(t.Context(), service.Demand{}, "", token); !errors.Is(err, guidon.Unauthenticated) {
		t.Errorf("the deleted token: got %v, want Unauthenticated", err)
	}
	if got := s.total(); got != known || known-before > 1 {
		t.Errorf("%d calls to the source after %d, want none more", got, known)
	}
}

// Writers that share commits, some of which fail, leave the stored state in memory.
func TestOwnWritesOfGroups(t *testing.T) {
	s := newSource(t)
	c := cache.New(s)
	get(t, c, "default")
	failed := errors.New("failed")
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			for n := range 25 {
				_, err := c.Update(t.Context(), "default", service.Write{}, func(ctx context.Context, tx service.Tx) error {
					if err := tx.PutFlag(ctx, &guidon.Flag{Key: fmt.Sprint("flag-", (w+n)%20), Name: fmt.Sprint(w, n)}); err != nil || n%5 > 0 {
						return err
					}
					return failed
				})
				if wantFailed := n%5 == 0; errors.Is(err, failed) != wantFailed || err != nil && !wantFailed {
					t.Errorf("write %d: %v", n, err)
				}
			}
		})
	}
	wg.Wait()
	got := get(t, c, "default")
	loads := s.calls["Load"]
	want, _, err := s.DB.Snapshot(t.Context(), "default", service.Demand{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Flags(), got.Flags()); diff != "" || want.Revision() != got.Revision() {
		t.Errorf("at %v, want %v (-stored +cached):\n%s", got.Revision(), want.Revision(), diff)
	}
	if loads != 1 {
		t.Errorf("%d loads, want 1", loads)
	}
}
