package main

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/login/logintest"
)

// TestConfigCheckOnline: every provider is asked, also whether it accepts the credentials of
// this service, and what the server must be able to reach is printed, also if one of them
// cannot be used.
func TestConfigCheckOnline(t *testing.T) {
	key := logintest.New("RSA", "1")
	openID := logintest.NewFlow(logintest.NewProvider(t, key), key, time.Now)
	host := logintest.NewCodeHost(t, "github")
	nothing := httptest.NewServer(http.NotFoundHandler())
	defer nothing.Close()
	acme := func(issuer, secret string) []string {
		const prefix = "GUIDON_AUTHENTICATION_METHODS_OIDC_PROVIDERS_ACME_"
		return []string{prefix + "ISSUER_URL=" + issuer, prefix + "CLIENT_ID=guidon", prefix + "CLIENT_SECRET=" + secret, prefix + "ALLOW_EVERYONE=true"}
	}
	github := func(url, secret string) []string {
		const prefix = "GUIDON_AUTHENTICATION_METHODS_CODEHOST_"
		return []string{prefix + "ENABLED=true", prefix + "CLIENT_ID=" + host.ClientID, prefix + "CLIENT_SECRET=" + secret,
			prefix + "SERVER_URL=" + url, prefix + "ALLOW_EVERYONE=true"}
	}
	s := newShell(t, "GUIDON_SERVER_PUBLIC_URL=https://flags.example", "GUIDON_AUTHENTICATION_REQUIRED=true",
		"GUIDON_AUTHENTICATION_METHODS_OIDC_ENABLED=true", "GUIDON_AUTHENTICATION_METHODS_JWT_ENABLED=true",
		"GUIDON_AUTHENTICATION_METHODS_JWT_JWKS_URL="+openID.Provider.URL+logintest.KeysPath, "GUIDON_AUTHENTICATION_METHODS_JWT_VALIDATE_CLAIMS_AUDIENCES=guidon")
	issuer := openID.Provider.URL
	for name, test := range map[string]struct {
		settings []string
		code     int
		want     []string
	}{
		"all good": {slices.Concat(acme(issuer, openID.ClientSecret), github(host.URL, host.ClientSecret)), cli.ExitOK, []string{
			"oidc acme: ok\n  " + issuer + "\n  " + issuer + "/token\n  " + issuer + logintest.KeysPath + "\n", "codehost: ok\n", "jwt: ok\n"}},
		"wrong secrets": {slices.Concat(acme(issuer, "wrong"), github(host.URL, "wrong")), cli.ExitFindings, []string{
			`oidc acme: provider "acme" is misconfigured: the provider rejected our client_id or client_secret`,
			"codehost: the code host rejected this service; check client_id, client_secret, redirect_address and server_url", "jwt: ok\n"}},
		"other servers": {slices.Concat(acme(nothing.URL, "secret"), github(nothing.URL, "secret"), []string{
			"GUIDON_AUTHENTICATION_METHODS_KUBERNETES_ENABLED=true", "GUIDON_AUTHENTICATION_METHODS_KUBERNETES_DISCOVERY_URL=" + nothing.URL}), cli.ExitFindings, []string{
			"oidc acme: cannot get the discovery document", "codehost: ", "kubernetes: provider \"kubernetes\" is unavailable", "status 404", "jwt: ok\n"}},
	} {
		r := s.with(test.settings...).run("config", "check", "--online")
		for _, want := range test.want {
			if r.code != test.code || !strings.Contains(r.out+r.err, want) {
				t.Errorf("%s: got exit code %d, %q and %q, want %d and %q", name, r.code, r.out, r.err, test.code, want)
			}
		}
	}
	if got := newShell(t).ok("config", "check", "--online"); !strings.Contains(got, "no providers") {
		t.Errorf("got %q without providers", got)
	}
}
