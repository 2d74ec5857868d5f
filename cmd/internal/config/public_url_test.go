package config_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/config"
)

func TestPublicURL(t *testing.T) {
	for _, test := range []struct{ url, path, origin, host string }{
		{"", "", "", ""},
		{"https://flags.example", "", "https://flags.example", "flags.example"},
		{"https://flags.example/base", "/base", "https://flags.example", "flags.example"},
		{"https://Flags.Example:443/a/b.c~d_e-f", "/a/b.c~d_e-f", "https://flags.example", "flags.example"},
		{"https://flags.example:8443", "", "https://flags.example:8443", "flags.example"},
		{"http://localhost:80/x", "/x", "http://localhost", "localhost"},
		{"http://[::1]:8080", "", "http://[::1]:8080", "::1"},
	} {
		c, err := load(t, "", "GUIDON_SERVER_PUBLIC_URL="+test.url)
		if err != nil {
			t.Errorf("%s: %v", test.url, err)
			continue
		}
		got := [3]string{c.Server.PublicPath(), c.Server.PublicOrigin(), c.Server.PublicHost()}
		if want := [3]string{test.path, test.origin, test.host}; got != want {
			t.Errorf("%s: got %q, want %q", test.url, got, want)
		}
	}
	for _, url := range []string{
		"flags.example", "//flags.example", "ftp://flags.example", "https://", "https:///base", "https://:443", "https://flags.example:", "https://flags.example:70000",
		"https://flags.example/", "https://flags.example/base/", "https://flags.example//base", "https://flags.example/../base", "https://flags.example/.",
		"https://flags.example/a;b", "https://flags.example/a%2fb", "https://flags.example/a b", "https://flags.example/a\\b", "https://flags.example/ä",
		"https://flags.example?", "https://flags.example#", "https://flags.example?a=b", "https://u:s3cret@flags.example", "https://flägs.example", "https://flags..example", "https://a,b",
	} {
		_, err := load(t, "", "GUIDON_SERVER_PUBLIC_URL="+url)
		if want := "server.public_url (GUIDON_SERVER_PUBLIC_URL): must be a URL such as"; err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got error %v, want one with %q", url, err, want)
		}
	}
}

// TestStreamsPublicURL: the URL of streams is that of the server unless it is set.
func TestStreamsPublicURL(t *testing.T) {
	c, err := load(t, "server: {public_url: 'https://flags.example/base'}")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.StreamsPublicURL(), "https://flags.example/base"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if c.Streams.PublicURL = "https://streams.example"; c.StreamsPublicURL() != "https://streams.example" {
		t.Errorf("got %q, want that of streams", c.StreamsPublicURL())
	}
}

// TestHosts: the public host counts as allowed.
func TestHosts(t *testing.T) {
	for _, test := range []struct {
		s    config.Server
		want []string
	}{
		{config.Server{}, nil},
		{config.Server{AllowedHosts: []string{"a"}}, []string{"a"}},
		{config.Server{PublicURL: "https://Flags.example:8443/x"}, []string{"flags.example"}},
		{config.Server{AllowedHosts: []string{"a"}, PublicURL: "https://b.example"}, []string{"a", "b.example"}},
		{config.Server{AllowedHosts: []string{"b.example"}, PublicURL: "https://b.example"}, []string{"b.example"}},
	} {
		if got := test.s.Hosts(); !slices.Equal(got, test.want) {
			t.Errorf("%+v: got %q, want %q", test.s, got, test.want)
		}
	}
}

// TestSecureCookies: without a choice, cookies are for https if the service is.
func TestSecureCookies(t *testing.T) {
	for _, test := range []struct {
		secure, publicURL, protocol string
		want                        bool
	}{
		{"auto", "https://flags.example", "http", true},
		{"auto", "http://localhost", "http", false},
		{"auto", "http://localhost", "https", false},
		{"auto", "", "http", false},
		{"auto", "", "https", true},
		{"true", "http://localhost", "http", true},
		{"false", "https://flags.example", "https", false},
	} {
		var c config.Config
		c.Server.PublicURL, c.Server.Protocol, c.Authentication.Session.Secure = test.publicURL, test.protocol, test.secure
		if got := c.SecureCookies(); got != test.want {
			t.Errorf("%+v: got %t", test, got)
		}
		if want := fmt.Sprintf(`"secure":%t`, test.want); !strings.Contains(string(c.JSON()), want) {
			t.Errorf("%+v: /meta/config does not have %s", test, want)
		}
	}
}

func TestCallbackURL(t *testing.T) {
	const public = "https://flags.example/base"
	for address, want := range map[string]string{
		"": public, "https://other.example": "https://other.example", "https://other.example/": "https://other.example", "https://other.example/x/": "https://other.example/x",
	} {
		var c config.Config
		c.Server.PublicURL, c.Authentication.Methods.Codehost.RedirectAddress = public, address
		if got := c.CodeHost(nil).RedirectURI; got != want+"/auth/v1/method/codehost/callback" {
			t.Errorf("%q: got %q, want it below %q", address, got, want)
		}
	}
}

func TestLabels(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{(&config.Provider{}).Label("google"), "google"}, {(&config.Provider{DisplayName: "Google"}).Label("g"), "Google"},
		{config.Codehost{Type: "github"}.Label(), "GitHub"}, {config.Codehost{Type: "gitlab"}.Label(), "GitLab"},
		{config.Codehost{Type: "gitea"}.Label(), "Gitea"}, {config.Codehost{Type: "gitea", DisplayName: "Forgejo"}.Label(), "Forgejo"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}
