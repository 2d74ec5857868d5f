package login

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/handler/login/logintest"
)

type sessionList struct{ Authentications []authentication }

// TestSessions: people see and end their own sessions, and no others.
func TestSessions(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	s := start(t, append(p.settings(), "AUTHENTICATION_SESSION_MAX_PER_IDENTITY=3")...)
	eve := s.signedIn(t, p, map[string]any{"sub": "eve"})
	var ada []*browser
	for range 3 {
		ada = append(ada, s.signedIn(t, p, nil))
		time.Sleep(2 * time.Millisecond) // they are ordered by time
	}
	list := decode[sessionList](t, ada[0].get("/auth/v1/self/sessions"))
	if len(list.Authentications) != 3 {
		t.Fatalf("%d sessions, want 3", len(list.Authentications))
	}
	theirs := decode[sessionList](t, eve.get("/auth/v1/self/sessions")).Authentications
	if len(theirs) != 1 || slices.ContainsFunc(list.Authentications, func(a authentication) bool { return a.ID == theirs[0].ID }) {
		t.Errorf("sessions of another: %v", theirs)
	}
	for _, id := range []string{theirs[0].ID, "00000000-0000-0000-0000-000000000000", "x"} {
		if got := ada[0].send("DELETE", "/auth/v1/self/sessions/"+id, ""); got.StatusCode != 404 {
			t.Errorf("DELETE %s: got %d %s, want 404", id, got.StatusCode, got.body)
		}
	}
	bootstrap := decode[authentication](t, s.send(t, "GET", "/auth/v1/self", "", asAdmin))
	if got := ada[0].send("DELETE", "/auth/v1/self/sessions/"+bootstrap.ID, ""); got.StatusCode != 404 {
		t.Errorf("DELETE of the bootstrap token: got %d %s, want 404", got.StatusCode, got.body)
	}
	eve.is(200)

	fourth := s.signedIn(t, p, nil) // the oldest gives way
	ada[0].is(401)
	ada[1].is(200)
	second := decode[authentication](t, ada[1].get("/auth/v1/self")).ID
	if got := fourth.send("DELETE", "/auth/v1/self/sessions/"+second, ""); got.StatusCode != 200 {
		t.Errorf("DELETE of an own session: got %d %s", got.StatusCode, got.body)
	}
	ada[1].is(401)
	ada[2].is(200)

	before := fourth.session()
	p.as(nil)
	fourth.signIn(p) // replaces the session that the browser has
	if fourth.session() == before {
		t.Error("signing in again gave the same token")
	}
	s.status(t, 401, "GET", "/auth/v1/self", "", "Authorization: Bearer "+before)
	if n := len(decode[sessionList](t, fourth.get("/auth/v1/self/sessions")).Authentications); n != 2 {
		t.Errorf("%d sessions after signing in again, want 2", n)
	}
	p.as(map[string]any{"sub": "eve"})
	fourth.signIn(p) // as somebody else
	eve.is(200)
	ada[2].is(200)
	if n := len(decode[sessionList](t, ada[2].get("/auth/v1/self/sessions")).Authentications); n != 1 {
		t.Errorf("%d sessions of a person whose browser another uses now, want 1", n)
	}
}

// TestTwoSessionCookies: which one a sibling domain has planted is not known.
func TestTwoSessionCookies(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	s := start(t, p.settings()...)
	b := s.signedIn(t, p, nil)
	other := s.signedIn(t, p, map[string]any{"sub": "eve"})
	for _, cookies := range []string{
		"%[1]s=%[2]s; %[1]s=%[3]s", "%[1]s=%[2]s; %[1]s=%[2]s", "%[1]s=%[3]s;%[1]s=%[2]s", "a=b; %[1]s=x; c=d; %[1]s=%[2]s",
	} {
		s.status(t, 401, "GET", "/auth/v1/self", "", "Cookie: "+fmt.Sprintf(cookies, sessionCookie, b.session(), other.session()))
	}
	s.status(t, 401, "GET", "/auth/v1/self", "", "Cookie: "+sessionCookie+"="+b.session(), "Cookie: "+sessionCookie+"="+other.session())
	s.status(t, 401, "GET", "/auth/v1/self", "", "Cookie: __Host-"+sessionCookie+"="+b.session())
	s.status(t, 200, "GET", "/auth/v1/self", "", "Cookie: a=b; "+sessionCookie+"="+b.session())
}

