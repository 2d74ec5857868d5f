package kubernetes

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/guidonhq/guidon/handler/login/provider"
)

const (
	// maxReviews is how many reviews run at the same time.
	maxReviews = 8
	// reviewTime is how long a review takes at most, with the time until it starts.
	reviewTime = 10 * time.Second
)

// reviews runs reviews. One of equal tokens at the same time is for all of them. It is
// safe for concurrent use.
type reviews struct {
	client *provider.Client
	slots  chan struct{} // taken by those that run

	mu      sync.Mutex
	running map[[sha256.Size]byte]*sharedReview
}

// sharedReview is one review and its waiters. It runs on a goroutine of its own, which ends
// before its last waiter returns.
type sharedReview struct {
	cancel  context.CancelFunc
	waiters int // guarded by the mutex of its reviews
	done    chan struct{}
	status  *reviewStatus // set, like err, before done is closed
	err     error
}

func newReviews(client *provider.Client) *reviews {
	return &reviews{
		client: client, slots: make(chan struct{}, maxReviews),
		running: map[[sha256.Size]byte]*sharedReview{},
	}
}

// do returns the result of the review with the key, which it starts if none runs. It
// returns an error if ctx ends first. The review ends only if all its waiters leave.
func (r *reviews) do(
	ctx context.Context, key [sha256.Size]byte, review func(context.Context) (*reviewStatus, error),
) (*reviewStatus, error) {
	r.mu.Lock()
	s := r.running[key]
	if s == nil {
		s = r.start(ctx, key, review)
	}
	s.waiters++
	r.mu.Unlock()
	select {
	case <-s.done:
		return s.status, s.err
	case <-ctx.Done():
		r.leave(key, s)
		return nil, ctx.Err()
	}
}

// start starts a review. r.mu must be held.
func (r *reviews) start(ctx context.Context, key [sha256.Size]byte, review func(context.Context) (*reviewStatus, error)) *sharedReview {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reviewTime)
	s := &sharedReview{cancel: cancel, done: make(chan struct{})}
	r.running[key] = s
	go func() {
		defer close(s.done)
		defer r.forget(key, s)
		defer cancel()
		s.status, s.err = r.run(ctx, review)
	}()
	return s
}

// forget removes a review that others cannot join any longer.
func (r *reviews) forget(key [sha256.Size]byte, s *sharedReview) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running[key] == s {
		delete(r.running, key)
	}
}

// leave removes a waiter. The last one ends the review.
func (r *reviews) leave(key [sha256.Size]byte, s *sharedReview) {
	r.mu.Lock()
	s.waiters--
	last := s.waiters == 0
	if last && r.running[key] == s {
		delete(r.running, key)
	}
	r.mu.Unlock()
	if last {
		s.cancel()
		<-s.done
	}
}

// run waits for its turn and runs the review. If that takes too long, the error is
// Unavailable: the deadline is ours, not that of the callers.
func (r *reviews) run(ctx context.Context, review func(context.Context) (*reviewStatus, error)) (*reviewStatus, error) {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return nil, r.client.Unavailable(fmt.Errorf("%d reviews are running already: %w", maxReviews, errTooLate))
	}
	status, err := guarded(ctx, review)
	if err != nil && ctx.Err() != nil {
		return nil, r.client.Unavailable(fmt.Errorf("%w: %w", errTooLate, err))
	}
	return status, err
}

var errTooLate = errors.New("the review took too long")

// guarded turns a panic into an error: otherwise it would end the process.
func guarded(ctx context.Context, review func(context.Context) (*reviewStatus, error)) (status *reviewStatus, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic during a review: %v", p)
		}
	}()
	return review(ctx)
}
