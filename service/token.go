package service

import (
	"crypto/rand"
	"encoding/base64"
	"hash/crc32"
	"strings"
	"time"

	"github.com/guidonhq/guidon/change"
)

// metadataPrefix is that of all metadata keys which the service itself sets.
const metadataPrefix = "io.service.auth."

// Metadata keys of static tokens. The first three are those of contract 10.1, with
// io.service instead of io.flipt; the last holds the id of the creating actor.
const (
	MetadataTokenName        = "io.service.auth.token.name"        // #nosec G101 -- a name, not a credential
	MetadataTokenDescription = "io.service.auth.token.description" // #nosec G101 -- a name, not a credential
	MetadataTokenNamespace   = "io.service.auth.token.namespace"   // #nosec G101 -- a name, not a credential
	MetadataTokenCreatedBy   = "io.service.auth.token.created_by"  // #nosec G101 -- a name, not a credential
)

// MetadataSessionName is the metadata key with the name of a session, such as that of the
// machine whose command line it is for.
const MetadataSessionName = "io.service.auth.session.name"

// Authentication is the stored credential of a client. Only the hash of its token
// is stored.
type Authentication struct {
	ID        string            `json:"id"`
	Method    Method            `json:"method"`
	TokenHash string            `json:"-"`                  // see HashToken; never in a change record
	ExpiresAt time.Time         `json:"expiresAt,omitzero"` // zero is never
	Metadata  map[string]string `json:"metadata,omitempty"`
	// Role is the role of a static token, and Namespaces where it holds: patterns of [Grant].
	// If neither is set, the token may do everything.
	Role       Role     `json:"role,omitzero"`
	Namespaces []string `json:"namespaces,omitempty"`

	// Subject, Subjects, Roles and SID are those of the [Identity] that a person or a
	// workload proved. Static tokens have none.
	Subject  string   `json:"subject,omitempty"`
	Subjects []string `json:"subjects,omitempty"`
	Roles    []string `json:"roles,omitempty"`
	SID      string   `json:"sid,omitempty"`

	Client Client `json:"client,omitempty"` // of a session
	// Parent is the id of the static token that a session was begun with. The session has the
	// access of the token, and ends with it.
	Parent string `json:"parent,omitempty"`

	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`

	actorID string  // set by NewAuthenticationSet
	access  *access // set by Policy.resolve; nil means that Role and Namespaces count
}

// Client is the kind of client that a session is for.
type Client string

// The clients of sessions.
const (
	ClientBrowser Client = "browser"
	ClientCLI     Client = "cli" // the command line
)

// Owner returns whose session or token the authentication is: the subject, "token:" with
// the id of the static token that began the session, or "" for a static token itself.
func (a *Authentication) Owner() string {
	if a.Subject == "" && a.Parent != "" {
		return tokenOwner + a.Parent
	}
	return a.Subject
}

const tokenOwner = "token:"

// Expired reports whether the authentication is no longer valid at now.
func (a *Authentication) Expired(now time.Time) bool {
	return !a.ExpiresAt.IsZero() && !a.ExpiresAt.After(now)
}

// Scope returns the namespace that a static token is limited to, and whether it is
// limited (contract 10.3). Authentications of other methods are not.
func (a *Authentication) Scope() (namespace string, limited bool) {
	if a.Method != MethodToken {
		return "", false
	}
	namespace = strings.TrimSpace(a.Metadata[MetadataTokenNamespace])
	return namespace, namespace != ""
}

// Actor returns the actor for change records made with the authentication.
func (a *Authentication) Actor() change.Actor {
	id := a.actorID
	switch {
	case id != "":
	case a.Owner() != "":
		id = a.Owner()
	default:
		id = tokenOwner + a.ID
	}
	return change.Actor{ID: id, Name: a.Method.actorName(a.Metadata), Method: a.Method.String()}
}

// tokenPrefix makes tokens of this service recognizable in logs and repositories, for
// people and secret scanners.
const tokenPrefix = "gdn_"

// newToken returns a random client token.
func newToken() string {
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // never fails: crypto/rand ends the process instead
	return TokenOf(raw)
}

// TokenOf returns the client token of 256 secret bits: the prefix, the bits in URL-safe
// base64, and a checksum (operations 1.4). Tokens are found by their hash whatever their
// form, so those of earlier releases, of a Flipt v1 and of the configuration remain valid.
func TokenOf(raw [32]byte) string {
	secret := tokenPrefix + base64.RawURLEncoding.EncodeToString(raw[:])
	return secret + tokenChecksum(secret)
}

const (
	checksumDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	checksumLength = 6 // 62^6 exceeds 2^32
)

// tokenChecksum returns the CRC-32 (IEEE) of the text in base 62, as six digits. It lets a
// scanner distinguish a token from a text that only resembles one, without a request.
func tokenChecksum(text string) string {
	var digits [checksumLength]byte
	rest := crc32.ChecksumIEEE([]byte(text))
	for i := range digits {
		digits[len(digits)-1-i] = checksumDigits[rest%uint32(len(checksumDigits))]
		rest /= uint32(len(checksumDigits))
	}
	return string(digits[:])
}
