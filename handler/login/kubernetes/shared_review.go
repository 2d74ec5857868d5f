package kubernetes

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/guidonhq/guidon/handler/login/provider"
	"github.com/guidonhq/guidon/internal/flight"
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
	client  *provider.Client
	slots   chan struct{} // taken by those that run
	running flight.Group[[sha256.Size]byte, *reviewStatus]
}

func newReviews(client *provider.Client) *reviews {
	return &reviews{client: client, slots: make(chan struct{}, maxReviews)}
}

var errTooLate = errors.New("the review took too long")

// do returns the result of the review with the key, which it starts if none runs. It
// returns an error if ctx ends first. A review waits for its turn. If that and the review
// take too long, the error is Unavailable: the deadline is ours, not that of the callers.
func (r *reviews) do(
	ctx context.Context, key [sha256.Size]byte, review func(context.Context) (*reviewStatus, error),
) (*reviewStatus, error) {
	return r.running.Do(ctx, key, func(ctx context.Context) (*reviewStatus, error) {
		ctx, cancel := context.WithTimeout(ctx, reviewTime)
		defer cancel()
		select {
		case r.slots <- struct{}{}:
			defer func() { <-r.slots }()
		case <-ctx.Done():
			return nil, r.client.Unavailable(fmt.Errorf("%d reviews are running already: %w", maxReviews, errTooLate))
		}
		status, err := review(ctx)
		if err != nil && ctx.Err() != nil {
			return nil, r.client.Unavailable(fmt.Errorf("%w: %w", errTooLate, err))
		}
		return status, err
	})
}
