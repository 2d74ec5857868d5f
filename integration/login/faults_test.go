package login

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/integration/harness"
)

// endpoint is one of a provider that can misbehave.
type endpoint struct{ name, path string }

var endpoints = []endpoint{
	{"discovery", logintest.DiscoveryPath}, {"keys", logintest.KeysPath}, {"token", logintest.TokenPath}, {"userinfo", logintest.UserinfoPath},
}

// TestProviderFaults: a provider that misbehaves in any way at any endpoint costs its own
// users a 503, which keeps the login cookie and the session.
func TestProviderFaults(t *testing.T) {
	t.Parallel()
	healthy := newProvider(t, "healthy")
	settings := healthy.settings()
	type broken struct {
		*provider
		endpoint endpoint
		fault    logintest.Fault
		handler  http.Handler // that works
	}
	var all []broken
	faults := append(logintest.Faults(), logintest.Fault{Name: "slow body", Handler: logintest.Drip},
		logintest.Fault{Name: "no answer", Handler: logintest.Hang(make(chan struct{}, 100))})
	for _, e := range endpoints {
		for i, f := range faults {
			p := newProvider(t, fmt.Sprintf("%s%d", e.name, i))
			b := broken{provider: p, endpoint: e, fault: f, handler: p.Serve(e.path, f.Handler)}
			if e.name == "userinfo" {
				b.handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprint(w, `{"sub":"ada"}`)
				})
			}
			all = append(all, b)
			settings = append(settings, p.settings("USERINFO="+fmt.Sprint(e.name == "userinfo"))...)
		}
	}
	s := start(t, settings...)
	t.Run("providers", func(t *testing.T) {
		for _, p := range all {
			t.Run(p.endpoint.name+"/"+p.fault.Name, func(t *testing.T) {
				t.Parallel()
				b := s.signedInAt(t, healthy)
				before := b.session()
				path := loginPath(p.name, "authorize")
				if p.endpoint.name != "discovery" {
					path = loginPath(p.name, "callback") + "?" + b.attempt(p.provider).Encode()
				}
				cookies := len(b.cookies)
				began := time.Now()
				got := b.get(path)
				checkStep(t, got, http.StatusServiceUnavailable)
				if got.Header.Get("Retry-After") != "5" || len(b.cookies) != cookies || b.session() != before || time.Since(began) > 10*time.Second+harness.Slack {
					t.Errorf("after %v: %v, cookies %v; want Retry-After 5, all cookies", time.Since(began), got.Header, b.cookies)
				}
				if e := s.event(t, got); e["reason"] != "unavailable" || e["provider"] != p.name {
					t.Errorf("event %v, want reason unavailable", e)
				}
				b.is(http.StatusOK)
				if p.endpoint.name == "token" {
					p.Serve(p.endpoint.path, p.handler)
					if again := b.get(path); again.StatusCode != http.StatusFound {
						t.Errorf("reloading: got %d %s, want 302", again.StatusCode, again.body)
					}
				}
			})
		}
	})
	s.signedInAt(t, healthy)
	s.status(t, 200, "GET", "/health", "")
	for _, path := range []string{logintest.DiscoveryPath, logintest.KeysPath} {
		if n := healthy.Requests(path); n != 1 {
			t.Errorf("%d requests of %s, want 1", n, path)
		}
	}
}

// signedInAt returns a browser with a session at a provider that several tests share.
func (s *service) signedInAt(t *testing.T, p *provider) *browser {
	t.Helper()
	b := s.browser(t)
	b.signIn(p)
	return b
}

// TestUnusableDiscovery: a document that is not the one of the configured issuer, or leads
// elsewhere, is not used.
func TestUnusableDiscovery(t *testing.T) {
	t.Parallel()
	changes := map[string]func(p *provider, d map[string]any){
		"another issuer":       func(p *provider, d map[string]any) { d["issuer"] = "https://evil.example" },
		"issuer with a slash":  func(p *provider, d map[string]any) { d["issuer"] = p.URL + "/" },
		"no issuer":            func(_ *provider, d map[string]any) { delete(d, "issuer") },
		"issuer is a list":     func(p *provider, d map[string]any) { d["issuer"] = []string{p.URL} },
		"http elsewhere":       func(_ *provider, d map[string]any) { d["token_endpoint"] = "http://evil.example/token" },
		"keys elsewhere":       func(_ *provider, d map[string]any) { d["jwks_uri"] = "http://evil.example/keys" },
		"authorize elsewhere":  func(_ *provider, d map[string]any) { d["authorization_endpoint"] = "http://evil.example/authorize" },
		"authorize is script":  func(_ *provider, d map[string]any) { d["authorization_endpoint"] = "javascript:alert(1)" },
		"no token endpoint":    func(_ *provider, d map[string]any) { delete(d, "token_endpoint") },
		"no authorize":         func(_ *provider, d map[string]any) { delete(d, "authorization_endpoint") },
		"file as token":        func(_ *provider, d map[string]any) { d["token_endpoint"] = "file:///etc/passwd" },
		"relative token":       func(_ *provider, d map[string]any) { d["token_endpoint"] = "/token" },
		"authorize fragment":   func(p *provider, d map[string]any) { d["authorization_endpoint"] = p.URL + "/authorize#x" },
		"no keys":              func(_ *provider, d map[string]any) { delete(d, "jwks_uri") },
		"authorize with query": nil,
	}
	var settings []string
	providers := map[string]*provider{}
	for name, change := range changes {
		p := newProvider(t, fmt.Sprintf("p%d", len(providers)))
		d := p.discovery()
		if change == nil {
			d["authorization_endpoint"] = p.URL + "/authorize?fixed=1"
		} else {
			change(p, d)
		}
		p.Publish(logintest.DiscoveryPath, d)
		providers[name], settings = p, append(settings, p.settings()...)
	}
	s := start(t, settings...)
	for name, p := range providers {
		got := s.browser(t).get(loginPath(p.name, "authorize"))
		if changes[name] == nil {
			checkStep(t, got, http.StatusOK)
		} else if got.StatusCode != http.StatusServiceUnavailable || got.Header.Get("Retry-After") != "5" {
			t.Errorf("%s: got %d %s, want 503", name, got.StatusCode, got.body)
		}
		for range 3 { // for 5 s it is not asked again
			s.browser(t).get(loginPath(p.name, "authorize"))
		}
		if n := p.Requests(logintest.DiscoveryPath); n != 1 {
			t.Errorf("%s: %d requests, want 1", name, n)
		}
	}
}

