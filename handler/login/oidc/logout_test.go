package oidc_test

import (
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/handler/login/oidc"
)

const logoutEvent = "http://schemas.openid.net/event/backchannel-logout"

// logoutClaims returns the claims of a logout token, with other values for some.
func (w *world) logoutClaims(others map[string]any) map[string]any {
	c := w.flow.Standard()
	c["jti"], c["sid"], c["events"] = "token-1", "session-1", map[string]any{logoutEvent: map[string]any{}}
	maps.Copy(c, others)
	maps.DeleteFunc(c, func(_ string, value any) bool { return value == logintest.Absent })
	return c
}

func (w *world) logoutToken(typ string, others map[string]any) string {
	header := `{"alg":"ES256","kid":"p256"}`
	if typ != "" {
		header = fmt.Sprintf(`{"alg":"ES256","kid":"p256","typ":%q}`, typ)
	}
	return w.flow.Key.Sign("ES256", header, members(w.logoutClaims(others), ""))
}

func TestVerifyLogout(t *testing.T) {
	w := newWorld(t, nil)
	until := w.clock.Now().Add(4 * time.Minute)
	absent := map[string]any{"sid": logintest.Absent}
	for _, test := range []struct {
		name   string
		typ    string
		others map[string]any
		want   oidc.Logout
	}{
		{"both", "logout+jwt", nil, oidc.Logout{Subject: "oidc:acme:sub:ada", Session: "session-1", ID: "token-1", Until: until}},
		{"subject", "JWT", absent, oidc.Logout{Subject: "oidc:acme:sub:ada", ID: "token-1", Until: until}},
		{"session", "", map[string]any{"sub": logintest.Absent}, oidc.Logout{Session: "session-1", ID: "token-1", Until: until}},
		{"upper case", "LOGOUT+JWT", nil, oidc.Logout{Subject: "oidc:acme:sub:ada", Session: "session-1", ID: "token-1", Until: until}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := w.VerifyLogout(t.Context(), w.logoutToken(test.typ, test.others))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Errorf("logout (-want +got):\n%s", diff)
			}
		})
	}
}

// checkLogout checks that the token is accepted, or not because of the cause.
func (w *world) checkLogout(t *testing.T, token, cause string) {
	t.Helper()
	logout, err := w.VerifyLogout(t.Context(), token)
	checkVerdict(t, err, cause)
	if (logout == nil) != (err != nil) {
		t.Errorf("got %v and error %v, want one of them", logout, err)
	}
	if err != nil && guidon.PublicMessage(err) != "invalid logout token" {
		t.Errorf("clients see %q", guidon.PublicMessage(err))
	}
}

func TestLogoutClaims(t *testing.T) {
	w := newWorld(t, nil)
	for _, test := range claimsCases {
		t.Run(test.name, func(t *testing.T) {
			w.checkLogout(t, w.logoutToken("logout+jwt", map[string]any{test.claim: test.value}), test.cause)
		})
	}
	event := func(value any) map[string]any { return map[string]any{"events": value} }
	for _, test := range []struct {
		name   string
		others map[string]any
		cause  string
	}{
		{"nonce", map[string]any{"nonce": "x"}, "nonce"},
		{"nonce null", map[string]any{"nonce": nil}, "nonce"},
		{"nonce empty", map[string]any{"nonce": ""}, "nonce"},
		{"no events", event(logintest.Absent), "events must"},
		{"events null", event(nil), "events must"},
		{"events array", event([]any{logoutEvent}), "events must"},
		{"events text", event(logoutEvent), "events must"},
		{"another event", event(map[string]any{"http://schemas.openid.net/event/other": map[string]any{}}), "events must"},
		{"two events", event(map[string]any{logoutEvent: map[string]any{}, "x": map[string]any{}}), "one member"},
		{"event null", event(map[string]any{logoutEvent: nil}), "an object"},
		{"event true", event(map[string]any{logoutEvent: true}), "an object"},
		{"event with members", event(map[string]any{logoutEvent: map[string]any{"x": 1}}), ""},
		{"event in another case", event(map[string]any{strings.ToUpper(logoutEvent): map[string]any{}}), "events must"},
		{"no jti", map[string]any{"jti": logintest.Absent}, "jti"},
		{"jti empty", map[string]any{"jti": ""}, "jti"},
		{"jti number", map[string]any{"jti": 1}, "jti is not a string"},
		{"jti too long", map[string]any{"jti": strings.Repeat("x", 256)}, "jti"},
		{"jti with a newline", map[string]any{"jti": "a\nb"}, "jti"},
		{"neither sid nor sub", map[string]any{"sid": logintest.Absent, "sub": logintest.Absent}, "sid"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w.checkLogout(t, w.logoutToken("logout+jwt", test.others), test.cause)
		})
	}
}

