package login

import (
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/integration/harness"
)

// TestRestart: what a configuration no longer admits ends at once, and attempts of another
// configuration do not go on. All else survives.
func TestRestart(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	base := p.settings("ALLOW_EVERYONE=false", "ALLOWED_EMAILS=ada@corp.example eve@corp.example")
	database := "file:" + filepath.Join(t.TempDir(), "guidon.db")
	s := startOn(t, database, base...)
	ada := s.signedIn(t, p, map[string]any{"email": "ada@corp.example"})
	eve := s.signedIn(t, p, map[string]any{"sub": "eve", "email": "eve@corp.example"})
	p.as(map[string]any{"email": "ada@corp.example"})
	begun := []*browser{s.browser(t), s.browser(t)}
	queries := []map[string][]string{begun[0].attempt(p), begun[1].attempt(p)}
	token := s.token(t, `{"name":"static"}`)
	restart := func(settings ...string) {
		s.stop(t)
		s = startOn(t, database, settings...)
		for _, b := range append(slices.Clone(begun), ada, eve) {
			b.service = s
		}
	}

	restart(p.settings("ALLOW_EVERYONE=false", "ALLOWED_EMAILS=ada@corp.example")...)
	ada.is(200)
	eve.is(401)
	if got := begun[0].callback("google", queries[0]); got.StatusCode != http.StatusFound {
		t.Errorf("an attempt from before the restart: got %d %s", got.StatusCode, got.body)
	}
	restart(p.settings("CLIENT_ID=guidon2")...)
	exchanges := p.Requests(logintest.TokenPath)
	if got := begun[1].callback("google", queries[1]); got.StatusCode != http.StatusUnauthorized || p.Requests(logintest.TokenPath) != exchanges {
		t.Errorf("an attempt of another client id: got %d %s", got.StatusCode, got.body)
	}
	ada.is(200)
	restart("AUTHENTICATION_METHODS_OIDC_ENABLED=false")
	s.status(t, 401, "GET", "/meta/info", "", "Authorization: Bearer "+ada.session()) // nobody vouches for her any longer
	s.status(t, 200, "GET", "/auth/v1/self", "", "Authorization: Bearer "+token)
	restart(base...)
	ada.is(200)
}

// TestProviderAway: the service starts without its providers, and what needs none goes on.
func TestProviderAway(t *testing.T) {
	t.Parallel()
	p, r := newProvider(t, "google"), newRobots(t)
	database := "file:" + filepath.Join(t.TempDir(), "guidon.db")
	settings := slices.Concat(p.settings(), r.settings(), []string{"AUTHORIZATION_DEFAULT_ROLES_JWT=viewer"})
	s := startOn(t, database, settings...)
	b := s.signedIn(t, p, nil)
	s.status(t, 200, "GET", "/auth/v1/self", "", r.as("robot"))
	p.Close()
	r.Close()
	b.is(200)
	s.status(t, 200, "GET", "/auth/v1/self", "", r.as("another robot")) // with known keys
	s.stop(t)
	s = startOn(t, database, settings...)
	b.service = s
	b.is(200)
	s.status(t, 200, "GET", "/auth/v1/self", "", asAdmin)
	for range 3 {
		began := time.Now()
		got := s.status(t, 503, "GET", loginPath("google", "authorize"), "", "Accept: text/html")
		if got.Header.Get("Retry-After") != "5" || time.Since(began) > 5*time.Second+harness.Slack {
			t.Errorf("after %v: headers %v", time.Since(began), got.Header)
		}
	}
	s.status(t, 503, "GET", "/auth/v1/self", "", r.as("third robot"))
}

