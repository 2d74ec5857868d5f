package login

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/guidonhq/guidon/handler/login/logintest"
)

const verifier = "verifier-of-the-command-line-0123456789-abcdefgh"

func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return logintest.Encode(sum[:])
}

// grant makes a code for a command line with the verifier.
func (b *browser) grant() (code string) {
	b.t.Helper()
	got := b.send("POST", "/auth/v1/self/grants", fmt.Sprintf(`{"codeChallenge":%q,"name":"laptop"}`, challengeOf(verifier)))
	answer := decode[struct{ Code, ExpiresAt string }](b.t, got)
	expires, err := time.Parse(time.RFC3339Nano, answer.ExpiresAt)
	if left := time.Until(expires); got.StatusCode != 200 || err != nil || left < 50*time.Second || left > 60*time.Second {
		b.t.Fatalf("got %d %s, want a code for 60 s", got.StatusCode, got.body)
	}
	b.service.secrets.plant(answer.Code, verifier)
	return answer.Code
}

func exchangeBody(code, verifier string) string {
	return fmt.Sprintf(`{"code":%q,"codeVerifier":%q}`, code, verifier)
}

const exchangePath = "/auth/v1/method/cli/exchange"

// TestGrants: a command line gets the rights of the person who allowed it, once.
func TestGrants(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	s := start(t, p.settings()...)
	b := s.signedIn(t, p, nil)
	code := b.grant()
	for name, body := range map[string]string{
		"another verifier": exchangeBody(code, strings.Repeat("x", 43)), "no verifier": fmt.Sprintf(`{"code":%q}`, code),
		"the challenge": exchangeBody(code, challengeOf(verifier)), "a short verifier": exchangeBody(code, verifier[:42]),
		"a changed code": exchangeBody(code[:40]+strings.Repeat("x", 4)+code[44:], verifier), "no code": fmt.Sprintf(`{"codeVerifier":%q}`, verifier),
		"a session as code": exchangeBody(b.session(), verifier),
	} {
		if got := s.send(t, "POST", exchangePath, body); got.StatusCode != 401 && got.StatusCode != 400 {
			t.Errorf("%s: got %d %s", name, got.StatusCode, got.body)
		}
	}
	got := s.status(t, 200, "POST", exchangePath, exchangeBody(code, verifier)) // none of them has spent it
	answer := decode[struct {
		ClientToken    string
		Authentication authentication
	}](t, got)
	s.secrets.plant(answer.ClientToken)
	bearer := "Authorization: Bearer " + answer.ClientToken
	if got.Header.Get("Cache-Control") != "no-store" || len(got.Header.Values("Set-Cookie")) > 0 {
		t.Errorf("headers %v, want no-store and no cookie", got.Header)
	}
	created, _ := time.Parse(time.RFC3339Nano, answer.Authentication.CreatedAt)
	expires, _ := time.Parse(time.RFC3339Nano, answer.Authentication.ExpiresAt)
	if d := expires.Sub(created); d < 12*time.Hour-2*time.Second || d > 12*time.Hour {
		t.Errorf("lifetime %v, want 12h", d)
	}
	s.status(t, 401, "POST", exchangePath, exchangeBody(code, verifier))
	self := decode[authentication](t, s.status(t, 200, "GET", "/auth/v1/self", "", bearer))
	if self.Metadata["io.service.auth.oidc.sub"] != "ada" || len(self.Access) != 1 || self.Access[0].Role != "viewer" {
		t.Errorf("self of the command line: %+v", self)
	}
	s.status(t, 403, "POST", "/auth/v1/self/grants", fmt.Sprintf(`{"codeChallenge":%q}`, challengeOf(verifier)), bearer)
	s.status(t, 403, "POST", "/auth/v1/self/grants", fmt.Sprintf(`{"codeChallenge":%q}`, challengeOf(verifier)), asAdmin)
	s.status(t, 401, "POST", "/auth/v1/self/grants", fmt.Sprintf(`{"codeChallenge":%q}`, challengeOf(verifier)))
	for _, body := range []string{`{}`, `{"codeChallenge":"short"}`, fmt.Sprintf(`{"codeChallenge":%q,"name":%q}`, challengeOf(verifier), strings.Repeat("n", 65)), fmt.Sprintf(`{"codeChallenge":%q,"name":"a\nb"}`, challengeOf(verifier))} {
		if got := b.send("POST", "/auth/v1/self/grants", body); got.StatusCode != 400 {
			t.Errorf("%s: got %d %s, want 400", body, got.StatusCode, got.body)
		}
	}

	late := b.grant()
	if got := b.send("DELETE", "/auth/v1/self/revoke?everywhere=true", ""); got.StatusCode != 200 {
		t.Fatalf("revoke: %d %s", got.StatusCode, got.body)
	}
	s.status(t, 401, "GET", "/auth/v1/self", "", bearer)
	s.status(t, 401, "POST", exchangePath, exchangeBody(late, verifier)) // the session that allowed it has ended
}

// TestGrantOnce: of many exchanges of a code at the same time one succeeds, and of many
// callbacks of an attempt one makes a session.
func TestGrantOnce(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	s := start(t, p.settings()...)
	b := s.signedIn(t, p, nil)
	code := b.grant()
	if n := together(20, func() bool {
		got := s.send(t, "POST", exchangePath, exchangeBody(code, verifier))
		if got.StatusCode == 200 {
			s.secrets.plant(decode[struct{ ClientToken string }](t, got).ClientToken)
		}
		return got.StatusCode == 200
	}); n != 1 {
		t.Errorf("%d exchanges succeeded, want 1", n)
	}
}

// together runs f concurrently and returns how often it succeeded.
func together(n int, f func() bool) int {
	var succeeded atomic.Int64
	var running sync.WaitGroup
	for range n {
		running.Go(func() {
			if f() {
				succeeded.Add(1)
			}
		})
	}
	running.Wait()
	return int(succeeded.Load())
}

// TestCallbacksAtOnce: a provider that takes a code twice does not make two sessions.
func TestCallbacksAtOnce(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	s := start(t, p.settings()...)
	b := s.browser(t)
	u := b.begin("google", "")
	q := b.agree(p, u)
	nonce := queryOf(t, u).Get("nonce")
	p.failing(logintest.TokenPath, answering(func() any {
		claims := p.Standard()
		claims["nonce"] = nonce
		return map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": p.Key.Token("ES256", claims)}
	}), func() {
		line := b.cookieLine(loginPath("google", "callback"))
		if n := together(20, func() bool {
			got := s.send(t, "GET", loginPath("google", "callback")+"?"+q.Encode(), "", "Cookie: "+line)
			for _, c := range got.Cookies() {
				s.secrets.plant(c.Value)
			}
			if got.StatusCode != 302 && got.StatusCode != 401 {
				t.Errorf("got %d %s", got.StatusCode, got.body)
			}
			return got.StatusCode == 302
		}); n != 1 {
			t.Errorf("%d sessions, want 1", n)
		}
	})
	var list sessionList
	body := s.send(t, "GET", "/auth/v1/tokens", "", asAdmin).body
	if err := json.Unmarshal([]byte(body), &list); err != nil || len(slices.DeleteFunc(list.Authentications, func(a authentication) bool { return a.Method != "METHOD_OIDC" })) != 1 {
		t.Errorf("%v, tokens %s, want one session", err, body)
	}
}
