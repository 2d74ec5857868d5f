package oidc_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/handler/login/oidc"
	"github.com/guidonhq/guidon/service"
)

func TestIdentify(t *testing.T) {
	w := newWorld(t, func(c *oidc.Config) { c.RolesClaim = "/realm_access/roles" })
	w.flow.Claims = map[string]any{
		"email": "Ada@Example.COM", "email_verified": true, "name": "Ada Lovelace", "picture": "https://acme.example/ada.png",
		"profile": "https://acme.example/ada", "groups": []any{"payments", "ops"}, "sid": "session-1",
		"realm_access": map[string]any{"roles": []any{"editor@checkout", "offline_access", "admin"}},
	}
	want := &service.Identity{
		Method: service.MethodOIDC, Provider: "acme", Subject: "oidc:acme:sub:ada", SID: "session-1",
		Subjects: []string{
			"oidc:acme:email:ada@example.com", "oidc:acme:domain:example.com", "oidc:acme:group:payments", "oidc:acme:group:ops",
		},
		Roles: []string{"editor@checkout", "admin"},
		Metadata: map[string]string{
			"io.service.auth.oidc.provider": "acme", "io.service.auth.oidc.sub": "ada",
			"io.service.auth.oidc.email": "Ada@Example.COM", "io.service.auth.oidc.email_verified": "true", "io.service.auth.email": "Ada@Example.COM",
			"io.service.auth.oidc.name": "Ada Lovelace", "io.service.auth.name": "Ada Lovelace",
			"io.service.auth.oidc.picture": "https://acme.example/ada.png", "io.service.auth.picture": "https://acme.example/ada.png",
			"io.service.auth.oidc.profile": "https://acme.example/ada",
		},
	}
	if diff := cmp.Diff(want, w.mustSignIn(t)); diff != "" {
		t.Errorf("identity (-want +got):\n%s", diff)
	}
	if n := w.remote.Requests(logintest.UserinfoPath); n != 0 {
		t.Errorf("%d requests for userinfo, which is not configured", n)
	}
}

func TestMinimalIdentity(t *testing.T) {
	want := &service.Identity{
		Method: service.MethodOIDC, Provider: "acme", Subject: "oidc:acme:sub:ada",
		Metadata: map[string]string{"io.service.auth.oidc.provider": "acme", "io.service.auth.oidc.sub": "ada"},
	}
	if diff := cmp.Diff(want, newWorld(t, nil).mustSignIn(t)); diff != "" {
		t.Errorf("identity (-want +got):\n%s", diff)
	}
}

// TestClients: we authenticate ourselves in the way that the provider lists, with one
// request.
func TestClients(t *testing.T) {
	for _, test := range []struct {
		name    string
		methods []string
		secret  bool
		inBody  bool
		pkce    bool
	}{
		{"nothing listed", nil, true, false, true},
		{"basic", []string{"client_secret_post", "client_secret_basic"}, true, false, true},
		{"post", []string{"private_key_jwt", "client_secret_post"}, true, true, true},
		{"public client", []string{"client_secret_basic"}, false, false, true},
		{"without PKCE", nil, true, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, func(c *oidc.Config) {
				if c.PKCE = test.pkce; !test.secret {
					c.ClientSecret = ""
				}
			})
			if w.flow.InBody, w.flow.WithoutPKCE = test.inBody, !test.pkce; !test.secret {
				w.flow.ClientSecret = ""
			}
			if test.methods != nil {
				w.discover("token_endpoint_auth_methods_supported", test.methods)
			}
			a, code := w.authorize(t)
			if _, err := w.Identify(t.Context(), a, code); err != nil {
				t.Fatal(err)
			}
			if n := w.remote.Requests(logintest.TokenPath); n != 1 {
				t.Errorf("%d requests with the code, want 1", n)
			}
			_, err := w.Identify(t.Context(), a, code)
			checkCode(t, err, guidon.Unauthenticated, "invalid_grant")
		})
	}
	t.Run("no way that we know", func(t *testing.T) {
		w := newWorld(t, nil)
		w.discover("token_endpoint_auth_methods_supported", []string{"private_key_jwt"})
		_, err := w.AuthorizeURL(t.Context(), w.begin(t))
		checkCode(t, err, guidon.Unavailable, "private_key_jwt")
	})
}

// TestVerifier: a code that was issued for another attempt is useless (code injection).
func TestVerifier(t *testing.T) {
	w := newWorld(t, nil)
	_, victim := w.authorize(t)
	attacker, _ := w.authorize(t)
	_, err := w.Identify(t.Context(), attacker, victim)
	checkCode(t, err, guidon.Unauthenticated, "invalid_grant")

	ignorant := newWorld(t, func(c *oidc.Config) { c.PKCE = false }) // there the nonce does it
	ignorant.flow.WithoutPKCE = true
	_, victim = ignorant.authorize(t)
	attacker, _ = ignorant.authorize(t)
	_, err = ignorant.Identify(t.Context(), attacker, victim)
	checkCode(t, err, guidon.Unauthenticated, "nonce")
}
