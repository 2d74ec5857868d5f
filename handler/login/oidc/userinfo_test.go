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
		{"sub twice", write(`{"sub":"eve","sub":"ada"}`), guidon.Unavailable, "sub is there twice"},
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
