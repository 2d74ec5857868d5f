package kubernetes_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/kubernetes"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/handler/login/provider"
	"github.com/guidonhq/guidon/internal/bubble"
)

// work is a review that takes a time, unless its context ends. It counts those at the same time.
type work struct {
	took          time.Duration
	running, most atomic.Int64
}

func (w *work) review(ctx context.Context) error {
	n := w.running.Add(1)
	defer w.running.Add(-1)
	for most := w.most.Load(); n > most && !w.most.CompareAndSwap(most, n); most = w.most.Load() {
	}
	select {
	case <-time.After(w.took):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func newReviews(t *testing.T) kubernetes.Reviews {
	t.Helper()
	client, err := provider.New(provider.Config{Name: "kubernetes"})
	if err != nil {
		t.Fatal(err)
	}
	return kubernetes.NewReviews(client)
}

// TestReviewsAtOnce: eight reviews run at the same time, and the others wait.
func TestReviewsAtOnce(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		r, w := newReviews(t), &work{took: time.Second}
		start := time.Now()
		var all sync.WaitGroup
		for i := range 3 * kubernetes.MaxReviews {
			all.Go(func() {
				if err := r.Do(t.Context(), fmt.Sprint(i), w.review); err != nil {
					t.Errorf("got %v", err)
				}
			})
		}
		all.Wait()
		if most, took := w.most.Load(), time.Since(start); most != 8 || took != 3*time.Second {
			t.Errorf("%d at the same time, in %v; want 8 in 3s", most, took)
		}
	})
}

// TestReviewTime: a review takes ten seconds at most, with the time until it starts. The
// deadline is not that of the caller, so the error is Unavailable.
func TestReviewTime(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		r, w := newReviews(t), &work{took: time.Hour}
		start := time.Now()
		var all sync.WaitGroup
		for i := range 3 * kubernetes.MaxReviews {
			all.Go(func() {
				if err := r.Do(t.Context(), fmt.Sprint(i), w.review); guidon.CodeOf(err) != guidon.Unavailable {
					t.Errorf("got %v, want Unavailable", err)
				}
			})
		}
		all.Wait()
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("took %v, want 10s", took)
		}
	})
}

// TestSharedByCluster: what Verify does for equal tokens at the same time.
func TestSharedByCluster(t *testing.T) {
	f := newFixture(t, nil)
	entered, open := make(chan struct{}, 100), make(chan struct{})
	f.server.Change(func(*logintest.TokenReview) {
		entered <- struct{}{}
		<-open
	})
	token := f.token(nil)
	var all sync.WaitGroup
	verify := func() { all.Go(func() { f.accept(t, "shared", token) }) }
	verify()
	<-entered
	for range 10 {
		verify()
	}
	close(open)
	all.Wait()
	// Some may have come after the first review.
	if now, most := f.server.Running(); now != 0 || most != 1 {
		t.Errorf("%d reviews of one token run, at most %d, want 1", now, most)
	}
}

// TestAbandoned: a request to the API server ends when nobody waits for it.
func TestAbandoned(t *testing.T) {
	f := newFixture(t, nil)
	begun := make(chan struct{}, 1)
	f.server.Serve(logintest.ReviewPath, logintest.Hang(begun))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	if _, err := f.Verify(ctx, f.token(nil)); guidon.CodeOf(err) != guidon.Canceled {
		t.Errorf("got %v, want Canceled", err)
	}
	f.server.Serve(logintest.ReviewPath, logintest.Refuse(http.StatusForbidden))
	f.fail(t, "the next", f.token(nil), guidon.Internal)
}

// TestAttempts: at most 64 attempts wait for the API server.
func TestAttempts(t *testing.T) {
	f := newFixture(t, nil)
	for range provider.MaxAttempts - 1 {
		if _, err := f.Enter(); err != nil {
			t.Fatal(err)
		}
	}
	f.accept(t, "the last that may wait", f.token(nil))
	leave, err := f.Enter()
	if err != nil {
		t.Fatal(err)
	}
	f.fail(t, "one more", f.token(nil), guidon.Unavailable)
	f.refuse(t, "rubbish, which does not wait", "x.y.z")
	leave()
	f.accept(t, "later", f.token(nil))
}

// TestConcurrent is for the race detector.
func TestConcurrent(t *testing.T) {
	for _, change := range modes {
		f := newFixture(t, change)
		tokens := make([]string, 4)
		for i := range tokens {
			tokens[i] = f.token(map[string]any{"jti": fmt.Sprint(i)})
		}
		var all sync.WaitGroup
		for worker := range 8 {
			all.Go(func() {
				for i := range 20 {
					ctx, cancel := context.WithCancel(t.Context())
					if (worker+i)%5 == 0 {
						cancel()
					}
					identity, err := f.Verify(ctx, tokens[i%len(tokens)])
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