// TestSignOut: every way to end a session ends it at once.
func TestSignOut(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	s := start(t, p.settings("LOGOUT=provider")...)
	cleared := []string{"service_client_state: Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax", sessionCookie + ": Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax"}
	for name, c := range map[string]struct {
		method, path string
		others       int // status of the person's other session afterwards
		next         bool
	}{
		"expire":                 {"PUT", "/auth/v1/self/expire", 200, false},
		"revoke":                 {"DELETE", "/auth/v1/self/revoke", 200, true},
		"revoke, not everywhere": {"DELETE", "/auth/v1/self/revoke?everywhere=false", 200, true},
		"revoke everywhere":      {"DELETE", "/auth/v1/self/revoke?everywhere=true", 401, true},
	} {
		b, other, eve := s.signedIn(t, p, nil), s.signedIn(t, p, nil), s.signedIn(t, p, map[string]any{"sub": "eve"})
		token := b.session()
		got := b.send(c.method, c.path, "")
		if got.StatusCode != 200 || b.session() != "" {
			t.Errorf("%s: got %d %s", name, got.StatusCode, got.body)
		}
		checkCookies(t, got, cleared...)
		s.status(t, 401, "GET", "/auth/v1/self", "", "Authorization: Bearer "+token)
		if at := other.get("/auth/v1/self").StatusCode; at != c.others {
			t.Errorf("%s: another session of the person gets %d, want %d", name, at, c.others)
		}
		eve.is(200)
		if c.next {
			checkNext(t, got)
		}
	}
	s.status(t, 401, "DELETE", "/auth/v1/self/revoke", "")
	got := s.status(t, 200, "GET", "/auth/v1/method", "", "Cookie: "+sessionCookie+"=gone")
	if len(got.Header.Values("Set-Cookie")) > 0 {
		t.Errorf("a public operation cleared cookies: %v", got.Header)
	}
}

// checkNext checks the address at the provider that ends the session there.
func checkNext(t *testing.T, r response) {
	t.Helper()
	u, err := url.Parse(decode[struct{ NextURI string }](t, r).NextURI)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	want := url.Values{
		"fixed": {"1"}, "client_id": {"guidon"}, "logout_hint": q["logout_hint"],
		"post_logout_redirect_uri": {"https://flags.example/base/sign-in"},
	}
	if u.Path != "/end" || q.Encode() != want.Encode() || q.Get("logout_hint") == "" {
		t.Errorf("nextUri %s", u)
	}
}

// TestLocalSignOut: without logout=provider there is no further address.
func TestLocalSignOut(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	s := start(t, p.settings()...)
	b := s.signedIn(t, p, nil)
	if got := b.send("DELETE", "/auth/v1/self/revoke", ""); got.StatusCode != 200 || decode[struct{ NextURI string }](t, got).NextURI != "" {
		t.Errorf("got %d %s, want no nextUri", got.StatusCode, got.body)
	}
}

// TestExpiry: the expiry of a session can come sooner, but not later.
func TestExpiry(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	s := start(t, p.settings()...)
	for after, want := range map[time.Duration]int{48 * time.Hour: 400, 25 * time.Hour: 400, time.Hour: 200} {
		b := s.signedIn(t, p, nil)
		at := url.QueryEscape(time.Now().Add(after).UTC().Format(time.RFC3339))
		if got := b.send("PUT", "/auth/v1/self/expire?expiresAt="+at, ""); got.StatusCode != want {
			t.Errorf("expire in %v: got %d %s, want %d", after, got.StatusCode, got.body, want)
		}
	}
	static := s.token(t, `{"name":"static"}`)
	at := url.QueryEscape(time.Now().Add(9000 * time.Hour).UTC().Format(time.RFC3339))
	s.status(t, 200, "PUT", "/auth/v1/self/expire?expiresAt="+at, "", "Authorization: Bearer "+static)
}

