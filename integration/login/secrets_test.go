package login

import (
	"strings"
	"sync"
	"testing"

	"github.com/guidonhq/guidon/handler/login/logintest"
)

// secrets are the values that only a client, a provider and the service may know.
type secrets struct {
	mu       sync.Mutex
	values   map[string]bool
	logOnly  map[string]bool // personal data: not in logs and metrics
	refusals []refusal
}

type refusal struct{ request, body string }

// plant adds secrets.
func (s *secrets) plant(values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values == nil {
		s.values = map[string]bool{}
	}
	for _, v := range values {
		if len(v) >= 8 { // others may occur by chance
			s.values[v] = true
		}
	}
}

// personal adds values that must not be in logs and metrics.
func (s *secrets) personal(values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logOnly == nil {
		s.logOnly = map[string]bool{}
	}
	for _, v := range values {
		s.logOnly[v] = true
	}
}

// refused records the response to a request that was refused.
func (s *secrets) refused(request, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals = append(s.refusals, refusal{request, body})
}

// check searches everything that the service has written for the secrets.
func (s *secrets) check(t *testing.T, of *service) {
	t.Helper()
	if !of.stopped {
		s.searchAnswers(t, of)
	}
	s.absent(t, "the log", of.Log(), true)
	s.mu.Lock()
	refusals := s.refusals
	s.mu.Unlock()
	for _, r := range refusals {
		s.absent(t, "the response to "+r.request, r.body, true)
		if strings.Contains(r.body, logintest.Words) {
			t.Errorf("%s: got the words of the provider: %s", r.request, r.body)
		}
	}
}

// searchAnswers searches what the running service says to admins.
func (s *secrets) searchAnswers(t *testing.T, of *service) {
	t.Helper()
	changes := of.send(t, "GET", "/api/v1/namespaces/default/changes?kind=authentication&limit=500", "", asAdmin)
	bindings := of.send(t, "GET", "/api/v1/namespaces/default/changes?kind=binding&limit=500", "", asAdmin)
	metrics := of.send(t, "GET", "/metrics", "", asAdmin)
	s.absent(t, "the change records", changes.body+bindings.body, false)
	s.absent(t, "the metrics", metrics.body, true)
}

func (s *secrets) absent(t *testing.T, where, text string, public bool) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for v := range s.values {
		if strings.Contains(text, v) {
			t.Errorf("%s: got the secret %q: %s", where, v, around(text, v))
		}
	}
	for v := range s.logOnly {
		if public && strings.Contains(text, v) {
			t.Errorf("%s: got the personal %q: %s", where, v, around(text, v))
		}
	}
}

// around returns the surroundings of the value.
func around(text, value string) string {
	at := strings.Index(text, value)
	return text[max(0, at-200):min(len(text), at+len(value)+200)]
}
