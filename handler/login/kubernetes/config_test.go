package kubernetes_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/kubernetes"
	"github.com/guidonhq/guidon/handler/login/logintest"
)

func TestConfig(t *testing.T) {
	token, junk := writeFile(t, "token"), writeFile(t, "no certificate")
	for name, test := range map[string]struct {
		change func(*kubernetes.Config)
		want   []string // in the error; nil for none
	}{
		"defaults":       {func(*kubernetes.Config) {}, nil},
		"review":         {func(c *kubernetes.Config) { c.Verify = "review" }, nil},
		"keys":           {func(c *kubernetes.Config) { c.Verify = "keys" }, nil},
		"keys elsewhere": {func(c *kubernetes.Config) { c.Verify, c.JWKSURL = "keys", "https://keys.example/jwks" }, nil},
		"all accounts":   {func(c *kubernetes.Config) { c.AllowedServiceAccounts = []string{"*/*", "a/*", "*/b.c", "a-1/b"} }, nil},
		"shortest life":  {func(c *kubernetes.Config) { c.MaxLifetime = time.Minute }, nil},
		"longest life":   {func(c *kubernetes.Config) { c.MaxLifetime = 30 * 24 * time.Hour }, nil},
		"own token":      {func(c *kubernetes.Config) { c.ServiceAccountTokenPath = token }, nil},

		"unknown mode":       {func(c *kubernetes.Config) { c.Verify = "trust" }, []string{"invalid verify", `review or keys, not "trust"`}},
		"keys for review":    {func(c *kubernetes.Config) { c.JWKSURL = "https://keys.example" }, []string{"invalid jwks_url"}},
		"http":               {func(c *kubernetes.Config) { c.DiscoveryURL = "http://kubernetes.default.svc" }, []string{"invalid discovery_url", "https"}},
		"http for keys":      {func(c *kubernetes.Config) { c.Verify, c.JWKSURL = "keys", "http://keys.example" }, []string{"invalid jwks_url", "https"}},
		"empty audience":     {func(c *kubernetes.Config) { c.Audiences = []string{""} }, []string{"invalid audiences"}},
		"short life":         {func(c *kubernetes.Config) { c.MaxLifetime = time.Minute - 1 }, []string{"invalid max_lifetime"}},
		"long life":          {func(c *kubernetes.Config) { c.MaxLifetime = 30*24*time.Hour + 1 }, []string{"invalid max_lifetime"}},
		"negative life":      {func(c *kubernetes.Config) { c.MaxLifetime = -time.Hour }, []string{"invalid max_lifetime"}},
		"account only":       {func(c *kubernetes.Config) { c.AllowedServiceAccounts = []string{"checkout"} }, []string{"invalid allowed_service_accounts", `not "checkout"`}},
		"too many parts":     {func(c *kubernetes.Config) { c.AllowedServiceAccounts = []string{"a/b/c"} }, []string{"allowed_service_accounts"}},
		"beginnings":         {func(c *kubernetes.Config) { c.AllowedServiceAccounts = []string{"shop/check*"} }, []string{"allowed_service_accounts"}},
		"empty pattern":      {func(c *kubernetes.Config) { c.AllowedServiceAccounts = []string{""} }, []string{"allowed_service_accounts"}},
		"no account":         {func(c *kubernetes.Config) { c.AllowedServiceAccounts = []string{"a/"} }, []string{"allowed_service_accounts"}},
		"capitals":           {func(c *kubernetes.Config) { c.AllowedServiceAccounts = []string{"Shop/a"} }, []string{"allowed_service_accounts"}},
		"no such token file": {func(c *kubernetes.Config) { c.ServiceAccountTokenPath = token + "x" }, []string{"invalid service_account_token_path", "no such file"}},
		"empty token file":   {func(c *kubernetes.Config) { c.ServiceAccountTokenPath = writeFile(t, " \n") }, []string{"does not have a token"}},
		"two lines":          {func(c *kubernetes.Config) { c.ServiceAccountTokenPath = writeFile(t, "hush\nhush") }, []string{"does not have a token"}},
		"huge token file":    {func(c *kubernetes.Config) { c.ServiceAccountTokenPath = writeFile(t, strings.Repeat("x", 64<<10+1)) }, []string{"is too large"}},
		"no such CA file":    {func(c *kubernetes.Config) { c.CAPath = token + "x" }, []string{"invalid ca_path", "no such file"}},
		"no certificate":     {func(c *kubernetes.Config) { c.CAPath = junk }, []string{"invalid ca_path", "no certificate"}},
		"all at once": {func(c *kubernetes.Config) {
			*c = kubernetes.Config{Verify: "x", DiscoveryURL: "x", Audiences: []string{""}, MaxLifetime: 1, AllowedServiceAccounts: []string{"x"}, ServiceAccountTokenPath: "/nowhere"}
		}, []string{"invalid verify", "discovery_url", "audiences", "max_lifetime", "allowed_service_accounts", "service_account_token_path"}},
	} {
		c := kubernetes.Config{Now: time.Now}
		test.change(&c)
		_, err := kubernetes.New(c)
		if (err == nil) != (len(test.want) == 0) {
			t.Errorf("%s: got %v, want an error: %v", name, err, len(test.want) > 0)
		}
		for _, want := range test.want {
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %q, want %q in it", name, err, want)
			}
		}
		if err != nil && strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: the error has the token: %v", name, err)
		}
	}
}

