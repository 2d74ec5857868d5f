package issuer

import "context"

// Verification is a KeySet of go-oidc for one token. It keeps the error, which go-oidc
// returns as text only, so that a provider that is down can be distinguished from a
// token that is invalid.
type Verification struct {
	set *KeySet
	err error
}

// Verification returns a key set for the verification of one token.
func (s *KeySet) Verification() *Verification { return &Verification{set: s} }

// VerifySignature is [KeySet.VerifySignature].
func (v *Verification) VerifySignature(ctx context.Context, raw string) ([]byte, error) {
	payload, err := v.set.VerifySignature(ctx, raw)
	v.err = err
	return payload, err
}

// Err returns the error of VerifySignature, or nil if it succeeded or was not called.
func (v *Verification) Err() error { return v.err }
