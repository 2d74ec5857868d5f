package codehost_test

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/login/codehost"
)

func TestAddresses(t *testing.T) {
	for _, test := range []struct {
		kind, server, api     string
		wantServer, wantAPI   string
		wantAuthorize, scopes string
	}{
		{"", "", "", "https://github.com", "https://api.github.com", "/login/oauth/authorize", "read:user user:email read:org"},
		{"github", "https://github.com/", "", "https://github.com", "https://api.github.com", "/login/oauth/authorize", "read:user user:email read:org"},
		{"github", "https://ghe.example/", "", "https://ghe.example", "https://ghe.example/api/v3", "/login/oauth/authorize", "read:user user:email read:org"},
		{"github", "https://a.ghe.com", "https://api.a.ghe.com/", "https://a.ghe.com", "https://api.a.ghe.com", "/login/oauth/authorize", "read:user user:email read:org"},
		{"gitlab", "", "", "https://gitlab.com", "https://gitlab.com/api/v4", "/oauth/authorize", "read_user openid profile email"},
		{"gitlab", "https://x.example/gitlab", "", "https://x.example/gitlab", "https://x.example/gitlab/api/v4", "/oauth/authorize", "read_user openid profile email"},
		{"gitea", "https://code.example", "", "https://code.example", "https://code.example/api/v1", "/login/oauth/authorize", "read:user read:organization"},
		{"gitea", "http://localhost:3000", "http://127.0.0.1:3000/api/v1", "http://localhost:3000", "http://127.0.0.1:3000/api/v1", "/login/oauth/authorize", "read:user read:organization"},
	} {
		host := newHost(t, codehost.Config{
			Type: test.kind, ServerURL: test.server, APIURL: test.api, ClientID: "a&b", ClientSecret: "s", RedirectURI: "https://flags.example/cb?x", PKCE: true,
		})
		if server, api := host.URLs(); server != test.wantServer || api != test.wantAPI {
			t.Errorf("%+v: got %s and %s", test, server, api)
		}
		a := begin(t, host)
		raw, err := host.AuthorizeURL(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		challenge := u.Query().Get("code_challenge")
		if len(challenge) != 43 || strings.Contains(raw, a.Verifier()) {
			t.Errorf("code challenge %q in %s", challenge, raw)
		}
		want := url.Values{
			"response_type": {"code"}, "client_id": {"a&b"}, "redirect_uri": {"https://flags.example/cb?x"}, "scope": {test.scopes},
			"state": {a.State()}, "code_challenge": {challenge}, "code_challenge_method": {"S256"},
		}
		if diff := cmp.Diff(want, u.Query()); diff != "" {
			t.Errorf("%+v: query (-want +got):\n%s", test, diff)
		}
		u.RawQuery = ""
		if got := u.String(); got != test.wantServer+test.wantAuthorize {
			t.Errorf("%+v: authorize at %s", test, got)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*codehost.Config)
		want   []string // one for each line of the error
	}{
		{"nothing", func(*codehost.Config) {}, nil},
		{"type", func(c *codehost.Config) { c.Type = "GitHub" }, []string{"invalid type: must be github, gitlab or gitea"}},
		{"Gitea without a server", func(c *codehost.Config) { c.Type = codehost.Gitea }, []string{"invalid server_url"}},
		{"everything", func(c *codehost.Config) {
			*c = codehost.Config{Type: codehost.Gitea, APIURL: "x", Scopes: []string{"a b"}}
		}, []string{
			"invalid server_url: is required if type is gitea", "invalid api_url", "invalid client_id: is required", "invalid client_secret",
			"invalid scopes",
		}},
		{"http", func(c *codehost.Config) { c.ServerURL = "http://ghe.example" }, []string{"invalid server_url: must be https"}},
		{"http API", func(c *codehost.Config) { c.APIURL = "http://ghe.example" }, []string{"invalid api_url: must be https"}},
		{"user", func(c *codehost.Config) { c.ServerURL = "https://a:b@ghe.example" }, []string{"invalid server_url: must be a URL without a user"}},
		{"query", func(c *codehost.Config) { c.ServerURL = "https://ghe.example?x" }, []string{"invalid server_url: must be a URL without query"}},
		{"empty query", func(c *codehost.Config) { c.APIURL = "https://ghe.example/?" }, []string{"invalid api_url: must be a URL without query"}},
		{"fragment", func(c *codehost.Config) { c.APIURL = "https://ghe.example#" }, []string{"invalid api_url: must be a URL without query"}},
		{"client id", func(c *codehost.Config) { c.ClientID = "a\n" }, []string{"invalid client_id"}},
		{"client secret", func(c *codehost.Config) { c.ClientSecret = "" }, []string{"invalid client_secret"}},
		{"certificate authorities", func(c *codehost.Config) { c.CAPath = filepath.Join(t.TempDir(), "none") }, []string{"invalid ca_path"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := codehost.Config{ClientID: "guidon", ClientSecret: "hush-hush", RedirectURI: "http://flags.example/callback"}
			test.change(&c)
			host, err := codehost.New(c)
			if len(test.want) == 0 {
				if err != nil || host == nil {
					t.Errorf("got %v", err)
				}
				return
			}
			if err == nil {
				t.Fatal("accepted")
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(test.want) {
				t.Fatalf("got error %q, want %d lines", err, len(test.want))
			}
			for i, want := range test.want {
				if !strings.Contains(lines[i], want) || strings.Contains(lines[i], "hush") {
					t.Errorf("line %q, want %q", lines[i], want)
				}
			}
		})
	}
}

// TestNeeds: what is named by allow lists must be readable with the scopes.
func TestNeeds(t *testing.T) {
	const email, organizations, teams = 1, 2, 4
	for _, test := range []struct {
		kind, scopes string
		needs        int
		want         string // in the error
	}{
		{codehost.GitHub, "", email | organizations | teams, ""},
		{codehost.GitHub, "read:user", 0, ""},
		{codehost.GitHub, "read:user", email, "user:email or user"},
		{codehost.GitHub, "user", email, ""},
		{codehost.GitHub, "user", organizations, "read:org or write:org or admin:org"},
		{codehost.GitHub, "user:email", teams, "read:org"},
		{codehost.GitHub, "admin:org", organizations | teams, ""},
		{codehost.GitHub, "read:organization", organizations, "read:org"},
		{codehost.GitLab, "", email | organizations, ""},
		{codehost.GitLab, "", teams, "name subgroups as organizations"},
		{codehost.GitLab, "read_user", email, ""},
		{codehost.GitLab, "read_api", organizations, "openid"},
		{codehost.GitLab, "openid email", 0, "read_user"}, // who it is cannot be read
		{codehost.Gitea, "", email | organizations | teams, ""},
		{codehost.Gitea, "all", email | organizations | teams, ""},
		{codehost.Gitea, "read:user", email, ""},
		{codehost.Gitea, "read:user", teams, "read:organization"},
		{codehost.Gitea, "read:organization", organizations, "read:user"},
		{codehost.Gitea, `read:"user"`, 0, "printable ASCII"},
	} {
		c := codehost.Config{
			Type: test.kind, ServerURL: "https://code.example", ClientID: "guidon", ClientSecret: "s", RedirectURI: "https://flags.example/callback",
			Scopes: strings.Fields(test.scopes), NeedEmail: test.needs&email > 0, NeedOrganizations: test.needs&organizations > 0, NeedTeams: test.needs&teams > 0,
		}
		_, err := codehost.New(c)
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%+v: %v", test, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), "invalid scopes") || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%+v: got error %v, want one about %q", test, err, test.want)
		}
	}
}

// TestFingerprint: attempts do not outlive a change of the configuration.
func TestFingerprint(t *testing.T) {
	config := codehost.Config{
		Type: codehost.GitHub, ServerURL: "https://code.example", ClientID: "guidon", ClientSecret: "s", RedirectURI: "https://flags.example/callback",
	}
	first := newHost(t, config).Fingerprint()
	for name, change := range map[string]func(*codehost.Config){
		"type":     func(c *codehost.Config) { c.Type = codehost.Gitea },
		"server":   func(c *codehost.Config) { c.ServerURL = "https://other.example" },
		"client":   func(c *codehost.Config) { c.ClientID = "other" },
		"callback": func(c *codehost.Config) { c.RedirectURI += "/" },
	} {
		c := config
		change(&c)
		if newHost(t, c).Fingerprint() == first {
			t.Errorf("%s: the fingerprint is the same", name)
		}
	}
	config.ClientSecret, config.ServerURL = "rotated", "https://code.example/"
	if newHost(t, config).Fingerprint() != first {
		t.Error("another client secret changes the fingerprint")
	}
}