// TestRefusedExchanges: what a token endpoint refuses is either the code, or ourselves.
func TestRefusedExchanges(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	s := start(t, p.settings()...)
	signedIn := s.signedIn(t, p, nil)
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    int
		reason  string
	}{
		"invalid_client":          {logintest.Reject(401, "invalid_client"), 500, "misconfigured"},
		"invalid_client with 400": {logintest.Reject(400, "invalid_client"), 500, "misconfigured"},
		"unauthorized_client":     {logintest.Reject(400, "unauthorized_client"), 500, "misconfigured"},
		"invalid_grant":           {logintest.Reject(400, "invalid_grant"), 401, "invalid"},
		"invalid_request":         {logintest.Reject(400, "invalid_request"), 401, "invalid"},
		"unknown code":            {logintest.Reject(400, logintest.Words), 401, "invalid"},
		"invalid_grant with 200":  {logintest.Reject(200, "invalid_grant"), 401, "invalid"},
		"server_error with 400":   {logintest.Reject(400, "server_error"), 503, "unavailable"},
		"temporarily_unavailable": {logintest.Reject(400, "temporarily_unavailable"), 503, "unavailable"},
		"502":                     {logintest.Reject(502, "invalid_client"), 503, "unavailable"},
	} {
		p.failing(logintest.TokenPath, c.handler, func() {
			b := s.browser(t)
			b.cookies = slices.Clone(signedIn.cookies)
			before := signedIn.session()
			got := b.callback("google", b.attempt(p))
			if got.StatusCode != c.want || b.session() != before || (len(b.named(loginCookies)) > 0) != (c.want == 503) {
				t.Errorf("%s: got %d %s with %v, want %d", name, got.StatusCode, got.body, b.cookies, c.want)
			}
			if e := s.event(t, got); e["reason"] != c.reason {
				t.Errorf("%s: reason %v, want %s", name, e["reason"], c.reason)
			}
		})
	}
	metrics := s.send(t, "GET", "/metrics", "", asAdmin).body
	for _, want := range []string{`guidon_sign_in_total{method="oidc",provider="google",result="misconfigured"} 3`, `guidon_sign_in_total{method="oidc",provider="google",result="invalid"}`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics have no %s", want)
		}
	}
}

// TestWrongSecret: a client secret that the provider refuses is our mistake.
func TestWrongSecret(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	s := start(t, p.settings("CLIENT_SECRET=another-client-secret")...)
	b := s.browser(t)
	got := b.callback("google", b.attempt(p))
	checkStep(t, got, http.StatusInternalServerError)
	if e := s.event(t, got); e["reason"] != "misconfigured" || b.session() != "" || len(b.named(loginCookies)) > 0 {
		t.Errorf("event %v, cookies %v; want misconfigured and none", e, b.cookies)
	}
}

// TestIssuerIsRequired: where discovery says that responses name the issuer, they must.
func TestIssuerIsRequired(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	d := p.discovery()
	d["authorization_response_iss_parameter_supported"] = true
	p.Publish(logintest.DiscoveryPath, d)
	s := start(t, p.settings()...)
	for iss, want := range map[string]int{"": 401, p.URL: 302, p.URL + "/": 401, "https://evil.example": 401} {
		b := s.browser(t)
		q := b.attempt(p)
		if iss != "" {
			q.Set("iss", iss)
		}
		if got := b.callback("google", q); got.StatusCode != want {
			t.Errorf("iss %q: got %d %s, want %d", iss, got.StatusCode, got.body, want)
		}
		denied := s.browser(t)
		q = denied.attempt(p)
		q.Del("code")
		q.Set("error", "access_denied")
		if iss != "" {
			q.Set("iss", iss)
		}
		got := denied.callback("google", q)
		reason := map[bool]string{true: "denied", false: "invalid"}[want == 302]
		if e := s.event(t, got); got.StatusCode != 401 || e["reason"] != reason {
			t.Errorf("error with iss %q: got %d and %v, want 401 and %s", iss, got.StatusCode, e["reason"], reason)
		}
	}
}
