package bearer_test

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/bearer"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/service"
)

const (
	issuer   = "https://acme.example"
	audience = "guidon"
)

// fixture is an issuer with one key, and a verifier of its tokens.
type fixture struct {
	*bearer.Verifier
	issuer *logintest.Provider
	clock  *logintest.Clock
	key    *logintest.Key
}

// newFixture returns a fixture whose verifier fetches the key set, and is configured as
// change says, which may be nil.
func newFixture(t testing.TB, change func(*bearer.Config)) *fixture {
	t.Helper()
	f := &fixture{key: logintest.New("Ed25519", "k"), clock: logintest.NewClock()}
	f.issuer = logintest.NewProvider(t, f.key)
	c := bearer.Config{
		JWKSURL: f.issuer.URL + logintest.KeysPath, Issuer: issuer, Audiences: []string{audience},
		GroupsClaim: "groups", RolesClaim: "roles", Now: f.clock.Now,
	}
	if change != nil {
		change(&c)
	}
	v, err := bearer.New(c)
	if err != nil {
		t.Fatal(err)
	}
	f.Verifier = v
	return f
}

// claims returns valid claims with the others, of which nil ones are left out.
func (f *fixture) claims(others map[string]any) map[string]any {
	all := map[string]any{"iss": issuer, "sub": "ada", "aud": audience, "exp": f.at(time.Hour)}
	maps.Copy(all, others)
	maps.DeleteFunc(all, func(_ string, value any) bool { return value == nil })
	return all
}

// at returns the time so long after now as a claim.
func (f *fixture) at(d time.Duration) int64 { return f.clock.Now().Add(d).Unix() }

// token returns a valid token with the other claims.
func (f *fixture) token(others map[string]any) string { return f.key.Token("EdDSA", f.claims(others)) }

// accept verifies the token, which must succeed.
func (f *fixture) accept(t testing.TB, token string) *service.Identity {
	t.Helper()
	identity, err := f.Verify(t.Context(), token)
	if err != nil {
		t.Fatalf("rejected: %v", err)
	}
	return identity
}

// refuse verifies the token, which must fail in the same way as every invalid one.
func (f *fixture) refuse(t testing.TB, name, token string) {
	t.Helper()
	identity, err := f.Verify(t.Context(), token)
	if err == nil {
		t.Errorf("%s: accepted as %q", name, identity.Subject)
		return
	}
	if guidon.CodeOf(err) != guidon.Unauthenticated || guidon.PublicMessage(err) != guidon.PublicMessage(service.ErrUnauthenticated) {
		t.Errorf("%s: got %v, want the error of all invalid credentials", name, err)
	}
	if identity != nil {
		t.Errorf("%s: got %v beside an error", name, identity)
	}
	if _, ok := f.Remembered(t.Context(), token); ok {
		t.Errorf("%s: remembered", name)
	}
}

func writeFile(t testing.TB, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