// TestHasToken: a file that does not exist is no token.
func TestHasToken(t *testing.T) {
	there := writeFile(t, "")
	for path, want := range map[string]bool{there: true, there + "x": false} {
		if got := kubernetes.HasToken(path); got != want {
			t.Errorf("%q: got %t, want %t", path, got, want)
		}
	}
}

// TestNoRequestAtStart: the API server is looked for when it is needed.
func TestNoRequestAtStart(t *testing.T) {
	for mode, change := range modes {
		f := newFixture(t, change)
		if n := len(f.server.Reviews()) + f.server.Requests(logintest.DiscoveryPath); n != 0 {
			t.Errorf("%s: %d requests", mode, n)
		}
	}
}

// TestDefaultFiles: the files that Kubernetes mounts are used if they exist.
func TestDefaultFiles(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing")
	for mode, change := range modes {
		f := newFixture(t, nil)
		c := kubernetes.Config{DiscoveryURL: f.server.URL, Now: f.clock.Now}
		if change != nil {
			change(&c)
		}
		var err error
		if f.Cluster, err = kubernetes.NewInPod(c, missing, f.own); err != nil {
			t.Fatal(err)
		}
		f.accept(t, mode, f.token(nil))
		if _, err := kubernetes.NewInPod(c, writeFile(t, "no certificate"), missing); err == nil || !strings.Contains(err.Error(), "no certificate") {
			t.Errorf("%s: got %v for mounted authorities that are invalid", mode, err)
		}

		if f.Cluster, err = kubernetes.NewInPod(c, missing, missing); err != nil {
			t.Fatal(err)
		}
		_, err = f.Verify(t.Context(), f.token(nil))
		switch {
		case mode == "review" && (guidon.CodeOf(err) != guidon.Internal || !strings.Contains(err.Error(), "no token of our own")):
			t.Errorf("got %v without our own token, want Internal and why", err)
		case mode == "keys" && guidon.CodeOf(err) != guidon.Unavailable: // this server publishes nothing to strangers
			t.Errorf("got %v without our own token, want Unavailable", err)
		}
	}
}

// TestPublicKeys: keys that are published to everybody are fetched without a token.
func TestPublicKeys(t *testing.T) {
	f := newFixture(t, byKeys)
	f.server.Publish(logintest.DiscoveryPath, map[string]any{"issuer": f.server.URL, "jwks_uri": f.server.URL + logintest.ClusterKeysPath})
	f.server.Publish(logintest.ClusterKeysPath, map[string]any{"keys": []any{f.server.Key.JWK()}})
	var err error
	missing := filepath.Join(t.TempDir(), "missing")
	if f.Cluster, err = kubernetes.NewInPod(kubernetes.Config{Verify: kubernetes.Keys, DiscoveryURL: f.server.URL, Now: f.clock.Now}, missing, missing); err != nil {
		t.Fatal(err)
	}
	f.accept(t, "public keys", f.token(nil))
}

// TestOwnTokenAnew: our own token is read for each request, and a file that is gone is our
// fault.
func TestOwnTokenAnew(t *testing.T) {
	f := newFixture(t, nil)
	f.accept(t, "first", f.token(nil))
	f.server.Own = "renewed"
	f.fail(t, "old token", f.token(nil), guidon.Internal)
	if err := os.WriteFile(f.own, []byte("renewed"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.accept(t, "renewed", f.token(nil))
	if err := os.Remove(f.own); err != nil {
		t.Fatal(err)
	}
	n := len(f.server.Reviews())
	f.fail(t, "no file", f.token(nil), guidon.Internal)
	if got := len(f.server.Reviews()); got != n {
		t.Error("the API server was asked without a token")
	}
}

// TestOwnTokenAnewForKeys: the same for the keys, which are then unavailable.
func TestOwnTokenAnewForKeys(t *testing.T) {
	f := newFixture(t, byKeys)
	f.accept(t, "first", f.token(nil))
	f.clock.Advance(24 * time.Hour)
	if err := os.Remove(f.own); err != nil {
		t.Fatal(err)
	}
	f.fail(t, "no file", f.token(nil), guidon.Unavailable)
	f.clock.Advance(time.Minute)
	f.server.Own = "renewed"
	if err := os.WriteFile(f.own, []byte("renewed\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.accept(t, "renewed", f.token(nil))
}
