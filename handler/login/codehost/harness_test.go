package codehost_test

import (
	"context"
	"io"
	"log"
	"net/http"
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/codehost"
	"github.com/guidonhq/guidon/handler/login/loginstate"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/service"
)

var kinds = []string{codehost.GitHub, codehost.GitLab, codehost.Gitea}

// paths are those of the API that a sign-in with all scopes reads, in this order.
var paths = map[string][]string{
	codehost.GitHub: {"/api/v3/user", "/api/v3/user/emails", "/api/v3/user/orgs", "/api/v3/user/teams"},
	codehost.GitLab: {"/api/v4/user", "/oauth/userinfo"},
	codehost.Gitea:  {"/api/v1/user", "/api/v1/user/emails", "/api/v1/user/orgs", "/api/v1/user/teams"},
}

// forEach runs the test for each type of host.
func forEach(t *testing.T, test func(t *testing.T, kind string)) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) { test(t, kind) })
	}
}

// configFor returns the configuration for the double.
func configFor(double *logintest.CodeHost, kind string) codehost.Config {
	return codehost.Config{
		Type: kind, ServerURL: double.URL, PKCE: true,
		ClientID: double.ClientID, ClientSecret: double.ClientSecret, RedirectURI: double.RedirectURI,
	}
}

// start starts a double, and returns the host for it. change may change the configuration.
func start(t testing.TB, kind string, change func(*codehost.Config)) (*logintest.CodeHost, *codehost.Host) {
	t.Helper()
	double := logintest.NewCodeHost(t, kind)
	double.Config.ErrorLog = log.New(io.Discard, "", 0)
	c := configFor(double, kind)
	if change != nil {
		change(&c)
	}
	return double, newHost(t, c)
}

func newHost(t testing.TB, c codehost.Config) *codehost.Host {
	t.Helper()
	host, err := codehost.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return host
}

func begin(t testing.TB, host *codehost.Host) *loginstate.Attempt {
	t.Helper()
	a, err := loginstate.Begin(logintest.NewClock().Now(), host.Fingerprint(), "/")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// authorize begins an attempt, to which the person agrees.
func authorize(t testing.TB, double *logintest.CodeHost, host *codehost.Host) (a *loginstate.Attempt, code string) {
	t.Helper()
	a = begin(t, host)
	url, err := host.AuthorizeURL(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	if code, err = double.Authorize(url); err != nil {
		t.Fatal(err)
	}
	return a, code
}

// signIn does all of an attempt.
func signIn(t testing.TB, double *logintest.CodeHost, host *codehost.Host) (*service.Identity, error) {
	t.Helper()
	return signInContext(t.Context(), t, double, host)
}

func signInContext(ctx context.Context, t testing.TB, double *logintest.CodeHost, host *codehost.Host) (*service.Identity, error) {
	t.Helper()
	a, code := authorize(t, double, host)
	return identify(ctx, t, double, host, a, code)
}

// identify is [codehost.Host.Identify], and checks that an error has no secret, and tells
// clients nothing that the host said.
func identify(ctx context.Context, t testing.TB, double *logintest.CodeHost, host *codehost.Host, a *loginstate.Attempt, code string) (*service.Identity, error) {
	t.Helper()
	identity, err := host.Identify(ctx, a, code)
	if err == nil {
		return identity, nil
	}
	if identity != nil {
		t.Error("an identity and an error")
	}
	for _, secret := range []string{code, a.State(), a.Verifier(), a.Nonce(), double.ClientSecret, double.AccessToken} {
		if secret != "" && strings.Contains(err.Error(), secret) {
			t.Errorf("error %q has a secret", err)
		}
	}
	if public := guidon.PublicMessage(err); strings.Contains(public, logintest.Words) || strings.Contains(public, double.URL) {
		t.Errorf("clients see %q", public)
	}
	return nil, err
}

// checkError checks the code of the error and that its text, which is for logs, has each
// of the words.
func checkError(t testing.TB, err error, want guidon.Code, words ...string) {
	t.Helper()
	if err == nil || guidon.CodeOf(err) != want {
		t.Errorf("got %v, want %v", err, want)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q does not have %q", err, word)
		}
	}
}

// respond answers with the status and the body.
func respond(status int, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

// having returns the subjects that begin with start.
func having(identity *service.Identity, start string) []string {
	var found []string
	for _, s := range identity.Subjects {
		if rest, ok := strings.CutPrefix(s, start); ok {
			found = append(found, rest)
		}
	}
	return found
}
