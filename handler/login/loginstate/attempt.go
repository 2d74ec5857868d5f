package loginstate

import (
	"cmp"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"time"
)

// The purposes of the values that are derived from the secret of an attempt.
const (
	purposeState    = "guidon: state of an attempt to sign in"
	purposeNonce    = "guidon: nonce of an attempt to sign in"
	purposeVerifier = "guidon: code verifier of an attempt to sign in"
)

// NoCode is sent instead of an authorization code to find out whether a provider accepts our
// credentials.
const NoCode = "not-a-code"

// Attempt is one attempt to sign in. Its secret is known to the browser only in sealed
// form, and its derivations say nothing about one another: the state, which is in URLs,
// does not reveal the code verifier.
type Attempt struct {
	Begun       time.Time // in seconds
	Fingerprint Fingerprint
	ReturnTo    string // a path that [CheckReturnTo] accepts

	secret [32]byte
}

// Begin starts an attempt at the given time. It returns InvalidArgument if a redirect to
// returnTo is not allowed. Empty is "/".
func Begin(now time.Time, provider Fingerprint, returnTo string) (*Attempt, error) {
	returnTo = cmp.Or(returnTo, "/")
	if err := CheckReturnTo(returnTo); err != nil {
		return nil, err
	}
	a := &Attempt{Begun: now.Truncate(time.Second), Fingerprint: provider, ReturnTo: returnTo}
	_, _ = rand.Read(a.secret[:]) // never fails
	return a, nil
}

// State returns the parameter state of the authorization request.
func (a *Attempt) State() string { return a.derive(purposeState) }

// Nonce returns the parameter nonce of the authorization request, and claim of the ID
// token.
func (a *Attempt) Nonce() string { return a.derive(purposeNonce) }

// Verifier returns the code verifier of PKCE (RFC 7636).
func (a *Attempt) Verifier() string { return a.derive(purposeVerifier) }

// Digest returns the SHA-256 of the secret, by which the database knows a used attempt.
func (a *Attempt) Digest() string {
	digest := sha256.Sum256(a.secret[:])
	return base64.RawURLEncoding.EncodeToString(digest[:])
}

// hasState reports in constant time whether the state is that of the attempt.
func (a *Attempt) hasState(state string) bool {
	return subtle.ConstantTimeCompare([]byte(a.State()), []byte(state)) == 1
}

func (a *Attempt) derive(purpose string) string {
	return base64.RawURLEncoding.EncodeToString(expand(a.secret, purpose))
}

// expand returns 32 bytes of HKDF-SHA256 of the secret for the purpose.
func expand(secret [32]byte, purpose string) []byte {
	b, err := hkdf.Key(sha256.New, secret[:], nil, purpose, 32)
	if err != nil { // only for lengths that HKDF cannot give
		panic(fmt.Sprintf("loginstate: %v", err))
	}
	return b
}

// Provider identifies the provider and configuration to which an attempt is bound. A cookie
// of another provider, or of another configuration of the same one, is not accepted.
type Provider struct {
	Method      string // of signing in, such as "oidc"
	Name        string
	Issuer      string
	ClientID    string
	RedirectURI string
}

// Fingerprint identifies a [Provider].
type Fingerprint [sha256.Size]byte

// Fingerprint returns the SHA-256 of all fields, each preceded by its length.
func (p Provider) Fingerprint() Fingerprint {
	var b []byte
	for _, field := range []string{p.Method, p.Name, p.Issuer, p.ClientID, p.RedirectURI} {
		b = append(binary.AppendUvarint(b, uint64(len(field))), field...)
	}
	return sha256.Sum256(b)
}
