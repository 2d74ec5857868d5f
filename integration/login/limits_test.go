package login

import (
	"slices"
	"testing"

	"github.com/guidonhq/guidon/handler/login/logintest"
)

// TestFailureLimit: too many failed credentials get 429; a valid one never does, and neither
// does a request without one.
func TestFailureLimit(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	issuer := logintest.NewProvider(t, logintest.New("P-256 jwt", "jwt"))
	for name, c := range map[string]struct {
		method, path, body string
		headers            []string
		refused            int // before the limit
	}{
		"client token":    {"GET", "/auth/v1/self", "", []string{"Authorization: Bearer wrong-token-secret"}, 401},
		"API key":         {"POST", "/ofrep/v1/evaluate/flags/f", "{}", []string{"X-API-Key: wrong-token-secret"}, 401},
		"cookie":          {"GET", "/auth/v1/self", "", []string{"Cookie: " + sessionCookie + "=wrong-token-secret"}, 401},
		"JWT":             {"GET", "/auth/v1/self", "", []string{"Authorization: JWT a.b.c"}, 401},
		"account token":   {"POST", "/auth/v1/method/kubernetes/serviceaccount", `{"serviceAccountToken":"a.b.c"}`, nil, 401},
		"grant code":      {"POST", exchangePath, exchangeBody("wrong", verifier), nil, 401},
		"logout token":    {"POST", loginPath("google", "revoke"), "logout_token=a.b.c", []string{"Content-Type: application/x-www-form-urlencoded"}, 400},
		"not on loopback": {"GET", "/auth/v1/self", "", []string{"Authorization: Bearer wrong-token-secret"}, 401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			settings := slices.Concat(p.settings(), []string{
				"AUTHENTICATION_FAILURE_LIMIT_LOOPBACK=true", "AUTHENTICATION_FAILURE_LIMIT_PER_ADDRESS=1",
				"AUTHENTICATION_METHODS_KUBERNETES_ENABLED=true", "AUTHENTICATION_METHODS_KUBERNETES_DISCOVERY_URL=" + p.URL,
				"AUTHENTICATION_METHODS_JWT_ENABLED=true", "AUTHENTICATION_METHODS_JWT_DISCOVERY_URL=" + issuer.URL, "AUTHENTICATION_METHODS_JWT_VALIDATE_CLAIMS_AUDIENCES=guidon",
			})
			if name == "not on loopback" {
				settings = append(settings, "AUTHENTICATION_FAILURE_LIMIT_LOOPBACK=false")
			}
			s := start(t, settings...)
			statuses := map[int]int{}
			var last response
			for range 40 {
				last = s.send(t, c.method, c.path, c.body, c.headers...)
				statuses[last.StatusCode]++
			}
			if name == "not on loopback" {
				if statuses[401] != 40 {
					t.Errorf("got %v, want only 401", statuses)
				}
				return
			}
			if statuses[c.refused] < 9 || statuses[c.refused] > 20 || statuses[429] != 40-statuses[c.refused] {
				t.Errorf("got %v, want about 10 times %d, then 429", statuses, c.refused)
			}
			if last.Header.Get("Retry-After") != "1" {
				t.Errorf("headers %v, want Retry-After 1", last.Header)
			}
			s.status(t, 200, "GET", "/auth/v1/self", "", asAdmin)
			s.status(t, 401, "GET", "/auth/v1/self", "")
			b := s.browser(t)
			if got := b.callback("google", map[string][]string{"state": {"x"}, "code": {"y"}}); got.StatusCode != 401 {
				t.Errorf("a callback: got %d, want 401", got.StatusCode)
			}
			b.signIn(p)
			b.is(200)
		})
	}
}
