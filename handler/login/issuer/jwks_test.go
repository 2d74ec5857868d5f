package issuer_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/logintest"
)

// rsaMembers returns an RSA key of a size that crypto/rsa may not want to make.
func rsaMembers(bits int, exponent []byte) map[string]any {
	n := new(big.Int).Lsh(big.NewInt(1), uint(bits-1)) // #nosec G115 -- a constant of this test
	return map[string]any{"kty": "RSA", "n": logintest.Encode(n.SetBit(n, 0, 1).Bytes()), "e": logintest.Encode(exponent)}
}

func TestPublishedKeys(t *testing.T) {
	rsaKey, p256, p384, p521, ed := logintest.New("RSA", "k"), logintest.New("P-256", "k"), logintest.New("P-384", "k"), logintest.New("P-521", "k"), logintest.New("Ed25519", "k")
	f4 := []byte{1, 0, 1}
	for _, test := range []struct {
		name string
		jwk  any
		want string // why it is skipped, "" if it is not
	}{
		{"RSA", rsaKey.JWK(), ""},
		{"P-256", p256.JWK(), ""},
		{"P-384", p384.JWK(), ""},
		{"P-521", p521.JWK(), ""},
		{"Ed25519", ed.JWK(), ""},
		{"RSA 2048", rsaMembers(2048, f4), ""},
		{"RSA 8192", rsaMembers(8192, f4), ""},
		{"RSA 2047", rsaMembers(2047, f4), "RSA key of 2047 bits"},
		{"RSA 1024", rsaMembers(1024, f4), "RSA key of 1024 bits"},
		{"RSA 8193", rsaMembers(8193, f4), "modulus too large"},
		{"RSA exponent 3", rsaMembers(2048, []byte{3}), ""},
		{"RSA exponent 1", rsaMembers(2048, []byte{1}), "bad e value"},
		{"RSA exponent 2", rsaMembers(2048, []byte{2}), "malformed"},
		{"RSA exponent 65536", rsaMembers(2048, []byte{1, 0, 0}), "malformed"},
		{"RSA no exponent", rsaMembers(2048, nil), "missing n/e"},
		{"RSA large exponent", rsaMembers(2048, []byte{1, 0, 0, 0, 1}), "malformed"},
		{"RSA huge exponent", rsaMembers(2048, slices.Repeat([]byte{1}, 100)), "bad e value"},
		{"RSA even modulus", rsaKey.With("n", logintest.Encode(append(slices.Repeat([]byte{1}, 256), 0))).JWK(), "malformed"},
		{"RSA modulus with padding", rsaKey.With("n", "AQAB==").JWK(), "illegal base64"},
		{"RSA modulus as base64", rsaKey.With("n", "+/+/").JWK(), "illegal base64"},
		{"RSA modulus with a newline", rsaKey.With("n", "AQ\nAB").JWK(), "RSA key of 17 bits"},
		{"RSA modulus missing", rsaKey.With("n", "").JWK(), "missing n/e"},
		{"EC other curve", p256.With("crv", "P-224").JWK(), `crv "P-224"`},
		{"EC secp256k1", p256.With("crv", "secp256k1").JWK(), `crv "secp256k1"`},
		{"EC of another curve", p256.With("crv", "P-384").JWK(), "wrong length for x"},
		{"EC not on the curve", p256.With("y", p256.JWK()["x"]).JWK(), "not on declared curve"},
		{"EC at zero", p256.With("x", logintest.Encode(make([]byte, 32))).With("y", logintest.Encode(make([]byte, 32))).JWK(), "not on declared curve"},
		{"EC short coordinate", p256.With("x", "AQAB").JWK(), "wrong length for x"},
		{"EC without y", p256.With("y", nil).JWK(), "missing x/y"},
		{"OKP X25519", ed.With("crv", "X25519").JWK(), `crv "X25519"`},
		{"OKP Ed448", ed.With("crv", "Ed448").JWK(), `crv "Ed448"`},
		{"OKP short", ed.With("x", "AQAB").JWK(), `kty "OKP"`},
		{"oct", map[string]any{"kty": "oct", "k": "AQAB"}, `kty "oct"`},
		{"oct for HS256", map[string]any{"kty": "oct", "k": "AQAB", "alg": "HS256", "use": "sig"}, `kty "oct"`},
		{"AKP", map[string]any{"kty": "AKP", "pub": "AQAB", "alg": "ML-DSA-44"}, `kty "AKP"`},
		{"no type", map[string]any{}, `kty ""`},
		{"type in lower case", rsaKey.With("kty", "rsa").JWK(), `kty "rsa"`},
		{"use sig", rsaKey.With("use", "sig").JWK(), ""},
		{"use enc", rsaKey.With("use", "enc").JWK(), `use is "enc"`},
		{"use empty", rsaKey.With("use", "").JWK(), `use is ""`},
		{"use null", rsaKey.With("use", nil).JWK(), ""},
		{"use number", rsaKey.With("use", 1).JWK(), "malformed"},
		{"key_ops verify", rsaKey.With("key_ops", []string{"verify"}).JWK(), ""},
		{"key_ops encrypt", rsaKey.With("key_ops", []string{"encrypt"}).JWK(), "key_ops"},
		{"key_ops empty", rsaKey.With("key_ops", []string{}).JWK(), "key_ops"},
		{"private", rsaKey.With("d", "AQAB").JWK(), "private key"},
		{"alg RS256", rsaKey.With("alg", "RS256").JWK(), ""},
		{"alg PS512", rsaKey.With("alg", "PS512").JWK(), ""},
		{"alg RSA-OAEP", rsaKey.With("alg", "RSA-OAEP").JWK(), "does not fit"},
		{"alg HS256", rsaKey.With("alg", "HS256").JWK(), "does not fit"},
		{"alg none", rsaKey.With("alg", "none").JWK(), "does not fit"},
		{"alg ES256 of RSA", rsaKey.With("alg", "ES256").JWK(), "does not fit"},
		{"alg ES384 of P-256", p256.With("alg", "ES384").JWK(), "does not fit"},
		{"alg ES512 of P-521", p521.With("alg", "ES512").JWK(), ""},
		{"alg EdDSA", ed.With("alg", "EdDSA").JWK(), ""},
		{"alg RS256 of Ed25519", ed.With("alg", "RS256").JWK(), "does not fit"},
		{"id number", rsaKey.With("kid", 1).JWK(), "malformed"},
		{"certificate", rsaKey.With("x5c", []string{"rubbish"}).With("x5u", "http://evil.example").With("x5t", 1).JWK(), ""},
		{"text", "RSA", "malformed"},
		{"list", []int{1}, "malformed"},
		{"null", nil, `kty ""`},
	} {
		t.Run(test.name, func(t *testing.T) {
			raw, err := json.Marshal(map[string]any{"keys": []any{test.jwk, logintest.New("P-256 2", "other").JWK()}})
			if err != nil {
				t.Fatal(err)
			}
			published, skipped, err := issuer.ParseKeys(raw)
			if err != nil {
				t.Fatal(err)
			}
			if test.want == "" {
				if len(published) != 2 || len(skipped) != 0 {
					t.Errorf("%d keys, skipped %q; want both", len(published), skipped)
				}
				return
			}
			if len(published) != 1 || len(skipped) != 1 || !strings.HasPrefix(skipped[0], "key 0: ") || !strings.Contains(skipped[0], test.want) {
				t.Errorf("%d keys, skipped %q; want the first to be skipped because of %q", len(published), skipped, test.want)
			}
		})
	}
}

