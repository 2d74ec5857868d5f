package service

import (
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
