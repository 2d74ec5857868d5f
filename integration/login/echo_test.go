package login

import (
	"slices"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/handler/login/logintest"
)

// TestNothingIsRepeated: requests that are malformed get 400, and no part of them back.
func TestNothingIsRepeated(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	s := start(t, slices.Concat(p.settings(), codehostSettings(logintest.NewCodeHost(t, "github"), "ALLOW_EVERYONE=true"),
		[]string{"AUTHENTICATION_METHODS_KUBERNETES_ENABLED=true", "AUTHENTICATION_METHODS_KUBERNETES_DISCOVERY_URL=" + p.URL})...)
	const form = "Content-Type: application/x-www-form-urlencoded"
	for _, c := range []struct{ method, path, body, header string }{
		{"GET", loginPath("google", "authorize") + "?redirect=evil", "", ""},
		{"GET", loginPath("google", "authorize") + "?redirect=true&redirect=evil", "", ""},
		{"GET", loginPath("google", "authorize") + "?return_to=evil", "", ""},
		{"GET", loginPath("google", "authorize") + "?return_to=/&return_to=/evil", "", ""},
		{"GET", loginPath("google", "authorize") + "?%evil", "", ""},
		{"GET", loginPath("codehost", "authorize") + "?redirect=evil", "", ""},
		{"GET", loginPath("codehost", "callback") + "?state=%ff-evil", "", ""},
		{"POST", "/auth/v1/method/kubernetes/serviceaccount", `{"serviceAccountToken":["evil"]}`, ""},
		{"POST", "/auth/v1/method/kubernetes/serviceaccount", `{"serviceAccountToken":"evil"`, ""},
		{"POST", "/auth/v1/method/kubernetes/serviceaccount", `evil`, ""},
		{"POST", "/auth/v1/method/kubernetes/serviceaccount", `{"serviceAccountToken":evil}`, ""},
		{"POST", "/auth/v1/method/kubernetes/serviceaccount", `{}`, ""},
		{"POST", "/auth/v1/method/cli/exchange", `{"code":{"evil":1}}`, ""},
		{"POST", "/auth/v1/method/cli/exchange", `{"codeVerifier":["evil"]}`, ""},
		{"POST", loginPath("google", "revoke"), "logout_token=evil", form},
		{"POST", loginPath("google", "revoke"), "logout_token=evil&logout_token=evil", form},
		{"POST", loginPath("google", "revoke"), "logout_token=%evil", form},
		{"POST", loginPath("google", "revoke"), `{"logout_token":"evil"}`, form},
	} {
		for _, accept := range []string{"text/html", "application/json"} {
			headers := []string{"Accept: " + accept}
			if c.header != "" {
				headers = append(headers, c.header)
			}
			got := s.send(t, c.method, c.path, c.body, headers...)
			if got.StatusCode != 400 && (got.StatusCode != 401 || !strings.Contains(c.path, "callback")) || strings.Contains(got.body, "evil") {
				t.Errorf("%s %s %s: got %d %s, want 400 without its words", c.method, c.path, c.body, got.StatusCode, got.body)
			}
			if got.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s %s %s: Cache-Control %q, want no-store", c.method, c.path, c.body, got.Header.Get("Cache-Control"))
			}
		}
	}
	if strings.Contains(s.Log(), "evil") {
		t.Error("the log repeats what a client sent")
	}
}
