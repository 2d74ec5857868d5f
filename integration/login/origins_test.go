package login

import (
	"slices"
	"strings"
	"testing"
)

// TestOrigins: pages of other origins cannot write with the cookie, or sign anybody in or
// out, and are told so before anything else is looked at.
func TestOrigins(t *testing.T) {
	t.Parallel()
	p := newProvider(t, "google")
	s := start(t, append(p.settings(), "AUTHENTICATION_SESSION_CSRF_TRUSTED_ORIGINS=https://admin.example",
		"AUTHORIZATION_DEFAULT_ROLES_OIDC=editor", "CORS_ENABLED=true", "CORS_ALLOWED_ORIGINS=https://admin.example https://other.example")...)
	b := s.signedIn(t, p, nil)
	cookie := "Cookie: " + sessionCookie + "=" + b.session()
	bearer := "Authorization: Bearer " + b.session()
	foreign := [][]string{
		{"Origin: https://evil.example"}, {"Origin: https://evil.example", "Sec-Fetch-Site: cross-site"}, {"Sec-Fetch-Site: cross-site"}, {"Sec-Fetch-Site: same-site"},
		{"Origin: null"}, {"Origin: https://other.flags.example", "Sec-Fetch-Site: same-site"}, {"Origin: http://flags.example"}, {"Origin: https://flags.example.evil"},
		{"Origin: https://flags.example:444"}, {"Origin: https://flags.example/"}, {"Sec-Fetch-Site: nonsense"}, {"Origin: https://admin.example.evil", "Sec-Fetch-Site: cross-site"},
		{"Origin: https://other.example", "Sec-Fetch-Site: cross-site"},
	}
	own := [][]string{
		{"Origin: https://flags.example"}, {"Origin: https://flags.example", "Sec-Fetch-Site: same-origin"}, {"Sec-Fetch-Site: same-origin"}, {"Sec-Fetch-Site: none"},
		nil, {"Origin: https://admin.example"}, {"Origin: https://admin.example", "Sec-Fetch-Site: cross-site"},
	}
	type write struct{ method, path, body string }
	writes := []write{
		{"PUT", "/api/v1/flags/nothing", `{"name":"N"}`}, {"DELETE", "/api/v1/flags/nothing", ""}, {"POST", "/api/v1/flags", `{}`},
		{"POST", "/evaluate/v1/boolean", `{"flagKey":"f","entityId":"e"}`}, {"POST", "/ofrep/v1/evaluate/flags/f", `{}`},
		{"POST", "/auth/v1/method/token", `{"name":"x"}`}, {"DELETE", "/auth/v1/self/sessions/x", ""},
		{"POST", "/auth/v1/bindings", `{}`}, {"POST", "/auth/v1/self/grants", `{}`},
	}
	// These sign in or out, so that they need no cookie.
	steps := []write{
		{"PUT", "/auth/v1/self/expire", ""}, {"DELETE", "/auth/v1/self/revoke", ""}, {"POST", "/auth/v1/self/sessions", "{}"}, {"POST", exchangePath, "{}"},
	}
	for _, from := range foreign {
		for _, w := range append(slices.Clone(writes), steps...) {
			got := s.send(t, w.method, w.path, w.body, append(slices.Clone(from), cookie)...)
			if got.StatusCode != 403 || !strings.Contains(got.body, "cross-origin request") {
				t.Errorf("%s %s from %q: got %d %s, want 403", w.method, w.path, from, got.StatusCode, got.body)
			}
			if len(got.Header.Values("Set-Cookie")) > 0 {
				t.Errorf("%s %s from %q: cookies %v", w.method, w.path, from, got.Header)
			}
			if got := s.send(t, w.method, w.path, w.body, append(slices.Clone(from), cookie, "Authorization: Basic YTpi")...); got.StatusCode != 403 {
				t.Errorf("%s %s from %q with the credential of a proxy: got %d %s, want 403", w.method, w.path, from, got.StatusCode, got.body)
			}
			if w.path == exchangePath { // no credential is checked
				continue
			}
			if got := s.send(t, w.method, w.path, w.body, append(slices.Clone(from), cookie, bearer)...); w.path != "/auth/v1/self/revoke" && w.path != "/auth/v1/self/expire" && got.StatusCode == 403 && strings.Contains(got.body, "cross-origin") {
				t.Errorf("%s %s from %q with a bearer token: got %d %s", w.method, w.path, from, got.StatusCode, got.body)
			}
			if w.path == "/auth/v1/self/revoke" || w.path == "/auth/v1/self/expire" { // it worked with the bearer token
				b = s.signedIn(t, p, nil)
				cookie, bearer = "Cookie: "+sessionCookie+"="+b.session(), "Authorization: Bearer "+b.session()
			}
		}
		for _, w := range steps {
			if got := s.send(t, w.method, w.path, w.body, from...); got.StatusCode != 403 {
				t.Errorf("%s %s from %q without a cookie: got %d, want 403", w.method, w.path, from, got.StatusCode)
			}
		}
		if got := s.send(t, "GET", "/auth/v1/self", "", append(slices.Clone(from), cookie)...); got.StatusCode != 200 {
			t.Errorf("a read from %q: got %d %s", from, got.StatusCode, got.body)
		} else if got.Header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("a read from %q: credentials are allowed", from)
		}
	}
	for _, from := range own {
		for _, w := range writes {
			if got := s.send(t, w.method, w.path, w.body, append(slices.Clone(from), cookie)...); strings.Contains(got.body, "cross-origin") {
				t.Errorf("%s %s from %q: got %d %s", w.method, w.path, from, got.StatusCode, got.body)
			}
		}
	}
	got := s.send(t, "GET", "/auth/v1/self", "", "Origin: https://admin.example", cookie)
	if got.Header.Get("Access-Control-Allow-Credentials") != "true" || got.Header.Get("Access-Control-Allow-Origin") != "https://admin.example" {
		t.Errorf("a trusted origin: headers %v, want credentials allowed", got.Header)
	}
	for _, override := range []string{"X-HTTP-Method-Override: DELETE", "X-HTTP-Method: DELETE", "X-Method-Override: DELETE"} {
		if got := s.send(t, "GET", "/auth/v1/self", "", override, cookie); got.StatusCode != 200 {
			t.Errorf("%s: got %d", override, got.StatusCode)
		}
	}
	b.is(200)
}
