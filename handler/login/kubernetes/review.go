package kubernetes

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/provider"
	"github.com/guidonhq/guidon/internal/flight"
)

const (
	reviewPath    = "/apis/authentication.k8s.io/v1/tokenreviews"
	reviewVersion = "authentication.k8s.io/v1"
	reviewKind    = "TokenReview"
)

// tokenReview is the type TokenReview of the API of Kubernetes, as far as it is used.
type tokenReview struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Spec       reviewSpec   `json:"spec"`
	Status     reviewStatus `json:"status,omitzero"` // in a response
}

type reviewSpec struct {
	Token string `json:"token"`
	// Audiences are those of the receiver of the token; none means the API server.
	Audiences []string `json:"audiences,omitempty"`
}

type reviewStatus struct {
	Authenticated bool       `json:"authenticated"`
	User          reviewUser `json:"user,omitzero"`
	// Audiences are those of the spec that the token has as well.
	Audiences []string `json:"audiences,omitempty"`
	Error     string   `json:"error,omitempty"`
}

type reviewUser struct {
	Username string `json:"username"`
	UID      string `json:"uid"`
}

// reviewer lets the API server verify tokens.
type reviewer struct {
	client    *provider.Client
	own       *ownToken
	url       string
	audiences []string // none: see requested
	shared    *reviews
}

// verify implements verifier.
func (r *reviewer) verify(ctx context.Context, raw string, a *account) error {
	audiences, err := r.requested(a)
	if err != nil {
		return issuer.Refused(err)
	}
	leave, err := r.client.Enter()
	if err != nil {
		return err
	}
	defer leave()
	status, err := r.shared.do(ctx, sha256.Sum256([]byte(raw)), func(ctx context.Context) (*reviewStatus, error) {
		return r.post(ctx, reviewSpec{Token: raw, Audiences: audiences})
	})
	if err != nil {
		return err
	}
	if err := status.check(a, audiences); err != nil {
		return issuer.Refused(err)
	}
	return nil
}

// probe implements verifier.
func (r *reviewer) probe(ctx context.Context) ([]string, error) {
	_, err := r.post(ctx, reviewSpec{Token: "not a token"})
	return []string{r.url}, err
}

// requested returns the audiences that the token is reviewed for, none for that of the API
// server. It returns an error if the token has none of the configured ones.
func (r *reviewer) requested(a *account) ([]string, error) {
	if len(r.audiences) == 0 {
		return common([]string{DefaultAudience}, a.audiences), nil
	}
	if audiences := common(r.audiences, a.audiences); len(audiences) > 0 {
		return audiences, nil
	}
	return nil, wrongAudience(a, r.audiences)
}

// check returns an error if the API server did not accept the token for one of the
// audiences, or took it for that of another user than its claims name.
func (s *reviewStatus) check(a *account, audiences []string) error {
	switch {
	case !s.Authenticated || s.Error != "":
		return fmt.Errorf("the API server does not accept the token: %s", provider.Printable(s.Error))
	case s.User.Username != a.user():
		return fmt.Errorf("the API server says that the user is %q, want %q", provider.Printable(s.User.Username), a.user())
	case s.User.UID != a.uid:
		return errors.New("the API server says another uid than the token")
	case len(audiences) > 0 && len(common(audiences, s.Audiences)) == 0:
		// One that does not know audiences would accept tokens for others.
		return fmt.Errorf("the API server did not review the token for %q", audiences)
	}
	return nil
}

// post sends one review.
func (r *reviewer) post(ctx context.Context, spec reviewSpec) (*reviewStatus, error) {
	own, err := r.own.read()
	if err != nil {
		return nil, misconfigured(err)
	}
	review := tokenReview{APIVersion: reviewVersion, Kind: reviewKind, Spec: spec}
	response, err := r.client.Do(provider.WithKind(ctx, provider.KindReview), provider.Request{URL: r.url, Bearer: own, JSON: review})
	if err != nil {
		return nil, r.explain(ctx, err, own != "")
	}
	var got tokenReview
	if err := json.Unmarshal(response.Body, &got); err != nil {
		return nil, r.client.Unavailable(fmt.Errorf("the response is not the expected JSON: %w", err))
	}
	if got.APIVersion != reviewVersion || got.Kind != reviewKind {
		return nil, r.client.Unavailable(fmt.Errorf("the response is a %q of %q, want a %s of %s",
			provider.Printable(got.Kind), provider.Printable(got.APIVersion), reviewKind, reviewVersion))
	}
	return &got.Status, nil
}

// explain returns the error for a request that failed.
func (r *reviewer) explain(ctx context.Context, err error, withToken bool) error {
	failure, ok := errors.AsType[*provider.Failure](err)
	switch {
	case !ok || ctx.Err() != nil:
		return err
	case failure.Status == http.StatusUnauthorized && !withToken:
		return misconfigured(fmt.Errorf("we have no token of our own, since there is no file %s: %w", r.own.path, err))
	case failure.Status == http.StatusUnauthorized:
		return misconfigured(fmt.Errorf("the API server does not accept our own token: %w", err))
	case failure.Status == http.StatusForbidden:
		return misconfigured(fmt.Errorf("our own account must not review tokens; it needs the cluster role system:auth-delegator: %w", err))
	case errors.Is(err, guidon.Unavailable):
		return err
	}
	return r.client.Unavailable(err)
}

// misconfigured returns the error for a service that cannot ask the API server.
func misconfigured(cause error) error {
	return &guidon.Error{Code: guidon.Internal, Message: "the service is misconfigured for Kubernetes", Err: cause}
}

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
