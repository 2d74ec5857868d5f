package oidc_test

import (
	"crypto/sha256"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/handler/login/oidc"
)

func TestAuthorizeURL(t *testing.T) {
	w := newWorld(t, func(c *oidc.Config) {
		c.AuthorizeParams = map[string]string{"prompt": "select_account", "hd": "acme.example"}
		c.Scopes = []string{"email", "openid", "groups", "email"}
	})
	w.discover("authorization_endpoint", w.remote.URL+"/authorize?tenant=1")
	a := w.begin(t)
	got, err := w.AuthorizeURL(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(got)
	if err != nil {
		t.Fatal(err)
	}
	challenge := sha256.Sum256([]byte(a.Verifier()))
	want := url.Values{
		"tenant": {"1"}, "response_type": {"code"}, "client_id": {"guidon"}, "redirect_uri": {redirectURI}, "scope": {"openid email groups"},
		"state": {a.State()}, "nonce": {a.Nonce()}, "code_challenge": {logintest.Encode(challenge[:])}, "code_challenge_method": {"S256"},
		"prompt": {"select_account"}, "hd": {"acme.example"},
	}
	if diff := cmp.Diff(want, u.Query()); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
	if u.RawQuery = ""; u.String() != w.remote.URL+"/authorize" {
		t.Errorf("endpoint %s, want that of the document", u)
	}
}

// TestAttemptsDiffer: no value of an attempt is that of another one.
func TestAttemptsDiffer(t *testing.T) {
	w := newWorld(t, nil)
	seen := map[string]bool{}
	for range 10 {
		u, err := w.AuthorizeURL(t.Context(), w.begin(t))
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := url.Parse(u)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"state", "nonce", "code_challenge"} {
			value := parsed.Query().Get(name)
			if seen[value] || len(value) != 43 {
				t.Errorf("%s %q: there before, or not 32 bytes", name, value)
			}
			seen[value] = true
		}
	}
	if n := w.remote.Requests(logintest.DiscoveryPath); n != 1 {
		t.Errorf("%d discoveries, want 1", n)
	}
}

func TestAuthorizeDefaults(t *testing.T) {
	w := newWorld(t, func(c *oidc.Config) { c.PKCE = false })
	u, err := w.AuthorizeURL(t.Context(), w.begin(t))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := url.Parse(u)
	if err != nil {
		t.Fatal(err)
	}
	if q := parsed.Query(); q.Get("scope") != "openid profile email" || q.Has("code_challenge") || q.Has("code_challenge_method") {
		t.Errorf("parameters %v, want the default scopes and no challenge", q)
	}
}

func TestAuthorizeUnavailable(t *testing.T) {
	w := newWorld(t, nil)
	w.remote.Serve(logintest.DiscoveryPath, logintest.Reject(404, "x"))
	_, err := w.AuthorizeURL(t.Context(), w.begin(t))
	checkCode(t, err, guidon.Unavailable, "404")
}

func TestCheckIssuer(t *testing.T) {
	for _, test := range []struct {
		name  string
		sends bool // the provider announces that it sends iss
		iss   func(w *world) string
		want  bool
	}{
		{"the issuer", true, func(w *world) string { return w.remote.URL }, true},
		{"the issuer, not announced", false, func(w *world) string { return w.remote.URL }, true},
		{"none, not announced", false, func(*world) string { return "" }, true},
		{"none, announced", true, func(*world) string { return "" }, false},
		{"another", true, func(*world) string { return "https://evil.example" }, false},
		{"another, not announced", false, func(*world) string { return "https://evil.example" }, false},
		{"slash", false, func(w *world) string { return w.remote.URL + "/" }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, nil)
			if test.sends {
				w.discover("authorization_response_iss_parameter_supported", true)
			}
			err := w.CheckIssuer(t.Context(), test.iss(w))
			if test.want && err != nil {
				t.Errorf("got %v, want it accepted", err)
			}
			if !test.want {
				checkCode(t, err, guidon.Unauthenticated, "iss")
			}
		})
	}
	w := newWorld(t, nil)
	w.remote.Close()
	checkCode(t, w.CheckIssuer(t.Context(), ""), guidon.Unavailable, "discovery")
}
