package bearer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/bearer"
	"github.com/guidonhq/guidon/handler/login/logintest"
)

func TestConfig(t *testing.T) {
	pem := writeFile(t, logintest.New("Ed25519", "").PEM())
	junk := writeFile(t, []byte("nothing"))
	for name, test := range map[string]struct {
		change func(*bearer.Config)
		want   []string // in the error; nil for none
	}{
		"jwks_url":           {func(*bearer.Config) {}, nil},
		"discovery_url":      {func(c *bearer.Config) { c.JWKSURL, c.DiscoveryURL = "", "https://acme.example" }, nil},
		"public_key_file":    {func(c *bearer.Config) { c.JWKSURL, c.PublicKeyFile = "", pem }, nil},
		"any_audience":       {func(c *bearer.Config) { c.Audiences, c.AnyAudience = nil, true }, nil},
		"pointers":           {func(c *bearer.Config) { c.GroupsClaim, c.RolesClaim = "/a/b~1c", "" }, nil},
		"one algorithm":      {func(c *bearer.Config) { c.Algorithms = []string{"ES256"} }, nil},
		"loopback":           {func(c *bearer.Config) { c.JWKSURL = "http://127.0.0.1/keys" }, nil},
		"no source":          {func(c *bearer.Config) { c.JWKSURL = "" }, []string{"invalid enabled: requires one of"}},
		"two sources":        {func(c *bearer.Config) { c.PublicKeyFile = pem }, []string{"invalid public_key_file: must not be set together with jwks_url"}},
		"three sources":      {func(c *bearer.Config) { c.PublicKeyFile, c.DiscoveryURL = pem, "https://acme.example" }, []string{"invalid jwks_url: must not be set together with discovery_url and public_key_file"}},
		"no audience":        {func(c *bearer.Config) { c.Audiences = nil }, []string{"invalid validate_claims.audiences: is required"}},
		"empty audience":     {func(c *bearer.Config) { c.Audiences = []string{"a", ""} }, []string{"invalid validate_claims.audiences"}},
		"both audiences":     {func(c *bearer.Config) { c.AnyAudience = true }, []string{"invalid validate_claims.any_audience"}},
		"HMAC":               {func(c *bearer.Config) { c.Algorithms = []string{"HS256"} }, []string{"invalid signing_algs", `"HS256"`}},
		"none":               {func(c *bearer.Config) { c.Algorithms = []string{"none"} }, []string{"invalid signing_algs"}},
		"no algorithm":       {func(c *bearer.Config) { c.Algorithms = []string{} }, []string{"invalid signing_algs"}},
		"bad pointer":        {func(c *bearer.Config) { c.GroupsClaim = "/~" }, []string{"invalid groups_claim"}},
		"bad roles pointer":  {func(c *bearer.Config) { c.RolesClaim = "/~2" }, []string{"invalid roles_claim"}},
		"http":               {func(c *bearer.Config) { c.JWKSURL = "http://acme.example/keys" }, []string{"invalid jwks_url", "https"}},
		"http for discovery": {func(c *bearer.Config) { c.JWKSURL, c.DiscoveryURL = "", "http://acme.example" }, []string{"invalid discovery_url"}},
		"no such file":       {func(c *bearer.Config) { c.JWKSURL, c.PublicKeyFile = "", pem+"x" }, []string{"invalid public_key_file"}},
		"file without a key": {func(c *bearer.Config) { c.JWKSURL, c.PublicKeyFile = "", junk }, []string{"invalid public_key_file", "no public key"}},
		"no authorities":     {func(c *bearer.Config) { c.CAPath = junk }, []string{"invalid ca_path"}},
		"needless ca_path":   {func(c *bearer.Config) { c.JWKSURL, c.PublicKeyFile, c.CAPath = "", pem, pem }, []string{"invalid ca_path"}},
		"all at once": {func(c *bearer.Config) { *c = bearer.Config{GroupsClaim: "/~", Algorithms: []string{"none"}} },
			[]string{"enabled", "validate_claims.audiences", "signing_algs", "groups_claim"}},
	} {
		c := bearer.Config{JWKSURL: "https://acme.example/keys", Audiences: []string{audience}, Now: time.Now}
		test.change(&c)
		v, err := bearer.New(c)
		switch {
		case len(test.want) == 0 && (err != nil || v == nil):
			t.Errorf("%s: got %v", name, err)
		case len(test.want) > 0 && err == nil:
			t.Errorf("%s: got no error", name)
		}
		for _, want := range test.want {
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %q, want %q in it", name, err, want)
			}
		}
	}
}

