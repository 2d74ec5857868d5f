package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
)

// SignIns counts attempts to sign in, and requests to those that vouch for people and
// workloads. Its methods are safe for concurrent use.
type SignIns struct{ attempts, requests *prometheus.CounterVec }

// NewSignIns returns a counter that has counted nothing yet.
func NewSignIns() *SignIns {
	return &SignIns{
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "guidon_sign_in_total",
			Help: "Attempts to sign in that ended, by their result: ok, or why they were refused.",
		}, []string{"method", "provider", "result"}),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "guidon_provider_requests_total",
			Help: "Requests to providers, by what they are for and their result: ok, refused or unavailable.",
		}, []string{"provider", "kind", "result"}),
	}
}

// SignInExpected creates the counter of an attempt.
func (s *SignIns) SignInExpected(method, provider, result string) {
	s.attempts.WithLabelValues(method, provider, result)
}

// ProviderExpected creates the counter of a request.
func (s *SignIns) ProviderExpected(provider, kind, result string) {
	s.requests.WithLabelValues(provider, kind, result)
}

// SignedIn counts an attempt that ended. The provider must be a configured one or "".
func (s *SignIns) SignedIn(method, provider, result string) {
	s.attempts.WithLabelValues(method, provider, result).Inc()
}

// ProviderAsked counts a request to a configured provider.
func (s *SignIns) ProviderAsked(_ context.Context, provider, kind string) (answered func(result string)) {
	return func(result string) { s.requests.WithLabelValues(provider, kind, result).Inc() }
}