// TestLogoutTimes: a token is good for three minutes, and is remembered as long as that.
func TestLogoutTimes(t *testing.T) {
	w := newWorld(t, nil)
	for offset, cause := range map[time.Duration]string{
		0: "", 60 * time.Second: "", 61 * time.Second: "iat is ahead", -180 * time.Second: "", -181 * time.Second: "ago",
	} {
		issued := w.clock.Now().Add(offset)
		w.checkLogout(t, w.logoutToken("", map[string]any{"iat": issued.Unix()}), cause)
	}
	token := w.logoutToken("", nil)
	logout, err := w.VerifyLogout(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	for w.clock.Now().Before(logout.Until.Add(-time.Minute + time.Second)) { // an instance may be a minute behind
		w.clock.Advance(time.Second)
	}
	w.checkLogout(t, token, "ago")
}

func TestLogoutForms(t *testing.T) {
	w := newWorld(t, nil)
	payload := members(w.logoutClaims(nil), "")
	for _, test := range []struct{ name, token, cause string }{
		{"empty", "", "number of segments"},
		{"typ of access tokens", w.logoutToken("at+jwt", nil), "typ"},
		{"typ of other events", w.logoutToken("secevent+jwt", nil), "typ"},
		{"another key", logintest.New("P-256 2", "p256").Sign("ES256", `{"alg":"ES256","kid":"p256"}`, payload), "signature"},
		{"alg none", logintest.Encode([]byte(`{"alg":"none"}`)) + "." + logintest.Encode([]byte(payload)) + ".", "token"},
		{"HS256 with the public key", hmacToken(w.flow.Key.PEM())(w.logoutClaims(nil)), "token"},
		{"ID token", w.flow.Key.Token("ES256", w.flow.Standard()), "events must"},
		{"too large", w.logoutToken("", map[string]any{"x": strings.Repeat("x", 64<<10)}), "65536"},
	} {
		t.Run(test.name, func(t *testing.T) { w.checkLogout(t, test.token, test.cause) })
	}
	w.flow.Token = func(c map[string]any) string { // as an ID token
		others := w.logoutClaims(nil)
		return w.flow.Key.Token("ES256", others)
	}
	_, err := w.signIn(t)
	checkVerdict(t, err, "nonce")
}

func TestLogoutUnavailable(t *testing.T) {
	w := newWorld(t, nil)
	w.remote.Serve(logintest.KeysPath, logintest.Reject(500, ""))
	_, err := w.VerifyLogout(t.Context(), w.logoutToken("", nil))
	checkCode(t, err, guidon.Unavailable, "keys")
}

func TestEndSessionURL(t *testing.T) {
	const back = "https://flags.example/sign-in?a=b&c"
	for _, test := range []struct {
		endpoint, hint, back string
		want                 url.Values
	}{
		{"/logout", "ada@example.com", back, url.Values{
			"client_id": {"guidon"}, "logout_hint": {"ada@example.com"}, "post_logout_redirect_uri": {back},
		}},
		{"/logout?policy=1&client_id=x&logout_hint=y", "", "", url.Values{"policy": {"1"}, "client_id": {"guidon"}}},
	} {
		w := newWorld(t, nil)
		w.discover("end_session_endpoint", w.remote.URL+test.endpoint)
		got, err := w.EndSessionURL(t.Context(), test.hint, test.back)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(got)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, u.Query()); diff != "" || !strings.HasPrefix(got, w.remote.URL+"/logout?") {
			t.Errorf("%s (-want +got):\n%s", got, diff)
		}
	}
	w := newWorld(t, nil)
	if got, err := w.EndSessionURL(t.Context(), "ada", back); got != "" || err != nil {
		t.Errorf("without an endpoint: got %q and %v, want nothing", got, err)
	}
	w = newWorld(t, nil)
	w.remote.Close()
	_, err := w.EndSessionURL(t.Context(), "ada", back)
	checkCode(t, err, guidon.Unavailable, "discovery")
}
