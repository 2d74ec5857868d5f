package bearer_test

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/bearer"
	"github.com/guidonhq/guidon/service"
)

// checkIdentity checks what holds for every identity.
func checkIdentity(t *testing.T, f *fixture, identity *service.Identity) {
	t.Helper()
	if identity.Method != service.MethodJWT || !identity.Expires.After(f.clock.Now().Add(-time.Minute)) {
		t.Errorf("method %v, expires %v", identity.Method, identity.Expires)
	}
	if who := identity.Subject; who != bearer.Anonymous && (!strings.HasPrefix(who, "jwt:sub:") || len(who) == len("jwt:sub:")) {
		t.Errorf("subject %q", who)
	}
	size := 0
	for key, value := range identity.Metadata {
		size += len(key) + len(value)
		if !strings.HasPrefix(key, "io.service.auth.") || strings.ContainsFunc(key+value, unicode.IsControl) {
			t.Errorf("metadata %q: %q", key, value)
		}
	}
	if size > 8<<10 {
		t.Errorf("%d bytes of metadata", size)
	}
	for _, s := range identity.Subjects {
		if !strings.HasPrefix(s, "jwt:group:") && !strings.HasPrefix(s, "jwt:claim:") || strings.ContainsFunc(s, unicode.IsControl) {
			t.Errorf("subject %q", s)
		}
	}
}

// FuzzVerify: a text that was not signed is never accepted, and every refusal is the same.
func FuzzVerify(f *testing.F) {
	x := newFixture(f, nil)
	good := x.token(nil)
	f.Add(good)
	f.Add(good + "\n")
	f.Add(strings.Replace(good, ".", "..", 1))
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	f.Fuzz(func(t *testing.T, raw string) {
		identity, err := x.Verify(t.Context(), raw)
		switch {
		case err == nil && raw != good:
			t.Errorf("%q: accepted as %q", raw, identity.Subject)
		case err != nil && (guidon.CodeOf(err) != guidon.Unauthenticated || guidon.PublicMessage(err) != "request was not authenticated"):
			t.Errorf("%q: got %v", raw, err)
		}
		if _, ok := x.Remembered(t.Context(), raw); ok && raw != good {
			t.Errorf("%q: remembered", raw)
		}
	})
}

// FuzzClaims: whatever the issuer signs, the identity keeps to its limits.
func FuzzClaims(f *testing.F) {
	x := newFixture(f, func(c *bearer.Config) {
		c.Issuer, c.Audiences, c.AnyAudience, c.RolesClaim = "", nil, true, "/realm/roles"
	})
	f.Add(text(f, x.claims(nil)), "JWT")
	f.Add(text(f, x.claims(map[string]any{
		"groups": []string{"a"}, "user": map[string]any{"email": "a@b"}, "io.service.auth.x": map[string]any{"y": 1}, "realm": map[string]any{"roles": "admin"},
	})), "at+jwt")
	f.Add(`{"iat":1795348800,"sub":"a\u0000","sub":1}`, "")
	f.Fuzz(func(t *testing.T, payload, kind string) {
		token := x.key.Sign("EdDSA", `{"alg":"EdDSA","typ":`+text(t, kind)+`}`, payload)
		identity, err := x.Verify(t.Context(), token)
		if err != nil {
			if guidon.CodeOf(err) != guidon.Unauthenticated || guidon.PublicMessage(err) != "request was not authenticated" {
				t.Errorf("%q: got %v", payload, err)
			}
			return
		}
		checkIdentity(t, x, identity)
	})
}
