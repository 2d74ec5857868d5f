package oidc_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/handler/login/oidc"
	"github.com/guidonhq/guidon/service"
)

func withUserinfo(t testing.TB) *world {
	t.Helper()
	return newWorld(t, func(c *oidc.Config) { c.Userinfo = true })
}

func TestUserinfo(t *testing.T) {
	w := withUserinfo(t)
	w.flow.Claims = map[string]any{"name": "Ada"}
	var authorization string
	w.remote.Serve(logintest.UserinfoPath, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		authorization = r.Header.Get("Authorization")
		_, _ = fmt.Fprint(rw, `{"sub":"ada","name":"Eve","sid":"s","email":"ada@example.com","email_verified":true,"groups":["ops"]}`)
	}))
	got := w.mustSignIn(t)
	want := []string{"oidc:acme:email:ada@example.com", "oidc:acme:domain:example.com", "oidc:acme:group:ops"}
	if diff := cmp.Diff(want, got.Subjects); diff != "" {
		t.Errorf("subjects (-want +got):\n%s", diff)
	}
	if got.Metadata["io.service.auth.name"] != "Ada" || got.SID != "" {
		t.Errorf("name %q and session %q, want those of the ID token", got.Metadata["io.service.auth.name"], got.SID)
	}
	if authorization != "Bearer "+logintest.AccessToken {
		t.Errorf("Authorization %q, want the access token", authorization)
	}
}

func TestUserinfoRejected(t *testing.T) {
	write := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, body) }
	}
	for _, test := range []struct {
		name    string
		handler http.HandlerFunc
		want    guidon.Code
		cause   string
	}{
		{"another sub", write(`{"sub":"eve"}`), guidon.Unauthenticated, "sub of the ID token"},
		{"sub in another case", write(`{"sub":"Ada"}`), guidon.Unauthenticated, "sub of the ID token"},
		{"no sub", write(`{"email":"ada@example.com","email_verified":true}`), guidon.Unauthenticated, "sub of the ID token"},
		{"sub array", write(`{"sub":["ada"]}`), guidon.Unauthenticated, "sub of the ID token"},
		{"sub twice", write(`{"sub":"ada","sub":"eve"}`), guidon.Unauthenticated, "did not return the sub"},
		{"signed response", write("eyJ.eyJ.x"), guidon.Unavailable, "malformed JSON"},
		{"401", logintest.Reject(401, "invalid_token"), guidon.Unauthenticated, "rejected the access token"},
		{"403", logintest.Reject(403, "insufficient_scope"), guidon.Unauthenticated, "rejected the access token"},
		{"404", logintest.Reject(404, ""), guidon.Unavailable, "status 404"},
		{"500", logintest.Reject(500, ""), guidon.Unavailable, "status 500"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := withUserinfo(t)
			w.remote.Serve(logintest.UserinfoPath, test.handler)
			_, err := w.signIn(t)
			checkCode(t, err, test.want, test.cause)
		})
	}
	t.Run("no endpoint", func(t *testing.T) {
		w := withUserinfo(t)
		w.discover("userinfo_endpoint", nil)
		_, err := w.signIn(t)
		checkCode(t, err, guidon.Unavailable, "no userinfo_endpoint")
	})
	t.Run("another type of token", func(t *testing.T) {
		w := withUserinfo(t)
		w.flow.Response = func(members map[string]any) { members["token_type"] = "DPoP" }
		_, err := w.signIn(t)
		checkCode(t, err, guidon.Unavailable, "DPoP")
	})
	t.Run("unprintable token", func(t *testing.T) {
		w := withUserinfo(t)
		w.flow.Response = func(members map[string]any) { members["access_token"] = "hush\r\nX-Evil: 1" }
		_, err := w.signIn(t)
		checkCode(t, err, guidon.Unavailable, logintest.UserinfoPath)
		if strings.Contains(err.Error(), "hush") || w.remote.Requests(logintest.UserinfoPath) != 0 {
			t.Errorf("error %v and %d requests, want an error without the token and no request", err, w.remote.Requests(logintest.UserinfoPath))
		}
	})
}