// token creates a static token.
func (s *service) token(t testing.TB, body string) string {
	t.Helper()
	token := decode[struct{ ClientToken string }](t, s.status(t, 200, "POST", "/auth/v1/method/token", body, asAdmin)).ClientToken
	s.secrets.plant(token)
	return token
}

// TestTokenSession: the form "sign in with a token" makes a session that ends with the token.
func TestTokenSession(t *testing.T) {
	t.Parallel()
	s := start(t)
	created := decode[struct {
		ClientToken    string
		Authentication authentication
	}](t, s.status(t, 200, "POST", "/auth/v1/method/token", `{"name":"form","role":"viewer"}`, asAdmin))
	s.secrets.plant(created.ClientToken)
	bearer := "Authorization: Bearer " + created.ClientToken
	b := s.browser(t)
	got := b.send("POST", "/auth/v1/self/sessions", "{}", bearer)
	if got.StatusCode != 200 || b.session() == "" || b.session() == created.ClientToken {
		t.Fatalf("got %d %s, cookies %v", got.StatusCode, got.body, b.cookies)
	}
	checkCookies(t, got, sessionCookie+": Path=/; Max-Age=86400; HttpOnly; Secure; SameSite=Lax")
	b.is(200)
	if again := b.send("POST", "/auth/v1/self/sessions", "{}"); again.StatusCode == 200 {
		t.Errorf("a session made of a session: %d %s", again.StatusCode, again.body)
	}
	if got := b.send("POST", "/api/v1/flags", `{"key":"f","name":"F"}`); got.StatusCode != 403 {
		t.Errorf("a write with the session of a viewer: got %d %s", got.StatusCode, got.body)
	}
	s.status(t, 200, "DELETE", "/auth/v1/tokens/"+created.Authentication.ID, "", asAdmin)
	b.is(401)
	evaluator := s.token(t, `{"name":"e","role":"evaluator"}`)
	s.status(t, 403, "POST", "/auth/v1/self/sessions", "{}", "Authorization: Bearer "+evaluator)
	s.status(t, 401, "POST", "/auth/v1/self/sessions", "{}")
	s.status(t, 401, "POST", "/auth/v1/self/sessions", "{}", "Authorization: Bearer nonsense")
}

