package kubernetes

import "time"

// NewInPod is New with other files than those that Kubernetes mounts.
func NewInPod(c Config, ca, token string) (*Cluster, error) {
	return open(c, files{ca: ca, token: token})
}

// SetReviewTime replaces the time that a review takes at most.
func (c *Cluster) SetReviewTime(d time.Duration) { c.verifier.(*reviewer).shared.limit = d }

// MaxReviews is how many reviews run at the same time.
const MaxReviews = maxReviews

// Waiters returns how many callers wait for reviews.
func (c *Cluster) Waiters() int {
	r := c.verifier.(*reviewer).shared
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, s := range r.running {
		n += s.waiters
	}
	return n
}