// TestUserinfoLater: nothing is requested for an ID token that is not accepted.
func TestUserinfoLater(t *testing.T) {
	w := withUserinfo(t)
	w.flow.Claims = map[string]any{"nonce": "static"}
	_, err := w.signIn(t)
	checkCode(t, err, guidon.Unauthenticated, "nonce")
	if n := w.remote.Requests(logintest.UserinfoPath); n != 0 {
		t.Errorf("%d requests, want none", n)
	}
}

// TestUserinfoNeeded: the userinfo endpoint is asked for a needed claim that the ID token
// lacks, although it is not configured. What is missing in both is named.
func TestUserinfoNeeded(t *testing.T) {
	const everything = `"email":"ada@example.com","email_verified":true,"groups":["ops"]`
	full := []string{"oidc:acme:email:ada@example.com", "oidc:acme:domain:example.com", "oidc:acme:group:ops"}
	email := func(c *oidc.Config) { c.NeedEmail = true }
	groups := func(c *oidc.Config) { c.NeedGroups = true }
	for _, test := range []struct {
		name    string
		need    func(*oidc.Config)
		token   map[string]any
		info    string
		want    []string
		asked   bool
		missing string // "" is nothing
	}{
		{name: "nothing is needed", need: func(*oidc.Config) {}, info: everything},
		{name: "an address", need: email, info: everything, want: full, asked: true},
		{name: "groups", need: groups, info: everything, want: full, asked: true},
		{name: "an address that the token has", need: email, token: map[string]any{"email": "ada@example.com", "email_verified": false}},
		{name: "an address that userinfo verifies", need: email, token: map[string]any{"email": "ada@example.com"}, info: everything, want: full, asked: true},
		{name: "an address that nobody verifies", need: email, token: map[string]any{"email": "ada@example.com"}, info: `"name":"Ada"`, asked: true, missing: "no claim email_verified,"},
		{name: "an address whose verification is not needed", need: func(c *oidc.Config) { c.NeedEmail, c.TrustUnverifiedEmail = true, true },
			token: map[string]any{"email": "ada@example.com"}, want: full[:2]},
		{name: "groups that the token has", need: groups, token: map[string]any{"groups": []string{}}},
		{name: "neither has any", need: func(c *oidc.Config) { c.NeedEmail, c.NeedGroups, c.GroupsClaim = true, true, "/realm/groups" }, info: `"name":"Ada"`,
			asked: true, missing: "no claim email, /realm/groups,"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, test.need)
			w.discover("", nil)
			w.flow.Claims = test.token
			w.remote.Serve(logintest.UserinfoPath, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
				_, _ = fmt.Fprint(rw, `{"sub":"ada",`+test.info+`}`)
			}))
			got := w.mustSignIn(t)
			if diff := cmp.Diff(test.want, got.Subjects); diff != "" {
				t.Errorf("subjects (-want +got):\n%s", diff)
			}
			checkMissing(t, got, test.missing)
			if asked := w.remote.Requests(logintest.UserinfoPath) > 0; asked != test.asked {
				t.Errorf("userinfo was asked: %t, want %t", asked, test.asked)
			}
		})
	}
	t.Run("no endpoint", func(t *testing.T) {
		w := newWorld(t, email)
		w.discover("userinfo_endpoint", nil)
		checkMissing(t, w.mustSignIn(t), "no claim email,")
	})
	for _, handler := range []http.HandlerFunc{logintest.Reject(403, "insufficient_scope"), logintest.Reject(500, "")} {
		w := newWorld(t, groups)
		w.discover("", nil)
		w.remote.Serve(logintest.UserinfoPath, handler)
		checkMissing(t, w.mustSignIn(t), logintest.UserinfoPath) // what the ID token has may suffice
	}
}

// checkMissing checks what the identity says about missing claims; "" is nothing.
func checkMissing(t testing.TB, got *service.Identity, want string) {
	t.Helper()
	if (got.Missing == nil) != (want == "") || want != "" && !strings.Contains(got.Missing.Error(), want) {
		t.Errorf("missing: got %v, want %q", got.Missing, want)
	}
}
