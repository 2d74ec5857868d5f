package logintest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"sync"

	"github.com/golang-jwt/jwt/v5"
)

// Key signs tokens.
type Key struct {
	ID      string
	Private crypto.Signer
	Extra   map[string]any // further members of the JWK, or other values for some
}

// New returns a key of the type "RSA", "P-256", "P-384", "P-521" or "Ed25519".
// A type may be followed by a number, as in "RSA 2": the same text gives the same
// private key within a process, since making one is slow.
func New(kind, id string) *Key {
	made.Lock()
	defer made.Unlock()
	if made.keys[kind] == nil {
		made.keys[kind] = generate(kind)
	}
	return &Key{ID: id, Private: made.keys[kind]}
}

var made = struct {
	sync.Mutex
	keys map[string]crypto.Signer
}{keys: map[string]crypto.Signer{}}

func generate(kind string) crypto.Signer {
	curves := map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()}
	var name string
	_, _ = fmt.Sscanf(kind, "%s", &name)
	var key crypto.Signer
	var err error
	switch {
	case name == "RSA":
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	case name == "Ed25519":
		// The same in every process, for those of a fuzz test.
		seed := sha256.Sum256([]byte(kind))
		key = ed25519.NewKeyFromSeed(seed[:])
	case curves[name] != nil:
		key, err = ecdsa.GenerateKey(curves[name], rand.Reader)
	default:
		err = fmt.Errorf("unknown type of key %q", kind)
	}
	if err != nil {
		panic(err)
	}
	return key
}

// With returns a copy with another member of the JWK.
func (k *Key) With(name string, value any) *Key {
	extra := map[string]any{name: value}
	for n, v := range k.Extra {
		if n != name {
			extra[n] = v
		}
	}
	return &Key{ID: k.ID, Private: k.Private, Extra: extra}
}

// JWK returns the members of the public JSON web key.
func (k *Key) JWK() map[string]any {
	members := publicMembers(k.Private.Public())
	if k.ID != "" {
		members["kid"] = k.ID
	}
	for name, value := range k.Extra {
		members[name] = value
	}
	return members
}

func publicMembers(public crypto.PublicKey) map[string]any {
	switch p := public.(type) {
	case *rsa.PublicKey:
		return map[string]any{"kty": "RSA", "n": Encode(p.N.Bytes()), "e": Encode(big.NewInt(int64(p.E)).Bytes())}
	case ed25519.PublicKey:
		return map[string]any{"kty": "OKP", "crv": "Ed25519", "x": Encode(p)}
	case *ecdsa.PublicKey:
		point, err := p.Bytes()
		if err != nil {
			panic(err)
		}
		size := (len(point) - 1) / 2
		return map[string]any{"kty": "EC", "crv": p.Params().Name, "x": Encode(point[1 : 1+size]), "y": Encode(point[1+size:])}
	}
	panic(fmt.Sprintf("no JWK for %T", public))
}

// PEM returns the public key as PKIX.
func (k *Key) PEM() []byte {
	der, err := x509.MarshalPKIXPublicKey(k.Private.Public())
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

// Sign returns a token with the header and the payload, which may be any texts. alg is
// how it is signed, whatever the header says.
func (k *Key) Sign(alg, header, payload string) string {
	signed := Encode([]byte(header)) + "." + Encode([]byte(payload))
	signature, err := jwt.GetSigningMethod(alg).Sign(signed, k.Private)
	if err != nil {
		panic(err)
	}
	return signed + "." + Encode(signature)
}

// Token returns a token with the claims, and a header that names algorithm and key.
func (k *Key) Token(alg string, claims map[string]any) string {
	header := map[string]any{"alg": alg, "typ": "JWT"}
	if k.ID != "" {
		header["kid"] = k.ID
	}
	return k.Sign(alg, text(header), text(claims))
}

// Encode returns base64url without padding.
func Encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func text(value any) string {
	b, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(b)
}