func TestKeySets(t *testing.T) {
	jwk := rsaMembers(2048, []byte{3})
	list := func(n int) any { return map[string]any{"keys": slices.Repeat([]any{jwk}, n)} }
	for _, test := range []struct {
		name     string
		document any
		want     int    // keys
		err      string // "" for none
	}{
		{"none", list(0), 0, ""},
		{"one", list(1), 1, ""},
		{"a hundred", list(100), 100, ""},
		{"more", list(101), 0, "101 keys"},
		{"no member", map[string]any{}, 0, `no member "keys"`},
		{"null", map[string]any{"keys": nil}, 0, `no member "keys"`},
		{"object", map[string]any{"keys": jwk}, 0, "JSON"},
		{"one key", jwk, 0, `no member "keys"`},
	} {
		raw, err := json.Marshal(test.document)
		if err != nil {
			t.Fatal(err)
		}
		p := logintest.NewProvider(t)
		p.Serve(logintest.KeysPath, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(raw) }))
		_, err = newSet(t, p, logintest.NewClock()).Generation(t.Context())
		if test.err != "" {
			if guidon.CodeOf(err) != guidon.Unavailable || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: got %v, want an Unavailable error that contains %q", test.name, err, test.err)
			}
			continue
		}
		got, _, parseErr := issuer.ParseKeys(raw)
		if err != nil || parseErr != nil || len(got) != test.want {
			t.Errorf("%s: got %d keys, %v and %v; want %d", test.name, len(got), err, parseErr, test.want)
		}
	}
}

// FuzzJWKS: whatever a provider publishes, only keys within the limits are used, and the
// same keys are equal.
func FuzzJWKS(f *testing.F) {
	for _, k := range []*logintest.Key{logintest.New("RSA", "a"), logintest.New("P-256", "b"), logintest.New("P-521", ""), logintest.New("Ed25519", "c").With("alg", "EdDSA")} {
		raw, err := json.Marshal(map[string]any{"keys": []any{k.JWK()}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(`{"keys":[{"kty":"oct","k":"AQAB"},null,1,{"kty":"RSA","n":"AQAB","e":"AQAB"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		published, _, err := issuer.ParseKeys(raw)
		if err != nil {
			return
		}
		again, _, err := issuer.ParseKeys(raw)
		same := func(x, y crypto.PublicKey) bool { return x.(interface{ Equal(crypto.PublicKey) bool }).Equal(y) }
		if err != nil || !slices.EqualFunc(published, again, same) || len(published) > 100 {
			t.Errorf("%d keys at first, then %d and %v", len(published), len(again), err)
		}
		for _, key := range published {
			switch k := key.(type) {
			case *rsa.PublicKey:
				if k.N.BitLen() < 2048 || k.N.BitLen() > 8192 || k.E < 3 || k.E%2 == 0 {
					t.Errorf("RSA key of %d bits with exponent %d", k.N.BitLen(), k.E)
				}
			case *ecdsa.PublicKey:
				if b, err := k.Bytes(); err != nil || len(b) < 65 || !slices.Contains([]elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()}, k.Curve) {
					t.Errorf("EC key %v: %v", k, err)
				}
			}
		}
	})
}

func TestDefaultAlgorithms(t *testing.T) {
	want := []string{"ES256", "ES384", "ES512", "EdDSA", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512"}
	if diff := cmp.Diff(want, issuer.DefaultAlgorithms()); diff != "" {
		t.Errorf("algorithms (-want +got):\n%s", diff)
	}
	for _, names := range [][]string{nil, {}, {""}, {"HS256"}, {"none"}, {"RS256", "HS512"}, {"EdDSA", "Ed25519"}} {
		if err := issuer.CheckAlgorithms(names); err == nil {
			t.Errorf("%q was accepted", names)
		}
	}
}
