package cache_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/cache"
	"github.com/guidonhq/guidon/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.RunAgain(t, func(t *testing.T) service.Store { return cache.New(openSQLite(t)) })
}

func TestAdditions(t *testing.T) {
	db := openSQLite(t)
	storetest.RunAdditions(t, cache.New(db), db.SQL(), func(t *testing.T) {
		if _, err := migrate.Additions(t.Context(), db.SQL(), db.Dialect()); err != nil {
			t.Fatal(err)
		}
	})
}

func openSQLite(t testing.TB) *store.DB {
	t.Helper()
	return storetest.NewSQLite(t)
}

func put(t testing.TB, s service.Store, key string) int64 {
	t.Helper()
	revision, err := s.Update(t.Context(), "default", service.Write{}, func(ctx context.Context, tx service.Tx) error {
		return tx.PutFlag(ctx, &guidon.Flag{Key: key})
	})
	if err != nil {
		t.Fatal(err)
	}
	return revision
}

func get(t testing.TB, s service.Store, namespace string) *guidon.Snapshot {
	t.Helper()
	shot, _, err := s.Snapshot(t.Context(), namespace, service.Demand{})
	if err != nil {
		t.Fatal(err)
	}
	return shot
}

func tokens(t testing.TB, s service.Store) *service.AuthenticationSet {
	t.Helper()
	set, _, err := s.Authentications(t.Context(), service.Demand{}, "")
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func putToken(t testing.TB, s service.Store, id string) {
	t.Helper()
	err := s.UpdateAuthentications(t.Context(), service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
		return tx.PutAuthentication(ctx, &service.Authentication{ID: id, Method: service.MethodToken, TokenHash: "hash of " + id})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func deleteToken(t testing.TB, s service.Store, id string) {
	t.Helper()
	err := s.UpdateAuthentications(t.Context(), service.Write{}, func(ctx context.Context, tx service.AuthenticationTx) error {
		return tx.DeleteAuthentication(ctx, id)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A state that has not changed costs the source nothing, nor do names that do not
// exist.
func TestUnchangedCostsNothing(t *testing.T) {
	s := newSource(t)
	c := cache.New(s)
	get(t, c, "default")
	if _, _, err := c.Authentications(t.Context(), service.Demand{}, ""); err != nil {
		t.Fatal(err)
	}
	before := s.total()
	for i := range 100 {
		get(t, c, "default")
		if _, _, err := c.Snapshot(t.Context(), fmt.Sprint("unknown-", i), service.Demand{}); !errors.Is(err, guidon.NotFound) {
			t.Fatalf("got %v, want NotFound", err)
		}
		if _, _, err := c.Authentications(t.Context(), service.Demand{}, ""); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Namespaces(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.total(); before != 3 || got != before {
		t.Errorf("%d calls to the source, then %d more", before, got-before)
	}
	if got, want := c.Stats(), (cache.Stats{Hits: 200, Misses: 2}); got != want {
		t.Errorf("got stats %+v, want %+v", got, want)
	}
}

// A write reloads neither its own namespace, nor the list of them, nor another
// namespace.
func TestWriteReloadsNothing(t *testing.T) {
	s := newSource(t)
	c := cache.New(s)
	get(t, c, "default")
	before := s.total()
	_, err := c.Update(t.Context(), "other", service.Write{}, func(ctx context.Context, tx service.Tx) error {
		return tx.PutNamespace(ctx, &guidon.Namespace{Key: "other", Name: "Other"})
	})
	if err != nil {
		t.Fatal(err)
	}
	other := get(t, c, "other")
	put(t, c, "a")
	if get(t, c, "default").Flag("a") == nil {
		t.Error("the write is not visible")
	}
	if get(t, c, "other") != other {
		t.Error("a write to one namespace reloaded another")
	}
	if list, err := c.Namespaces(t.Context()); err != nil || len(list) != 2 {
		t.Errorf("%v, %d namespaces, want 2", err, len(list))
	}
	if got := s.total() - before; got != 0 {
		t.Errorf("%d calls to the source after the first load, want 0: %v", got, s.calls)
	}
}

// After a write that does not advance its mirror the next reader loads, starting from
// the cached snapshot.
func TestUnmirroredWrite(t *testing.T) {
	s := newSource(t)
	s.unmirrored = true
	c := cache.New(s)
	first := get(t, c, "default")
	put(t, c, "a")
	if get(t, c, "default").Flag("a") == nil {
		t.Error("the write is not visible")
	}
	if got := s.held[len(s.held)-1]; got != first {
		t.Errorf("the reload started from %v, want the cached snapshot", got)
	}
	if got := s.calls["Namespaces"]; got != 2 {
		t.Errorf("the namespaces were listed %d times, want 2: the write may have changed them", got)
	}

	held := tokens(t, c)
	putToken(t, c, "a")
	if tokens(t, c).ByID("a") == nil {
		t.Error("the new token is not visible")
	}
	if got := s.heldTokens[len(s.heldTokens)-1]; got != held {
		t.Errorf("the reload started from %v, want the cached set", got)
	}
}

func TestConcurrentMissesShareOneLoad(t *testing.T) {
	s := newSource(t)
	s.began, s.gate = make(chan struct{}, 10), make(chan struct{})
	c := cache.New(s)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { get(t, c, "default") })
	}
	<-s.began
	close(s.gate)
	wg.Wait()
	if got := s.calls["Load"]; got != 1 { // all goroutines have ended
		t.Errorf("%d loads, want 1", got)
	}
}

// Canceling one of two waiters does not cancel the load for the other.
func TestCanceledWaiterLeavesTheOthers(t *testing.T) {
	s := newSource(t)
	s.began, s.gate = make(chan struct{}, 10), make(chan struct{})
	c := cache.New(s)
	ctx, cancel := context.WithCancel(t.Context())
	first, second := make(chan error, 1), make(chan error, 1)
	go func() {
		_, _, err := c.Snapshot(ctx, "default", service.Demand{})
		first <- err
	}()
	<-s.began // the load is running with the values of the first context
	go func() {
		_, _, err := c.Snapshot(t.Context(), "default", service.Demand{})
		second <- err
	}()
	for c.Stats().Misses < 2 { // the second is about to wait: it joins the load or starts another
		runtime.Gosched()
	}
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("first: got %v, want context.Canceled", err)
	}
	close(s.gate)
	if err := <-second; err != nil {
		t.Errorf("second: %v", err)
	}
}

// A load without waiters is canceled, and the next reader is served by a load of its
// own.
func TestAbandonedLoadEnds(t *testing.T) {
	s := newSource(t)
	s.began, s.gate = make(chan struct{}, 10), make(chan struct{})
	c := cache.New(s)
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, _, err := c.Snapshot(ctx, "default", service.Demand{})
		first <- err
	}()
	<-s.began
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	second := make(chan error, 1)
	go func() {
		_, _, err := c.Snapshot(t.Context(), "default", service.Demand{})
		second <- err
	}()
	<-s.began // a second load has begun, so the first has ended
	s.mu.Lock()
	ended := s.ended
	s.mu.Unlock()
	if len(ended) != 1 || !errors.Is(ended[0], context.Canceled) {
		t.Errorf("the abandoned load ended with %v", ended)
	}
	close(s.gate)
	if err := <-second; err != nil {
		t.Error(err)
	}
}

// A load reads, then a write commits, then the load ends. The loaded state must not
// count as current, whether or not the effect of the write is known.
func TestLoadOvertakenByWrite(t *testing.T) {
	for _, unmirrored := range []bool{true, false} {
		s := newSource(t)
		c := cache.New(s)
		get(t, c, "default")
		s.unmirrored = true
		put(t, c, "old") // so that the next read loads
		s.read, s.after = make(chan struct{}, 10), make(chan struct{})
		old := make(chan *guidon.Snapshot, 1)
		go func() { old <- get(t, c, "default") }()
		<-s.read
		s.unmirrored = unmirrored
		written := put(t, c, "a")

		// A new reader must not be served by that load.
		fresh := make(chan *guidon.Snapshot, 1)
		go func() { fresh <- get(t, c, "default") }()
		if !unmirrored {
			if got := (<-fresh).Revision().Number; got != written {
				t.Errorf("got revision %d while a load was running, after %d was acknowledged", got, written)
			}
		}
		s.after <- struct{}{}
		if got := (<-old).Revision().Number; got != written-1 {
			t.Errorf("the reader from before the write got revision %d, want what its load read, %d", got, written-1)
		}
		if unmirrored {
			<-s.read
			s.after <- struct{}{}
			if got := (<-fresh).Revision().Number; got != written {
				t.Errorf("got revision %d after %d was acknowledged", got, written)
			}
		}
		if got := get(t, c, "default").Revision().Number; got != written {
			t.Errorf("got revision %d from memory, want %d", got, written)
		}
	}
}

// No stale state is returned instead of an error, and errors are not cached.
func TestLoadFails(t *testing.T) {
	s := newSource(t)
	s.unmirrored = true
	c := cache.New(s)
	get(t, c, "default")
	put(t, c, "a")
	s.fail = guidon.Errorf(guidon.Unavailable, "unavailable")
	if _, _, err := c.Snapshot(t.Context(), "default", service.Demand{}); !errors.Is(err, guidon.Unavailable) {
		t.Errorf("got %v, want the source's error", err)
	}
	s.fail = nil
	if get(t, c, "default").Flag("a") == nil {
		t.Error("the write is not visible")
	}
}

// A failed commit may have taken effect.
func TestUncertainCommit(t *testing.T) {
	s := &uncertain{DB: openSQLite(t)}
	c := cache.New(s)
	get(t, c, "default")
	_, err := c.Update(t.Context(), "default", service.Write{}, func(ctx context.Context, tx service.Tx) error {
		return tx.PutFlag(ctx, &guidon.Flag{Key: "a"})
	})
	if !errors.Is(err, guidon.Unavailable) {
		t.Fatalf("got %v, want Unavailable", err)
	}
	if get(t, c, "default").Flag("a") == nil {
		t.Error("the write took effect but is not visible")
	}
}

// uncertain commits, and then returns an error.
type uncertain struct{ *store.DB }

func (s *uncertain) UpdateMirrored(ctx context.Context, namespace string, w service.Write, _ service.Mirror[guidon.SnapshotDelta], fn func(ctx context.Context, tx service.Tx) error) (int64, error) {
	if revision, err := s.DB.Update(ctx, namespace, w, fn); err != nil {
		return revision, err
	}
	return 0, guidon.Errorf(guidon.Unavailable, "connection lost")
}

// Every evaluation reads a snapshot and the authentications.
func TestHitsDoNotAllocate(t *testing.T) {
	c := cache.New(openSQLite(t))
	get(t, c, "default")
	if _, _, err := c.Authentications(t.Context(), service.Demand{}, ""); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	if n := testing.AllocsPerRun(1000, func() {
		_, _, _ = c.Snapshot(ctx, "default", service.Demand{})
		_, _, _ = c.Authentications(ctx, service.Demand{}, "")
		_, _ = c.Namespaces(ctx)
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func BenchmarkHit(b *testing.B) {
	c := cache.New(openSQLite(b))
	ctx := b.Context()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, _, err := c.Snapshot(ctx, "default", service.Demand{}); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
