package issuer_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/handler/login/provider"
)

// newSource returns a source of the provider p. change may change the configuration.
func newSource(t *testing.T, p *logintest.Provider, clock *logintest.Clock, change func(*issuer.Config)) *issuer.KeySet {
	t.Helper()
	client, err := provider.New(provider.Config{Name: "acme"})
	if err != nil {
		t.Fatal(err)
	}
	c := issuer.Config{Client: client, Issuer: p.URL, Algorithms: issuer.DefaultAlgorithms(), Now: clock.Now}
	if change != nil {
		change(&c)
	}
	return issuer.Remote(c)
}

func checkUnavailable(t *testing.T, err error) {
	t.Helper()
	if guidon.CodeOf(err) != guidon.Unavailable {
		t.Errorf("got %v, want Unavailable", err)
	}
	if got, want := guidon.PublicMessage(err), `provider "acme" is unavailable; try again later`; got != want {
		t.Errorf("clients see %q, want %q", got, want)
	}
}

func TestDocument(t *testing.T) {
	p := logintest.NewProvider(t)
	members := p.Discovery()
	members["userinfo_endpoint"] = "https://acme.example/userinfo"
	members["end_session_endpoint"] = "https://acme.example/end?x=y"
	members["token_endpoint_auth_methods_supported"] = []string{"private_key_jwt", "client_secret_post"}
	members["authorization_response_iss_parameter_supported"] = true
	members["unknown"] = map[string]int{"a": 1}
	p.Publish(logintest.DiscoveryPath, members)
	s := newSource(t, p, logintest.NewClock(), nil)
	if n := p.Requests(logintest.DiscoveryPath); n != 0 {
		t.Errorf("%d requests before the first use", n)
	}
	want := &issuer.Document{
		Issuer: p.URL, AuthorizationEndpoint: p.URL + "/authorize", TokenEndpoint: p.URL + "/token", JWKSURI: p.URL + "/keys",
		UserinfoEndpoint: "https://acme.example/userinfo", EndSessionEndpoint: "https://acme.example/end?x=y",
		TokenAuthMethods: []string{"private_key_jwt", "client_secret_post"}, ReturnsIssuer: true,
	}
	for range 3 {
		got, err := s.Document(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("document (-want +got):\n%s", diff)
		}
	}
	if n := p.Requests(logintest.DiscoveryPath); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

func TestFaults(t *testing.T) {
	for _, fault := range logintest.Faults() {
		t.Run(fault.Name, func(t *testing.T) {
			p, clock := logintest.NewProvider(t), logintest.NewClock()
			s := newSource(t, p, clock, nil)
			p.Serve(logintest.DiscoveryPath, fault.Handler)
			for range 2 {
				_, err := s.Document(t.Context())
				checkUnavailable(t, err)
			}
			if n := p.Requests(logintest.DiscoveryPath); n != 1 {
				t.Errorf("%d requests within the pause, want 1", n)
			}
			clock.Advance(provider.RetryPause)
			p.Publish(logintest.DiscoveryPath, p.Discovery())
			good, err := s.Document(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			p.Serve(logintest.DiscoveryPath, fault.Handler)
			clock.Advance(provider.MaxAge - time.Second)
			if got, err := s.Document(t.Context()); err != nil || got != good {
				t.Errorf("got %v and %v, want the old document", got, err)
			}
			clock.Advance(provider.RetryPause)
			_, err = s.Document(t.Context())
			checkUnavailable(t, err)
		})
	}
}

func TestIssuer(t *testing.T) {
	p := logintest.NewProvider(t)
	for _, issuer := range []any{p.URL + "/", strings.ToUpper(p.URL), p.URL + "/x", "", "https://evil.example", nil} {
		members := p.Discovery()
		members["issuer"] = issuer
		p.Publish(logintest.DiscoveryPath, members)
		_, err := newSource(t, p, logintest.NewClock(), nil).Document(t.Context())
		checkUnavailable(t, err)
		published, _ := issuer.(string)
		for _, name := range []string{fmt.Sprintf("%q", published), fmt.Sprintf("%q", p.URL)} {
			if !strings.Contains(err.Error(), name) {
				t.Errorf("error %q does not name %s", err, name)
			}
		}
	}
}

// TestTrailingSlash: the slash belongs to the issuer, and is not doubled in the URL.
func TestTrailingSlash(t *testing.T) {
	p := logintest.NewProvider(t)
	members := p.Discovery()
	members["issuer"] = p.URL + "/tenant/"
	p.Publish("/tenant"+logintest.DiscoveryPath, members)
	s := newSource(t, p, logintest.NewClock(), func(c *issuer.Config) { c.Issuer = p.URL + "/tenant/" })
	if _, err := s.Document(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestEndpoints(t *testing.T) {
	p := logintest.NewProvider(t)
	for _, test := range []struct {
		name string
		url  any
		ok   bool
	}{
		{"jwks_uri", "https://keys.example/a?b=c", true},
		{"jwks_uri", "http://127.0.0.1/keys", true},
		{"jwks_uri", "http://keys.example/", false},
		{"jwks_uri", "/keys", false},
		{"jwks_uri", "", false},
		{"jwks_uri", nil, false},
		{"jwks_uri", 1, false},
		{"authorization_endpoint", "http://acme.example", false},
		{"authorization_endpoint", "javascript:alert(1)", false},
		{"authorization_endpoint", nil, false},
		{"token_endpoint", "http://acme.example", false},
		{"token_endpoint", "https://user:password@acme.example", false},
		{"token_endpoint", nil, false},
		{"userinfo_endpoint", "http://acme.example", false},
		{"userinfo_endpoint", "file:///etc/passwd", false},
		{"userinfo_endpoint", nil, true},
		{"end_session_endpoint", "http://acme.example", false},
		{"end_session_endpoint", nil, true},
	} {
		members := p.Discovery()
		members[test.name] = test.url
		p.Publish(logintest.DiscoveryPath, members)
		_, err := newSource(t, p, logintest.NewClock(), nil).Document(t.Context())
		switch {
		case test.ok && err != nil:
			t.Errorf("%s %v: %v", test.name, test.url, err)
		case !test.ok:
			checkUnavailable(t, err)
			if !strings.Contains(err.Error(), test.name) {
				t.Errorf("%s %v: error %q does not name it", test.name, test.url, err)
			}
		}
	}
}

// TestPlainHTTP: endpoints may be http only if the configured URL is.
func TestPlainHTTP(t *testing.T) {
	d := issuer.Document{
		Issuer: "https://localhost", AuthorizationEndpoint: "https://localhost/a", TokenEndpoint: "https://localhost/t",
		JWKSURI: "http://localhost/keys",
	}
	if err := issuer.CheckDocument(&d, issuer.Config{Issuer: "https://localhost"}); err == nil {
		t.Error("http was accepted beside an https issuer")
	}
	if err := issuer.CheckDocument(&d, issuer.Config{DiscoveryURL: "http://localhost"}); err != nil {
		t.Error(err)
	}
	if err := issuer.CheckDocument(&d, issuer.Config{DiscoveryURL: "http://localhost", Issuer: "https://localhost"}); err != nil {
		t.Error(err)
	}
}

// TestKubernetes: the issuer of a cluster is not where its document is, and it has no
// endpoints for people.
func TestKubernetes(t *testing.T) {
	p := logintest.NewProvider(t)
	p.Publish(logintest.DiscoveryPath, map[string]any{
		"issuer": "https://kubernetes.default.svc", "jwks_uri": p.URL + "/openid/v1/jwks",
		"authorization_endpoint": "urn:kubernetes:programmatic_authorization",
	})
	config := func(c *issuer.Config) { c.Issuer, c.DiscoveryURL, c.KeysOnly = "", p.URL, true }
	d, err := newSource(t, p, logintest.NewClock(), config).Document(t.Context())
	if err != nil || d.Issuer != "https://kubernetes.default.svc" {
		t.Errorf("got %v and %v, want the cluster's issuer", d, err)
	}
	p.Publish(logintest.DiscoveryPath, map[string]any{"jwks_uri": p.URL + "/openid/v1/jwks"})
	_, err = newSource(t, p, logintest.NewClock(), config).Document(t.Context())
	checkUnavailable(t, err)
}

// TestSharedFetch: callers at the same time cause one request, and leave in their own
// time.
func TestSharedFetch(t *testing.T) {
	p := logintest.NewProvider(t)
	begun, release := make(chan struct{}), make(chan struct{})
	p.Serve(logintest.DiscoveryPath, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(begun)
		<-release
		_, _ = fmt.Fprintf(w, `{"issuer":%[1]q,"authorization_endpoint":%[1]q,"token_endpoint":%[1]q,"jwks_uri":%[1]q}`, p.URL)
	}))
	s := newSource(t, p, logintest.NewClock(), nil)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := s.Document(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	<-begun
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Document(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want Canceled", err)
	}
	close(release)
	all.Wait()
	if n := p.Requests(logintest.DiscoveryPath); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

// FuzzDocument: whatever a provider publishes, a document that is accepted has the right
// issuer and safe endpoints.
func FuzzDocument(f *testing.F) {
	p := logintest.NewProvider(f)
	f.Add([]byte(`{"issuer":"https://a.example","jwks_uri":"https://a.example/k","authorization_endpoint":"https://a.example/a","token_endpoint":"https://a.example/t"}`))
	f.Add([]byte(`{"issuer":"https://a.example","ISSUER":"https://b.example"}`))
	f.Add([]byte(`[{}]`))
	f.Add([]byte(`{"jwks_uri":"http://169.254.169.254/"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		p.Serve(logintest.DiscoveryPath, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }))
		const name = "https://a.example"
		s := newSource(t, p, logintest.NewClock(), func(c *issuer.Config) { c.DiscoveryURL, c.Issuer = p.URL, name })
		d, err := s.Document(t.Context())
		if err != nil {
			checkUnavailable(t, err)
			return
		}
		if d.Issuer != name {
			t.Errorf("%s: issuer %q was accepted", body, d.Issuer)
		}
		for _, url := range []string{d.AuthorizationEndpoint, d.TokenEndpoint, d.JWKSURI} {
			if !strings.HasPrefix(strings.ToLower(url), "https://") && !provider.IsLocalHTTP(url) {
				t.Errorf("%s: endpoint %q was accepted", body, url)
			}
		}
	})
}
