package kubernetes_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/kubernetes"
	"github.com/guidonhq/guidon/handler/login/logintest"
)

// TestKeysAudiences: the audiences that a token may have if the API server is not asked.
func TestKeysAudiences(t *testing.T) {
	const issuer = "issuer" // stands for the issuer, whose URL is not known yet
	for name, test := range map[string]struct {
		configured []string
		aud        []string
		ok         bool
	}{
		"default, guidon":           {nil, []string{"guidon"}, true},
		"default, issuer":           {nil, []string{issuer}, true},
		"default, short name":       {nil, []string{"https://kubernetes.default.svc"}, true},
		"default, long name":        {nil, []string{"https://kubernetes.default.svc.cluster.local"}, true},
		"default, one of several":   {nil, []string{"vault", "guidon"}, true},
		"default, another":          {nil, []string{"vault"}, false},
		"default, none":             {nil, []string{}, false},
		"default, beginning":        {nil, []string{"https://kubernetes.default.svc.evil.example"}, false},
		"configured, one of them":   {[]string{"a", "b"}, []string{"b"}, true},
		"configured, guidon":        {[]string{"a"}, []string{"guidon"}, false},
		"configured, issuer":        {[]string{"a"}, []string{issuer}, false},
		"configured, none":          {[]string{"a"}, []string{}, false},
		"configured, different one": {[]string{"a"}, []string{"A"}, false},
	} {
		f := newFixture(t, func(c *kubernetes.Config) { byKeys(c); c.Audiences = test.configured })
		aud := strings.Split(strings.ReplaceAll(strings.Join(test.aud, " "), issuer, f.server.URL), " ")
		token := f.token(map[string]any{"aud": aud})
		if test.ok {
			f.accept(t, name, token)
		} else {
			f.refuse(t, name, token)
		}
		if n := len(f.server.Reviews()); n != 0 {
			t.Errorf("%s: %d reviews", name, n)
		}
	}
}

// TestOtherIssuer: the issuer of the document may differ from its URL. Tokens must have it.
func TestOtherIssuer(t *testing.T) {
	f := newFixture(t, byKeys)
	f.server.PublishPrivate(logintest.DiscoveryPath, map[string]any{"issuer": "https://oidc.example/id/1", "jwks_uri": f.server.URL + logintest.ClusterKeysPath})
	f.accept(t, "issuer of the document", f.token(map[string]any{"iss": "https://oidc.example/id/1"}))
	f.refuse(t, "URL of the document", f.token(nil))
}

// TestJWKSURL: keys are fetched from the configured URL instead of that of the document.
func TestJWKSURL(t *testing.T) {
	f := newFixture(t, nil)
	f.server.PublishPrivate(logintest.DiscoveryPath, map[string]any{"issuer": f.server.URL, "jwks_uri": "https://10.0.0.1:6443/openid/v1/jwks"})
	var err error
	f.Cluster, err = kubernetes.New(kubernetes.Config{
		Verify: kubernetes.Keys, DiscoveryURL: f.server.URL, JWKSURL: f.server.URL + logintest.ClusterKeysPath,
		ServiceAccountTokenPath: f.own, Now: f.clock.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	f.accept(t, "configured URL", f.token(nil))
}

// TestKeysRotated: new keys are fetched when a token has one.
func TestKeysRotated(t *testing.T) {
	f := newFixture(t, byKeys)
	f.accept(t, "first key", f.token(nil))
	next := logintest.New("RSA", "next")
	f.server.PublishPrivate(logintest.ClusterKeysPath, map[string]any{"keys": []any{next.JWK()}})
	token := next.Token("RS256", f.server.Claims("shop", "checkout", nil))
	f.refuse(t, "too early to fetch", token)
	f.clock.Advance(10 * time.Second)
	f.accept(t, "next key", token)
	f.refuse(t, "withdrawn key", f.token(nil))
}

// TestKeysFaults: a failure does not end the service, and passes.
func TestKeysFaults(t *testing.T) {
	for _, path := range []string{logintest.DiscoveryPath, logintest.ClusterKeysPath} {
		for _, fault := range append(logintest.Faults(), logintest.Fault{Name: "forbidden", Handler: logintest.Refuse(http.StatusForbidden)}) {
			f := newFixture(t, byKeys)
			f.server.Serve(path, fault.Handler)
			err := f.fail(t, fault.Name, f.token(nil), guidon.Unavailable)
			if strings.Contains(guidon.PublicMessage(err), logintest.Words) || strings.Contains(err.Error(), f.server.Own) {
				t.Errorf("%s: clients see %q, the log has %q", fault.Name, guidon.PublicMessage(err), err)
			}
		}
	}
}
