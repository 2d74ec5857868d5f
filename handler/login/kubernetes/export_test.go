package kubernetes

import (
	"context"
	"crypto/sha256"

	"github.com/guidonhq/guidon/handler/login/provider"
)

// NewInPod is New with other files than those that Kubernetes mounts.
func NewInPod(c Config, ca, token string) (*Cluster, error) {
	return open(c, files{ca: ca, token: token})
}

// MaxReviews is how many reviews run at the same time.
const MaxReviews = maxReviews

// Enter takes the place of an attempt that waits for the API server.
func (c *Cluster) Enter() (leave func(), err error) { return c.verifier.(*reviewer).client.Enter() }

// Reviews runs reviews of tokens that are functions.
type Reviews struct{ *reviews }

// NewReviews returns reviews that need no API server.
func NewReviews(client *provider.Client) Reviews { return Reviews{newReviews(client)} }

// Do runs the review of the token, or joins a running one.
func (r Reviews) Do(ctx context.Context, token string, review func(context.Context) error) error {
	_, err := r.do(ctx, sha256.Sum256([]byte(token)), func(ctx context.Context) (*reviewStatus, error) { return nil, review(ctx) })
	return err
}
