package loginstate

import (
	"crypto/sha256"
	"encoding/binary"
)

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
