package oidc_test

import (
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/loginstate"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/handler/login/oidc"
	"github.com/guidonhq/guidon/service"
)

const redirectURI = "https://flags.example/auth/v1/method/oidc/acme/callback"

// world is a provider, what we know of it, and their common clock.
type world struct {
	*oidc.Provider
	remote *logintest.Provider
	flow   *logintest.Flow
	clock  *logintest.Clock
}

// newWorld returns a world. change may change our configuration.
func newWorld(t testing.TB, change func(*oidc.Config)) *world {
	t.Helper()
	key, clock := logintest.New("P-256", "p256"), logintest.NewClock()
	w := &world{remote: logintest.NewProvider(t, key), clock: clock}
	w.flow = logintest.NewFlow(w.remote, key, clock.Now)
	c := oidc.Config{
		GroupsClaim: "groups",
		Name:        "acme", Issuer: w.remote.URL, ClientID: w.flow.ClientID, ClientSecret: w.flow.ClientSecret, RedirectURI: redirectURI,
		PKCE: true, Now: clock.Now,
	}
	if change != nil {
		change(&c)
	}
	var err error
	if w.Provider, err = oidc.New(c); err != nil {
		t.Fatal(err)
	}
	return w
}

// discover changes the discovery document.
func (w *world) discover(name string, value any) {
	members := w.remote.Discovery()
	members["userinfo_endpoint"] = w.remote.URL + logintest.UserinfoPath
	if members[name] = value; value == nil {
		delete(members, name)
	}
	w.remote.Publish(logintest.DiscoveryPath, members)
}

func (w *world) begin(t testing.TB) *loginstate.Attempt {
	t.Helper()
	a, err := loginstate.Begin(w.clock.Now(), w.Fingerprint(), "/")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// authorize begins an attempt and returns it with the code that the provider answers.
func (w *world) authorize(t testing.TB) (*loginstate.Attempt, string) {
	t.Helper()
	a := w.begin(t)
	u, err := w.AuthorizeURL(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	code, err := w.flow.Authorize(u)
	if err != nil {
		t.Fatal(err)
	}
	return a, code
}

// signIn is a whole attempt. Its error must not contain secrets, nor show clients what the
// provider said.
func (w *world) signIn(t testing.TB) (*service.Identity, error) {
	t.Helper()
	a, code := w.authorize(t)
	identity, err := w.Identify(t.Context(), a, code)
	if (identity == nil) != (err != nil) {
		t.Errorf("got identity %v and error %v, want one of them", identity, err)
	}
	w.checkDiscreet(t, err, a, code)
	return identity, err
}

func (w *world) checkDiscreet(t testing.TB, err error, a *loginstate.Attempt, code string) {
	t.Helper()
	if err == nil {
		return
	}
	for _, secret := range []string{a.State(), a.Nonce(), a.Verifier(), code, w.flow.ClientSecret, logintest.AccessToken, "eyJ"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("error %q has the secret %q", err, secret)
		}
	}
	if strings.Contains(guidon.PublicMessage(err), logintest.Words) {
		t.Errorf("clients see %q", guidon.PublicMessage(err))
	}
}

// mustSignIn is signIn for the good case.
func (w *world) mustSignIn(t testing.TB) *service.Identity {
	t.Helper()
	identity, err := w.signIn(t)
	if err != nil {
		t.Fatal(err)
	}
	return identity
}

// checkCode checks that the error has the code, and a cause with the text.
func checkCode(t testing.TB, err error, want guidon.Code, cause string) {
	t.Helper()
	if err == nil || guidon.CodeOf(err) != want || !strings.Contains(err.Error(), cause) {
		t.Errorf("got error %v with code %v, want %v because of %q", err, guidon.CodeOf(err), want, cause)
	}
}
