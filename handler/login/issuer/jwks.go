package issuer

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
)

// jwk is a JSON web key (RFC 7517). Its certificates are ignored.
type jwk struct {
	Type       string          `json:"kty"`
	Use        *string         `json:"use"`
	Operations *[]string       `json:"key_ops"`
	Algorithm  string          `json:"alg"`
	ID         string          `json:"kid"`
	Curve      string          `json:"crv"`
	N          string          `json:"n"`
	E          string          `json:"e"`
	X          string          `json:"x"`
	Y          string          `json:"y"`
	Private    json.RawMessage `json:"d"`
}

// keyDocument is a JSON web key set.
type keyDocument struct {
	Keys *[]json.RawMessage `json:"keys"`
}

// parse returns the keys that verify signatures. Keys for other purposes, of other types
// and malformed ones are skipped, so that a provider can add any. A document without the
// member keys, or with more than 100, is an error.
func (d *keyDocument) parse() (*keys, error) {
	if d.Keys == nil {
		return nil, errors.New(`the key set has no member "keys"`)
	}
	if n := len(*d.Keys); n > maxKeys {
		return nil, fmt.Errorf("the key set has %d keys; at most %d are allowed", n, maxKeys)
	}
	parsed := &keys{}
	for i, raw := range *d.Keys {
		k, err := parseJWK(raw)
		if err != nil {
			parsed.skipped = append(parsed.skipped, fmt.Sprintf("key %d: %v", i, err))
			continue
		}
		parsed.all = append(parsed.all, k)
	}
	return parsed, nil
}

func parseJWK(raw json.RawMessage) (*key, error) {
	var j jwk
	if err := json.Unmarshal(raw, &j); err != nil {
		return nil, fmt.Errorf("malformed: %w", err)
	}
	if err := j.checkPurpose(); err != nil {
		return nil, err
	}
	public, err := j.public()
	if err != nil {
		return nil, err
	}
	if err := checkPublic(public); err != nil {
		return nil, err
	}
	k := &key{public: public, id: j.ID, algorithm: j.Algorithm}
	if k.algorithm != "" && !k.fits(k.algorithm) {
		return nil, fmt.Errorf("%s key for algorithm %q, which does not fit", j.Type, k.algorithm)
	}
	return k, nil
}

// checkPurpose returns an error if the key is not one for verifying signatures.
func (j *jwk) checkPurpose() error {
	switch {
	case j.Use != nil && *j.Use != "sig":
		return fmt.Errorf("use is %q", *j.Use)
	case j.Operations != nil && !slices.Contains(*j.Operations, "verify"):
		return errors.New("key_ops lacks verify")
	case j.Private != nil:
		return errors.New("private key")
	}
	return nil
}

func (j *jwk) public() (crypto.PublicKey, error) {
	switch j.Type {
	case "RSA":
		return j.rsa()
	case "EC":
		return j.ecdsa()
	case "OKP":
		return j.ed25519()
	}
	return nil, fmt.Errorf("kty is %q", j.Type)
}

func (j *jwk) rsa() (crypto.PublicKey, error) {
	n, errN := decode(j.N)
	e, errE := decode(j.E)
	exponent := new(big.Int).SetBytes(e)
	if err := errors.Join(errN, errE); err != nil {
		return nil, err
	}
	if !exponent.IsInt64() || exponent.Int64() > math.MaxInt32 {
		return nil, errors.New("exponent of the RSA key is too large")
	}
	return &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(exponent.Int64())}, nil
}

func (j *jwk) ecdsa() (crypto.PublicKey, error) {
	curve, ok := map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()}[j.Curve]
	if !ok {
		return nil, fmt.Errorf("crv is %q", j.Curve)
	}
	x, errX := decode(j.X)
	y, errY := decode(j.Y)
	if err := errors.Join(errX, errY); err != nil {
		return nil, err
	}
	if size := (curve.Params().BitSize + 7) / 8; len(x) != size || len(y) != size {
		return nil, fmt.Errorf("a coordinate does not have %d bytes", size)
	}
	const uncompressed = 4
	public, err := ecdsa.ParseUncompressedPublicKey(curve, slices.Concat([]byte{uncompressed}, x, y))
	if err != nil {
		return nil, fmt.Errorf("not a point of %s: %w", j.Curve, err)
	}
	return public, nil
}

func (j *jwk) ed25519() (crypto.PublicKey, error) {
	if j.Curve != "Ed25519" {
		return nil, fmt.Errorf("crv is %q", j.Curve)
	}
	x, err := decode(j.X)
	if err != nil {
		return nil, err
	}
	if len(x) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("x does not have %d bytes", ed25519.PublicKeySize)
	}
	return ed25519.PublicKey(x), nil
}

// decode decodes base64url without padding. Unlike the decoder itself, it accepts only
// one encoding of each value.
func decode(text string) ([]byte, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") { // which the decoder ignores
		return nil, errors.New("not base64url")
	}
	return b, nil
}
