package kubernetes_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/kubernetes"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/handler/login/provider"
)

// gate makes reviews wait until it is opened.
type gate struct{ entered, open chan struct{} }

func newGate(f *fixture) *gate {
	g := &gate{entered: make(chan struct{}, 100), open: make(chan struct{})}
	f.server.Change(func(*logintest.TokenReview) {
		g.entered <- struct{}{}
		<-g.open
	})
	return g
}

// numbered returns different tokens.
func (f *fixture) numbered(i int) string { return f.token(map[string]any{"jti": fmt.Sprint(i)}) }

// waitFor waits until the condition holds.
func waitFor(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !condition(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited too long for %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestEqualTokens: equal tokens at the same time share one review, and later ones do not.
func TestEqualTokens(t *testing.T) {
	f := newFixture(t, nil)
	g, token := newGate(f), f.token(nil)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { f.accept(t, "shared", token) })
	}
	<-g.entered
	waitFor(t, "20 waiters", func() bool { return f.Waiters() == 20 })
	close(g.open)
	all.Wait()
	if n := len(f.server.Reviews()); n != 1 {
		t.Errorf("%d reviews, want 1", n)
	}
	f.accept(t, "later", token)
	if n := len(f.server.Reviews()); n != 2 {
		t.Errorf("%d reviews, want another one", n)
	}
}

// TestLeavingWaiter: a caller that leaves takes nobody along, not even the first.
func TestLeavingWaiter(t *testing.T) {
	f := newFixture(t, nil)
	g, token := newGate(f), f.token(nil)
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error)
	go func() {
		_, err := f.Verify(ctx, token)
		first <- err
	}()
	<-g.entered
	second := make(chan error)
	go func() {
		_, err := f.Verify(t.Context(), token)
		second <- err
	}()
	waitFor(t, "2 waiters", func() bool { return f.Waiters() == 2 })
	cancel()
	if err := <-first; guidon.CodeOf(err) != guidon.Canceled {
		t.Errorf("the first got %v, want Canceled", err)
	}
	close(g.open)
	if err := <-second; err != nil {
		t.Errorf("the second got %v", err)
	}
	if n := len(f.server.Reviews()); n != 1 {
		t.Errorf("%d reviews, want 1", n)
	}
}

// TestAbandoned: a review without waiters ends, and does not get in the way of others.
func TestAbandoned(t *testing.T) {
	f := newFixture(t, nil)
	begun := make(chan struct{}, 1)
	f.server.Serve(logintest.ReviewPath, logintest.Hang(begun))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	if _, err := f.Verify(ctx, f.token(nil)); guidon.CodeOf(err) != guidon.Canceled {
		t.Errorf("got %v, want Canceled", err)
	}
	if n := f.Waiters(); n != 0 {
		t.Errorf("%d waiters", n)
	}
	f.server.Serve(logintest.ReviewPath, logintest.Refuse(http.StatusForbidden))
	f.fail(t, "the next", f.token(nil), guidon.Internal)
}

// TestReviewsAtOnce: eight reviews run at the same time, and the others wait.
func TestReviewsAtOnce(t *testing.T) {
	f := newFixture(t, nil)
	g := newGate(f)
	var all sync.WaitGroup
	const n = 3 * kubernetes.MaxReviews
	for i := range n {
		all.Go(func() { f.accept(t, "waiting", f.numbered(i)) })
	}
	for range kubernetes.MaxReviews {
		<-g.entered
	}
	waitFor(t, "all waiters", func() bool { return f.Waiters() == n })
	if now, most := f.server.Running(); now != 8 || most != 8 {
		t.Errorf("%d reviews, at most %d, want 8", now, most)
	}
	close(g.open)
	all.Wait()
	if _, most := f.server.Running(); most != 8 || len(f.server.Reviews()) != n {
		t.Errorf("%d reviews, at most %d at the same time", len(f.server.Reviews()), most)
	}
}

// TestReviewTime: who waits too long for a review gets Unavailable, not the end of a
// deadline that is not theirs.
func TestReviewTime(t *testing.T) {
	f := newFixture(t, nil)
	f.SetReviewTime(50 * time.Millisecond)
	begun := make(chan struct{}, 100)
	f.server.Serve(logintest.ReviewPath, logintest.Hang(begun))
	var all sync.WaitGroup
	for i := range 2 * kubernetes.MaxReviews {
		all.Go(func() { f.fail(t, "hanging", f.numbered(i), guidon.Unavailable) })
	}
	all.Wait()
}

// TestAttempts: at most 64 attempts wait for the API server.
func TestAttempts(t *testing.T) {
	f := newFixture(t, nil)
	g := newGate(f)
	var all sync.WaitGroup
	for i := range provider.MaxAttempts {
		all.Go(func() { f.accept(t, "waiting", f.numbered(i)) })
	}
	waitFor(t, "all waiters", func() bool { return f.Waiters() == provider.MaxAttempts })
	f.fail(t, "one more", f.numbered(-1), guidon.Unavailable)
	close(g.open)
	all.Wait()
	f.accept(t, "later", f.numbered(-1))
}

// TestConcurrent is for the race detector.
func TestConcurrent(t *testing.T) {
	for _, change := range modes {
		f := newFixture(t, change)
		var all sync.WaitGroup
		for worker := range 8 {
			all.Go(func() {
				for i := range 20 {
					ctx, cancel := context.WithCancel(t.Context())
					if (worker+i)%5 == 0 {
						cancel()
					}
					identity, err := f.Verify(ctx, f.numbered(i%4))
					if err != nil && guidon.CodeOf(err) != guidon.Canceled {
						t.Errorf("got %v", err)
					}
					if err == nil && identity.Subject != "kubernetes:serviceaccount:shop/checkout" {
						t.Errorf("got %q", identity.Subject)
					}
					cancel()
				}
			})
		}
		all.Wait()
	}
}
