package issuer_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/logintest"
)

// TestConfiguredAlgorithms: a key that fits an algorithm does not allow it.
func TestConfiguredAlgorithms(t *testing.T) {
	k := logintest.New("RSA", "k")
	s, err := issuer.KeyFile(writeFile(t, k.PEM()), []string{"RS256", "PS256"})
	if err != nil {
		t.Fatal(err)
	}
	for alg, want := range map[string]bool{"RS256": true, "PS256": true, "RS384": false, "PS512": false} {
		_, _, err := s.Verify(t.Context(), k.Token(alg, claims()), issuer.MaxToken)
		if (err == nil) != want {
			t.Errorf("%s: got %v, want it accepted: %v", alg, err, want)
		}
	}
}

func TestLongToken(t *testing.T) {
	k := logintest.New("P-256", "k")
	s := newSet(t, logintest.NewProvider(t, k), logintest.NewClock())
	padded := func(n int) map[string]any { return map[string]any{"x": strings.Repeat("x", n)} }
	checkAccepted(t, s, k.Token("ES256", padded(48_000)))
	checkRejected(t, s, k.Token("ES256", padded(50_000)), guidon.Unauthenticated)
}

// TestCodes: that a provider is down, as opposed to a token that is invalid, can be seen.
func TestCodes(t *testing.T) {
	k := logintest.New("P-256", "k")
	up := newSet(t, logintest.NewProvider(t, k), logintest.NewClock())
	p := logintest.NewProvider(t)
	p.Close()
	down := newSet(t, p, logintest.NewClock())
	other := logintest.New("P-256 2", "k")
	for _, test := range []struct {
		name  string
		set   *issuer.KeySet
		token string
		want  error // nil for none
	}{
		{"valid", up, k.Token("ES256", claims()), nil},
		{"invalid", up, other.Token("ES256", claims()), guidon.Unauthenticated},
		{"unknown", up, logintest.New("P-256", "x").Token("ES256", claims()), guidon.Unauthenticated},
		{"down", down, k.Token("ES256", claims()), guidon.Unavailable},
	} {
		if _, _, err := test.set.Verify(t.Context(), test.token, issuer.MaxToken); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
	}
}

func TestType(t *testing.T) {
	k := logintest.New("Ed25519", "k")
	for header, want := range map[string]string{
		`{"alg":"EdDSA"}`:                            "",
		`{"alg":"EdDSA","typ":""}`:                   "",
		`{"alg":"EdDSA","typ":"Logout+JWT"}`:         "",
		`{"alg":"EdDSA","typ":"jwt"}`:                "",
		`{"alg":"EdDSA","typ":"at+jwt"}`:             `typ of the token is "at+jwt"; must be JWT, logout+jwt or absent`,
		`{"alg":"EdDSA","typ":"JWT","typ":"at+jwt"}`: "malformed",
		`{"alg":"EdDSA","typ":null}`:                 "malformed",
	} {
		_, err := issuer.Unverified(k.Sign("EdDSA", header, "{}"), issuer.MaxToken, "JWT", "logout+jwt")
		switch {
		case want == "" && err == nil, want == "malformed" && guidon.CodeOf(err) == guidon.Unauthenticated, want != "" && err != nil && strings.Contains(err.Error(), want):
		default:
			t.Errorf("%s: got %v, want %q", header, err, want)
		}
	}
}

// FuzzToken: no change to a signed token, nor any other text, is accepted, except for
// the signed tokens themselves.
func FuzzToken(f *testing.F) {
	ec, ed := logintest.New("P-256", "ec"), logintest.New("Ed25519", "ed")
	s := newSet(f, logintest.NewProvider(f, ec, ed), logintest.NewClock())
	good := []string{ec.Token("ES256", claims()), ed.Token("EdDSA", claims()), (&logintest.Key{Private: ed.Private}).Token("EdDSA", claims())}
	signed := map[string]bool{}
	for _, token := range good {
		signed[token] = true
		f.Add(token)
		f.Add(newline(token))
		f.Add(strings.Replace(token, ".", "..", 1))
	}
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	f.Fuzz(func(t *testing.T, token string) {
		_, _, err := s.Verify(t.Context(), token, issuer.MaxToken)
		if (err == nil) != signed[token] {
			t.Errorf("%q: got %v, want it accepted: %v", token, err, signed[token])
		}
		if err != nil && guidon.CodeOf(err) != guidon.Unauthenticated {
			t.Errorf("%q: got %v, want Unauthenticated", token, err)
		}
	})
}
