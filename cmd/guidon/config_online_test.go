package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/handler/login/logintest"
)

// TestConfigCheckOnline: every provider is asked, and what the server must be able to reach
// is printed, also if one of them cannot be used.
func TestConfigCheckOnline(t *testing.T) {
	openID := logintest.NewProvider(t, logintest.New("RSA", "1"))
	cluster := httptest.NewServer(http.NotFoundHandler())
	defer cluster.Close()
	acme := func(issuer string) []string {
		const prefix = "GUIDON_AUTHENTICATION_METHODS_OIDC_PROVIDERS_ACME_"
		return []string{prefix + "ISSUER_URL=" + issuer, prefix + "CLIENT_ID=guidon", prefix + "ALLOW_EVERYONE=true"}
	}
	common := []string{
		"GUIDON_SERVER_PUBLIC_URL=http://localhost:8080", "GUIDON_AUTHENTICATION_REQUIRED=true",
		"GUIDON_AUTHENTICATION_METHODS_OIDC_ENABLED=true", "GUIDON_AUTHENTICATION_METHODS_JWT_ENABLED=true",
		"GUIDON_AUTHENTICATION_METHODS_JWT_JWKS_URL=" + openID.URL + logintest.KeysPath, "GUIDON_AUTHENTICATION_METHODS_JWT_VALIDATE_CLAIMS_AUDIENCES=guidon",
	}
	s := newShell(t, common...)
	good := s.with(acme(openID.URL)...).ok("config", "check", "--online")
	for _, want := range []string{"oidc acme: ok\n  " + openID.URL + "\n  " + openID.URL + "/token\n  " + openID.URL + logintest.KeysPath + "\n", "jwt: ok\n"} {
		if !strings.Contains(good, want) {
			t.Errorf("got %q, want it to contain %q", good, want)
		}
	}
	bad := s.with(append(acme(cluster.URL),
		"GUIDON_AUTHENTICATION_METHODS_KUBERNETES_ENABLED=true", "GUIDON_AUTHENTICATION_METHODS_KUBERNETES_DISCOVERY_URL="+cluster.URL,
		"GUIDON_AUTHENTICATION_METHODS_CODEHOST_ENABLED=true", "GUIDON_AUTHENTICATION_METHODS_CODEHOST_CLIENT_ID=a", "GUIDON_AUTHENTICATION_METHODS_CODEHOST_CLIENT_SECRET=b",
		"GUIDON_AUTHENTICATION_METHODS_CODEHOST_SERVER_URL="+cluster.URL, "GUIDON_AUTHENTICATION_METHODS_CODEHOST_ALLOW_EVERYONE=true")...)
	r := bad.run("config", "check", "--online")
	for _, want := range []string{"oidc acme: cannot get the discovery document", "codehost: ok\n", "kubernetes: provider \"kubernetes\" is unavailable", "status 404", "jwt: ok\n"} {
		if r.code != exitFindings || !strings.Contains(r.out+r.err, want) {
			t.Errorf("got exit code %d, %q and %q, want %d and %q", r.code, r.out, r.err, exitFindings, want)
		}
	}
	if got := newShell(t).ok("config", "check", "--online"); !strings.Contains(got, "no providers") {
		t.Errorf("got %q without providers", got)
	}
}
