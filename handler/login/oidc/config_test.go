package oidc_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/handler/login/oidc"
)

func TestNew(t *testing.T) {
	w := newWorld(t, nil)
	if w.Name() != "acme" || w.remote.Requests("/.well-known/openid-configuration") != 0 {
		t.Errorf("name %q, %d requests; want acme and none", w.Name(), w.remote.Requests("/.well-known/openid-configuration"))
	}
	for _, issuer := range []string{
		"https://accounts.google.com", "https://acme.example/", "http://127.0.0.1:80/realms/x", "http://localhost/x", "http://[::1]:1",
		"https://login.microsoftonline.com/11111111-2222-3333-4444-555555555555/v2.0", "https://acme.example/common/v2.0",
	} {
		c := valid()
		c.Issuer = issuer
		if _, err := oidc.New(c); err != nil {
			t.Errorf("issuer %s: %v", issuer, err)
		}
	}
}

func valid() oidc.Config {
	return oidc.Config{Name: "acme", Issuer: "https://acme.example", ClientID: "guidon", RedirectURI: redirectURI, GroupsClaim: "groups"}
}

func TestInvalidConfig(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	issuer := func(url string) func(*oidc.Config) { return func(c *oidc.Config) { c.Issuer = url } }
	param := func(name string) func(*oidc.Config) {
		return func(c *oidc.Config) { c.AuthorizeParams = map[string]string{name: "x"} }
	}
	for _, test := range []struct {
		name   string
		change func(*oidc.Config)
		want   string
	}{
		{"no issuer", issuer(""), "invalid issuer_url"},
		{"relative issuer", issuer("acme.example"), "invalid issuer_url"},
		{"plain HTTP", issuer("http://acme.example"), "invalid issuer_url: must be https"},
		{"issuer with query", issuer("https://acme.example?a=b"), "invalid issuer_url: must be a URL without query"},
		{"issuer with empty query", issuer("https://acme.example?"), "invalid issuer_url"},
		{"issuer with fragment", issuer("https://acme.example#a"), "invalid issuer_url"},
		{"issuer with empty fragment", issuer("https://acme.example#"), "invalid issuer_url"},
		{"issuer with user", issuer("https://a@acme.example"), "invalid issuer_url"},
		{"common", issuer("https://login.microsoftonline.com/common/v2.0"), "invalid issuer_url: must contain the id of one tenant instead of common"},
		{"organizations", issuer("https://login.microsoftonline.com/organizations/v2.0"), "invalid issuer_url"},
		{"consumers", issuer("https://LOGIN.microsoftonline.com/Consumers"), "invalid issuer_url"},
		{"no client id", func(c *oidc.Config) { c.ClientID = "" }, "invalid client_id"},
		{"client secret with a line", func(c *oidc.Config) { c.ClientSecret = "a\n" }, "invalid client_secret"},
		{"scope with space", func(c *oidc.Config) { c.Scopes = []string{"a b"} }, "invalid scopes"},
		{"empty scope", func(c *oidc.Config) { c.Scopes = []string{""} }, "invalid scopes"},
		{"state", param("state"), "invalid authorize_params: must not contain state"},
		{"nonce", param("nonce"), "invalid authorize_params"},
		{"redirect_uri", param("redirect_uri"), "invalid authorize_params"},
		{"scope", param("scope"), "invalid authorize_params"},
		{"client_id", param("client_id"), "invalid authorize_params"},
		{"response_type", param("response_type"), "invalid authorize_params"},
		{"code_challenge", param("code_challenge"), "invalid authorize_params"},
		{"code_challenge_method", param("code_challenge_method"), "invalid authorize_params"},
		{"request", param("request"), "invalid authorize_params"},
		{"request_uri", param("request_uri"), "invalid authorize_params"},
		{"response_mode", param("response_mode"), "invalid authorize_params"},
		{"client_secret", param("client_secret"), "invalid authorize_params"},
		{"parameter without a name", param(""), "invalid authorize_params"},
		{"HMAC", func(c *oidc.Config) { c.Algorithms = []string{"RS256", "HS256"} }, "invalid signing_algs"},
		{"none", func(c *oidc.Config) { c.Algorithms = []string{"none"} }, "invalid signing_algs"},
		{"groups claim", func(c *oidc.Config) { c.GroupsClaim = "/a~2" }, "invalid groups_claim"},
		{"roles claim", func(c *oidc.Config) { c.RolesClaim = "/~" }, "invalid roles_claim"},
		{"no authorities", func(c *oidc.Config) { c.CAPath = empty }, "invalid ca_path"},
		{"missing authorities", func(c *oidc.Config) { c.CAPath = empty + "x" }, "invalid ca_path"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := valid()
			test.change(&c)
			if _, err := oidc.New(c); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	_, err := oidc.New(oidc.Config{Name: "acme"})
	for _, field := range []string{"issuer_url", "client_id"} {
		if err == nil || !strings.Contains(err.Error(), "invalid "+field) {
			t.Errorf("got %v, want one that names %s", err, field)
		}
	}
}

// TestFingerprint: an attempt is good for no other provider and no other configuration.
func TestFingerprint(t *testing.T) {
	seen := map[[32]byte]string{}
	for name, change := range map[string]func(*oidc.Config){
		"same": func(*oidc.Config) {}, "name": func(c *oidc.Config) { c.Name = "b" },
		"issuer": func(c *oidc.Config) { c.Issuer += "/" }, "client id": func(c *oidc.Config) { c.ClientID += "x" },
		"redirect URI": func(c *oidc.Config) { c.RedirectURI += "x" },
	} {
		c := valid()
		change(&c)
		p, err := oidc.New(c)
		if err != nil {
			t.Fatal(err)
		}
		if other, twice := seen[p.Fingerprint()]; twice {
			t.Errorf("another %s has the fingerprint of another %s", name, other)
		}
		seen[p.Fingerprint()] = name
	}
}
