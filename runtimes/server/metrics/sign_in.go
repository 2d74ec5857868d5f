package metrics

import "github.com/prometheus/client_golang/prometheus"

// SignIns counts attempts to sign in. Its methods are safe for concurrent use.
type SignIns struct{ attempts *prometheus.CounterVec }

// NewSignIns returns a counter that has counted nothing yet.
func NewSignIns() *SignIns {
	return &SignIns{prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "guidon_sign_in_total",
		Help: "Attempts to sign in that ended, by their result: ok, or why they were refused.",
	}, []string{"method", "provider", "result"})}
}

// SignedIn counts an attempt that ended. The provider must be a configured one or "".
func (s *SignIns) SignedIn(method, provider, result string) {
	s.attempts.WithLabelValues(method, provider, result).Inc()
}