// TestBackChannel: logout tokens end the sessions that they name, once.
func TestBackChannel(t *testing.T) {
	t.Parallel()
	p, other := newProvider(t, "google"), newProvider(t, "entra")
	s := start(t, slices.Concat(p.settings(), other.settings())...)
	now := time.Now().Unix()
	n := 0
	claims := func(changes map[string]any) map[string]any {
		n++
		c := map[string]any{
			"iss": p.URL, "aud": "guidon", "sub": "ada", "iat": now, "exp": now + 120, "jti": fmt.Sprintf("token-%d", n),
			"events": map[string]any{logoutEvent: map[string]any{}},
		}
		for name, v := range changes {
			if c[name] = v; v == logintest.Absent {
				delete(c, name)
			}
		}
		return c
	}
	header := func(typ any) string {
		h := map[string]any{"alg": "ES256", "kid": p.Key.ID}
		if typ != nil {
			h["typ"] = typ
		}
		return asJSON(h)
	}
	send := func(path, token string, headers ...string) response {
		s.secrets.plant(token)
		return s.send(t, "POST", path, url.Values{"logout_token": {token}}.Encode(), append(headers, "Content-Type: application/x-www-form-urlencoded")...)
	}
	path := loginPath("google", "revoke")
	for name, c := range map[string]struct {
		claims map[string]any
		header string
		path   string
	}{
		"nonce":               {claims: map[string]any{"nonce": "n"}},
		"empty nonce":         {claims: map[string]any{"nonce": ""}},
		"null nonce":          {claims: map[string]any{"nonce": nil}},
		"no events":           {claims: map[string]any{"events": logintest.Absent}},
		"empty events":        {claims: map[string]any{"events": map[string]any{}}},
		"another event":       {claims: map[string]any{"events": map[string]any{"http://evil.example": map[string]any{}}}},
		"event is a text":     {claims: map[string]any{"events": map[string]any{logoutEvent: "x"}}},
		"events is a list":    {claims: map[string]any{"events": []string{logoutEvent}}},
		"neither sid nor sub": {claims: map[string]any{"sub": logintest.Absent}},
		"old":                 {claims: map[string]any{"iat": now - 300}},
		"from the future":     {claims: map[string]any{"iat": now + 300}},
		"no iat":              {claims: map[string]any{"iat": logintest.Absent}},
		"expired":             {claims: map[string]any{"exp": now - 90}},
		"no jti":              {claims: map[string]any{"jti": logintest.Absent}},
		"empty jti":           {claims: map[string]any{"jti": ""}},
		"another issuer":      {claims: map[string]any{"iss": other.URL}},
		"another audience":    {claims: map[string]any{"aud": "evil"}},
		"typ at+jwt":          {header: header("at+jwt")},
		"typ id_token":        {header: header("id_token+jwt")},
		"another provider":    {path: loginPath("entra", "revoke")},
	} {
		b := s.signedIn(t, p, nil)
		h := c.header
		if h == "" {
			h = header("logout+jwt")
		}
		at := c.path
		if at == "" {
			at = path
		}
		if got := send(at, p.Key.Sign("ES256", h, asJSON(claims(c.claims)))); got.StatusCode != 400 || got.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: got %d %s, want 400", name, got.StatusCode, got.body)
		}
		b.is(200)
	}
	s.status(t, 404, "POST", loginPath("nobody", "revoke"), "logout_token=a.b.c", "Content-Type: application/x-www-form-urlencoded")
	b := s.signedIn(t, p, nil)
	if got := send(path, p.Key.Token("ES256", map[string]any{"iss": p.URL, "aud": "guidon", "sub": "ada", "iat": now, "exp": now + 60, "nonce": "x"})); got.StatusCode != 400 {
		t.Errorf("an ID token: got %d, want 400", got.StatusCode)
	}
	b.is(200)

	for _, typ := range []any{nil, "JWT", "logout+jwt"} {
		here, there := s.signedIn(t, p, map[string]any{"sid": "s1"}), s.signedIn(t, p, map[string]any{"sid": "s2"})
		eve, elsewhere := s.signedIn(t, p, map[string]any{"sub": "eve", "sid": "s3"}), s.signedIn(t, other, map[string]any{"sid": "s1"})
		bySID := p.Key.Sign("ES256", header(typ), asJSON(claims(map[string]any{"sid": "s1", "sub": logintest.Absent})))
		got := send(path, bySID, "Origin: https://evil.example", "Sec-Fetch-Site: cross-site")
		if got.StatusCode == 403 { // a provider is no browser
			got = send(path, bySID)
		}
		if got.StatusCode != 200 || strings.TrimSpace(got.body) != "{}" || got.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("typ %v: got %d %s", typ, got.StatusCode, got.body)
		}
		here.is(401)
		there.is(200)
		elsewhere.is(200)
		if got := send(path, bySID); got.StatusCode != 400 {
			t.Errorf("the same logout token again: got %d, want 400", got.StatusCode)
		}
		bySub := p.Key.Sign("ES256", header(typ), asJSON(claims(nil)))
		if got := send(path, bySub); got.StatusCode != 200 {
			t.Errorf("by sub: got %d %s", got.StatusCode, got.body)
		}
		there.is(401)
		eve.is(200)
		elsewhere.is(200)
	}
	p.failing(logintest.KeysPath, http.NotFoundHandler(), func() {
		s.signedIn(t, p, nil) // with the keys that are known
	})
}
