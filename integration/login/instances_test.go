package login

import (
	"bufio"
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/integration/harness"
)

// pair starts two instances on one database.
func pair(t *testing.T, settings ...string) (first, second *service) {
	t.Helper()
	harness.Postgres.Need(t)
	database := harness.Postgres.Migrated(t)
	return startOn(t, database, settings...), startOn(t, database, settings...)
}

// TestTwoInstances: what begins at one instance can end at the other, once, and what one
// ends has ended at the other.
func TestTwoInstances(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	c, kubernetes := cluster(t)
	a, z := pair(t, slices.Concat(p.settings(), kubernetes)...)
	visitor := func(b *browser, s *service) *browser { // the same browser at the other instance
		return &browser{t: t, service: s, cookies: slices.Clone(b.cookies)}
	}
	for _, at := range [][2]*service{{a, z}, {z, a}} {
		b := at[0].browser(t)
		q := b.attempt(p)
		there := visitor(b, at[1])
		if got := there.callback("google", q); got.StatusCode != 302 {
			t.Fatalf("callback at the other instance: got %d %s", got.StatusCode, got.body)
		}
		there.is(200)
		visitor(there, at[0]).is(200)
		if got := b.callback("google", q); got.StatusCode != 401 {
			t.Errorf("the same callback at the first instance: got %d, want 401", got.StatusCode)
		}
		code := there.grant()
		s := at[0]
		got := s.status(t, 200, "POST", exchangePath, exchangeBody(code, verifier))
		token := decode[struct{ ClientToken string }](t, got).ClientToken
		s.secrets.plant(token)
		at[1].status(t, 401, "POST", exchangePath, exchangeBody(code, verifier))
		at[1].status(t, 200, "GET", "/auth/v1/self", "", "Authorization: Bearer "+token)
		if got := there.send("DELETE", "/auth/v1/self/revoke?everywhere=true", ""); got.StatusCode != 200 {
			t.Errorf("revoke: %d %s", got.StatusCode, got.body)
		}
		at[0].status(t, 401, "GET", "/auth/v1/self", "", "Authorization: Bearer "+token)
	}

	account := c.Key.Token("ES256", c.Claims("shop", "cart", nil))
	if exchangeAccount(t, a, account).ClientToken != exchangeAccount(t, z, account).ClientToken {
		t.Error("two instances gave different client tokens for one account token")
	}

	b := a.signedIn(t, p, nil)
	now := time.Now().Unix()
	logout := p.Key.Token("ES256", map[string]any{
		"iss": p.URL, "aud": "guidon", "sub": "ada", "iat": now, "exp": now + 60, "jti": "1", "events": map[string]any{logoutEvent: map[string]any{}},
	})
	const form = "Content-Type: application/x-www-form-urlencoded"
	z.status(t, 200, "POST", loginPath("google", "revoke"), "logout_token="+logout, form)
	b.is(401)
	a.status(t, 400, "POST", loginPath("google", "revoke"), "logout_token="+logout, form)
}

// TestRaceOfInstances: of callbacks of one attempt that reach both instances at the same
// time, one makes a session.
func TestRaceOfInstances(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	a, z := pair(t, p.settings()...)
	for range 5 {
		b := a.browser(t)
		u := b.begin("google", "")
		q := b.agree(p, u)
		nonce := queryOf(t, u).Get("nonce")
		lenient := answering(func() any { // takes a code twice
			claims := p.Standard()
			claims["nonce"] = nonce
			return map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": p.Key.Token("ES256", claims)}
		})
		p.failing(logintest.TokenPath, lenient, func() {
			line := b.cookieLine(loginPath("google", "callback"))
			turns := make(chan *service, 10)
			for range 5 {
				turns <- a
				turns <- z
			}
			if n := together(10, func() bool {
				s := <-turns
				return s.send(t, "GET", loginPath("google", "callback")+"?"+q.Encode(), "", "Cookie: "+line).StatusCode == 302
			}); n != 1 {
				t.Errorf("%d sessions, want 1", n)
			}
		})
	}
}

// TestBindingsOfInstances: a binding that one instance changes counts at the other at once,
// also for the session of a person and for streams.
func TestBindingsOfInstances(t *testing.T) {
	t.Parallel()
	r := newRobots(t)
	a, z := pair(t, r.settings()...)
	for range 3 {
		id := a.bind(t, "viewer", "jwt:sub:ada")
		z.status(t, 200, "GET", "/api/v1/flags", "", r.as("ada"))
		stream := z.stream(t, "/api/v1/namespaces/default/changes/stream", r.as("ada"))
		events := z.stream(t, "/ofrep/v1/events", r.as("ada"))
		a.status(t, 200, "DELETE", "/auth/v1/bindings/"+id, "", asAdmin)
		z.status(t, 403, "GET", "/api/v1/flags", "", r.as("ada"))
		for name, ended := range map[string]<-chan string{"changes": stream, "OFREP": events} {
			select {
			case text := <-ended:
				t.Logf("the stream of %s ended with %q", name, text)
			case <-time.After(harness.Patience):
				t.Errorf("the stream of %s goes on without a role", name)
			}
		}
		if got := z.send(t, "GET", "/api/v1/namespaces/default/changes/stream", "", r.as("ada")); got.StatusCode != 403 {
			t.Errorf("a stream without a role: got %d %s, want 403", got.StatusCode, got.body)
		}
	}
	if !strings.Contains(z.Log(), `"ended":"refused"`) {
		t.Error("the log does not say that the streams were refused")
	}
}

// stream opens a stream and returns a channel that receives its text when it ends.
func (s *service) stream(t *testing.T, path, header string) <-chan string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, "GET", s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	name, value, _ := strings.Cut(header, ": ")
	request.Header.Set(name, value)
	request.Header.Set("Accept", "text/event-stream")
	got, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if got.StatusCode != 200 {
		t.Fatalf("%s: got %d", path, got.StatusCode)
	}
	ended := make(chan string, 1)
	go func() {
		defer got.Body.Close()
		var text strings.Builder
		for lines := bufio.NewScanner(got.Body); lines.Scan(); {
			text.WriteString(lines.Text() + "\n")
		}
		ended <- text.String()
	}()
	return ended
}
