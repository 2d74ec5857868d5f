package issuer_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/handler/login/provider"
)

// newSet returns the set of the keys that p publishes.
func newSet(t testing.TB, p *logintest.Provider, clock *logintest.Clock) *issuer.KeySet {
	t.Helper()
	client, err := provider.New(provider.Config{Name: "acme"})
	if err != nil {
		t.Fatal(err)
	}
	return issuer.Remote(issuer.Config{
		Client: client, KeysURL: p.URL + logintest.KeysPath, Algorithms: issuer.DefaultAlgorithms(), Now: clock.Now,
	})
}

// verify returns the code of the error for the token, and whether there is none.
func verify(t testing.TB, s *issuer.KeySet, token string) (code guidon.Code, ok bool) {
	t.Helper()
	_, _, err := s.Verify(t.Context(), token, issuer.MaxToken)
	if err == nil {
		return 0, true
	}
	return guidon.CodeOf(err), false
}

func checkAccepted(t testing.TB, s *issuer.KeySet, token string) {
	t.Helper()
	if _, _, err := s.Verify(t.Context(), token, issuer.MaxToken); err != nil {
		t.Errorf("rejected: %v", err)
	}
}

func checkRejected(t testing.TB, s *issuer.KeySet, token string, want guidon.Code) {
	t.Helper()
	if code, ok := verify(t, s, token); ok || code != want {
		t.Errorf("accepted: %v, with code %v; want %v", ok, code, want)
	}
}

func claims() map[string]any {
	return map[string]any{"iss": "https://acme.example", "sub": "ada", "aud": "guidon"}
}

func writeFile(t testing.TB, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