// TestDiscovery: New sends no request. The keys are those of the discovery document, and
// its issuer is the default.
func TestDiscovery(t *testing.T) {
	discover := func(c *bearer.Config) {
		c.DiscoveryURL, c.JWKSURL = strings.TrimSuffix(c.JWKSURL, logintest.KeysPath), ""
		c.Issuer = ""
	}
	f := newFixture(t, discover)
	if n := f.issuer.Requests(logintest.DiscoveryPath) + f.issuer.Requests(logintest.KeysPath); n != 0 {
		t.Errorf("%d requests at the start", n)
	}
	f.refuse(t, "another issuer", f.token(nil))
	f.refuse(t, "no issuer", f.token(map[string]any{"iss": nil}))
	f.accept(t, f.token(map[string]any{"iss": f.issuer.URL}))

	named := newFixture(t, func(c *bearer.Config) { discover(c); c.Issuer = issuer })
	if _, err := named.Verify(t.Context(), named.token(nil)); guidon.CodeOf(err) != guidon.Unavailable || !strings.Contains(err.Error(), issuer) {
		t.Errorf("got %v for a document with another issuer than the configured one, want Unavailable and both issuers", err)
	}
	document := named.issuer.Discovery()
	document["issuer"] = issuer
	named.issuer.Publish(logintest.DiscoveryPath, document)
	named.clock.Advance(5 * time.Second)
	named.accept(t, named.token(nil))
}

// TestFile: the id of a key in a token is ignored, and nothing is requested.
func TestFile(t *testing.T) {
	key := logintest.New("P-256", "")
	f := newFixture(t, func(c *bearer.Config) { c.JWKSURL, c.PublicKeyFile = "", writeFile(t, key.PEM()) })
	for _, kid := range []string{"", "anything"} {
		f.accept(t, (&logintest.Key{ID: kid, Private: key.Private}).Token("ES256", f.claims(nil)))
	}
	f.refuse(t, "another key", logintest.New("P-256 2", "").Token("ES256", f.claims(nil)))
	f.refuse(t, "another algorithm", f.key.Token("EdDSA", f.claims(nil)))
	token := key.Token("ES256", f.claims(map[string]any{"jti": "1"}))
	f.accept(t, token)
	if _, ok := f.Remembered(t.Context(), token); !ok {
		t.Error("not remembered")
	}
}

func TestNoIssuer(t *testing.T) {
	f := newFixture(t, func(c *bearer.Config) { c.Issuer = "" })
	f.accept(t, f.token(map[string]any{"iss": "https://other.example"}))
	f.accept(t, f.token(map[string]any{"iss": nil}))
	f.refuse(t, "issuer of another type", f.token(map[string]any{"iss": 1}))
}

func TestAnyAudience(t *testing.T) {
	f := newFixture(t, func(c *bearer.Config) { c.Audiences, c.AnyAudience = nil, true })
	f.accept(t, f.token(map[string]any{"aud": "other"}))
	f.accept(t, f.token(map[string]any{"aud": nil}))
	for name, aud := range map[string]any{"audience of another type": 1, "no audiences": []string{}, "audience, and null": []any{"other", nil}} {
		f.refuse(t, name, f.token(map[string]any{"aud": aud}))
	}
}

func TestRequiredSubject(t *testing.T) {
	f := newFixture(t, func(c *bearer.Config) { c.Subject = "ada" })
	f.accept(t, f.token(nil))
	for name, sub := range map[string]any{"another": "eve", "longer": "ada ", "another case": "Ada", "none": nil, "empty": "", "a list": []string{"ada"}} {
		f.refuse(t, name, f.token(map[string]any{"sub": sub}))
	}
}

// TestUnavailable: a provider that is away is not the fault of the token, and what it says
// does not reach clients.
func TestUnavailable(t *testing.T) {
	for _, path := range []string{logintest.DiscoveryPath, logintest.KeysPath} {
		for _, fault := range logintest.Faults() {
			f := newFixture(t, func(c *bearer.Config) {
				c.DiscoveryURL, c.JWKSURL = strings.TrimSuffix(c.JWKSURL, logintest.KeysPath), ""
			})
			document := f.issuer.Discovery()
			document["issuer"] = issuer
			f.issuer.Publish(logintest.DiscoveryPath, document)
			f.issuer.Serve(path, fault.Handler)
			token := f.token(nil)
			_, err := f.Verify(t.Context(), token)
			if guidon.CodeOf(err) != guidon.Unavailable || strings.Contains(guidon.PublicMessage(err), logintest.Words) {
				t.Errorf("%s of %s: got %v, want Unavailable", fault.Name, path, err)
			}
			if _, ok := f.Remembered(t.Context(), token); ok {
				t.Errorf("%s of %s: remembered", fault.Name, path)
			}
			f.refuse(t, "a text that is no token", "x.y.z")
		}
	}
}