// TestLapse waits until an attempt and a code for a command line are too old.
func TestLapse(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	s := start(t, append(p.settings(), "AUTHENTICATION_SESSION_STATE_LIFETIME=1m", "AUTHENTICATION_SESSION_TOKEN_LIFETIME=1m")...)
	first := s.signedIn(t, p, nil)
	b := s.browser(t)
	q := b.attempt(p)
	code := first.grant()
	time.Sleep(61 * time.Second)
	exchanges := p.Requests(logintest.TokenPath)
	if got := b.callback("google", q); got.StatusCode != 401 || p.Requests(logintest.TokenPath) != exchanges {
		t.Errorf("an attempt after a minute: got %d %s", got.StatusCode, got.body)
	} else if e := s.event(t, got); e["reason"] != "state" {
		t.Errorf("reason %v, want state", e["reason"])
	}
	first.is(401)
	s.status(t, 401, "POST", exchangePath, exchangeBody(code, verifier))
}

// TestCrowd: of more attempts than may wait for a provider at the same time, the others are
// refused at once, and other providers are not affected.
func TestCrowd(t *testing.T) {
	t.Parallel()
	p, other := newProvider(t, "google"), newProvider(t, "entra")
	p.Serve(logintest.DiscoveryPath, logintest.Hang(make(chan struct{}, 1000)))
	s := start(t, slices.Concat(p.settings(), other.settings())...)
	quick := together(100, func() bool {
		began := time.Now()
		got := s.status(t, 503, "GET", loginPath("google", "authorize"), "")
		return got.Header.Get("Retry-After") == "5" && time.Since(began) < 3*time.Second
	})
	if quick < 30 || quick > 36 {
		t.Errorf("%d of 100 attempts were refused at once, want 36", quick)
	}
	if n := p.Requests(logintest.DiscoveryPath); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
	s.signedIn(t, other, nil)
}

// TestUserinfo: it fills in what the ID token lacks, if it is of the same person.
func TestUserinfo(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	s := start(t, p.settings("USERINFO=true", "ALLOW_EVERYONE=false", "ALLOWED_DOMAINS=corp.example")...)
	for name, c := range map[string]struct {
		token, info map[string]any
		want        int
	}{
		"fills in":         {map[string]any{"email": logintest.Absent, "email_verified": logintest.Absent}, map[string]any{"sub": "ada", "email": "x@corp.example", "email_verified": true}, 302},
		"another person":   {nil, map[string]any{"sub": "eve", "email": "x@corp.example", "email_verified": true}, 401},
		"no sub":           {nil, map[string]any{"email": "x@corp.example"}, 401},
		"does not replace": {map[string]any{"email": "x@evil.example"}, map[string]any{"sub": "ada", "email": "x@corp.example", "email_verified": true}, 403},
		"mixed verification": {map[string]any{"email": "x@corp.example", "email_verified": logintest.Absent},
			map[string]any{"sub": "ada", "email": "y@evil.example", "email_verified": true}, 403},
	} {
		p.as(c.token)
		p.Publish(logintest.UserinfoPath, c.info)
		b := s.browser(t)
		if got := b.callback("google", b.attempt(p)); got.StatusCode != c.want {
			t.Errorf("%s: got %d %s, want %d", name, got.StatusCode, got.body, c.want)
		}
	}
}

// TestStepsAreReads: steps have one method and one path.
func TestStepsAreReads(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	s := start(t, p.settings()...)
	for _, step := range []string{"authorize", "callback"} {
		for _, method := range []string{"POST", "PUT", "DELETE", "PATCH"} {
			b := s.browser(t)
			q := b.attempt(p)
			got := b.send(method, loginPath("google", step)+"?"+q.Encode(), "")
			if got.StatusCode < 400 || b.session() != "" {
				t.Errorf("%s %s: got %d %s", method, step, got.StatusCode, got.body)
			}
		}
	}
	for _, path := range []string{"/auth/v1/method/oidc/google", "/auth/v1/method/oidc//callback", "/auth/v1/method/oidc/google/callback/x", "/auth/v1/method/oidc/%2e%2e/callback", "/auth/v1/method/oidc/a%2fb/callback"} {
		s.status(t, 404, "GET", path, "")
	}
}
