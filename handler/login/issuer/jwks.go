package issuer

import (
	"cmp"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/go-jose/go-jose/v4"
)

// jwk is a JSON web key (RFC 7517). Its certificates are ignored.
type jwk struct {
	material
	Use        *string         `json:"use"`
	Operations *[]string       `json:"key_ops"`
	Algorithm  string          `json:"alg"`
	ID         string          `json:"kid"`
	Private    json.RawMessage `json:"d"`
}

// material is what a public key consists of.
type material struct {
	Type  string `json:"kty"`
	Curve string `json:"crv,omitempty"`
	N     string `json:"n,omitempty"`
	E     string `json:"e,omitempty"`
	X     string `json:"x,omitempty"`
	Y     string `json:"y,omitempty"`
}

func init() { jose.MaxRSAModulusBits = maxRSABits } // 4096 by default

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

// public returns the key.
func (m *material) public() (crypto.PublicKey, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	var parsed jose.JSONWebKey
	if err := parsed.UnmarshalJSON(text); err != nil || !parsed.IsPublic() {
		return nil, fmt.Errorf("kty %q, crv %q: %w", m.Type, m.Curve, cmp.Or(err, jose.ErrUnsupportedKeyType))
	}
	return parsed.Key, nil
}
