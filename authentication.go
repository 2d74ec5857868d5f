package guidon

import (
	"strings"
	"sync"
	"time"
)

// Method says how an authentication came to be. The numbers are those of the wire.
type Method int32

// The methods.
const (
	MethodNone       Method = 0
	MethodToken      Method = 1
	MethodOIDC       Method = 2
	MethodKubernetes Method = 3
	MethodCodehost   Method = 4
	MethodJWT        Method = 5
	MethodCloud      Method = 6
)

// Metadata keys of static tokens (contract 10.1, design 9).
const (
	MetadataTokenName        = "io.service.auth.token.name"        // #nosec G101 -- a name, not a credential
	MetadataTokenDescription = "io.service.auth.token.description" // #nosec G101 -- a name, not a credential
	MetadataTokenNamespace   = "io.service.auth.token.namespace"   // #nosec G101 -- a name, not a credential
	MetadataTokenCreatedBy   = "io.service.auth.token.created_by"  // #nosec G101 -- a name, not a credential
)

// Authentication is a stored credential of a client, known by the hash of its
// token only.
type Authentication struct {
	ID        string            `json:"id"`
	Method    Method            `json:"method"`
	TokenHash string            `json:"-"` // never in a change record
	ExpiresAt time.Time         `json:"expiresAt,omitzero"`
	Metadata  map[string]string `json:"metadata,omitempty"`
	CreatedAt time.Time         `json:"createdAt"`
	UpdatedAt time.Time         `json:"updatedAt"`

	actorID string // once it is in a set
}

// Expired tells whether the authentication is no longer valid at the instant.
func (a *Authentication) Expired(now time.Time) bool {
	return !a.ExpiresAt.IsZero() && !a.ExpiresAt.After(now)
}

// Scope returns the one namespace that a static token is limited to, and
// whether it is limited at all (contract 10.3).
func (a *Authentication) Scope() (namespace string, limited bool) {
	if a.Method != MethodToken {
		return "", false
	}
	namespace = strings.TrimSpace(a.Metadata[MetadataTokenNamespace])
	return namespace, namespace != ""
}

// Actor returns the author that the authentication stands for in change records.
func (a *Authentication) Actor() Actor {
	id := a.actorID
	if id == "" {
		id = "token:" + a.ID
	}
	return Actor{ID: id, Name: a.Metadata[MetadataTokenName], Method: a.Method.String()}
}

// String returns the wire name.
func (m Method) String() string {
	switch m {
	case MethodToken:
		return "METHOD_TOKEN"
	case MethodOIDC:
		return "METHOD_OIDC"
	case MethodKubernetes:
		return "METHOD_KUBERNETES"
	case MethodCodehost:
		return "METHOD_CODEHOST"
	case MethodJWT:
		return "METHOD_JWT"
	case MethodCloud:
		return "METHOD_CLOUD"
	}
	return "METHOD_NONE"
}

// AuthenticationSet is an immutable set of all stored authentications. A
// lookup costs the same whether the token is known or not, and leaves nothing
// behind.
type AuthenticationSet struct {
	revision Revision
	ordered  []*Authentication // by creation
	byID     map[string]*Authentication
	byHash   map[string]*Authentication
	byHandle func() map[string]*Authentication // made when it is first asked for
}

// NewAuthenticationSet returns the set of the authentications, given in
// creation order. It keeps the slice and the authentications, which are not to be
// changed any more.
func NewAuthenticationSet(revision Revision, ordered []*Authentication) *AuthenticationSet {
	s := &AuthenticationSet{
		revision: revision,
		ordered:  ordered,
		byID:     make(map[string]*Authentication, len(ordered)),
		byHash:   make(map[string]*Authentication, len(ordered)),
		byHandle: sync.OnceValue(func() map[string]*Authentication { return indexByHandle(ordered) }),
	}
	for _, a := range ordered {
		if a.actorID == "" { // otherwise it is in a set already, which may be in use
			a.actorID = a.Actor().ID
		}
		s.byID[a.ID] = a
		s.byHash[a.TokenHash] = a
	}
	return s
}

// Revision returns the revision that the set was read at.
func (s *AuthenticationSet) Revision() Revision { return s.revision }

// All returns the authentications in creation order. The slice is not to be changed.
func (s *AuthenticationSet) All() []*Authentication { return s.ordered }

// ByID returns the authentication with the id, or nil.
func (s *AuthenticationSet) ByID(id string) *Authentication { return s.byID[id] }

// byToken returns the authentication of the token, or nil. It allocates nothing.
func (s *AuthenticationSet) byToken(token string) *Authentication {
	var hash [tokenHashLength]byte
	return s.byHash[string(appendTokenHash(hash[:0], token))]
}

// ByTokenHash returns the authentication with the token hash, or nil.
func (s *AuthenticationSet) ByTokenHash(hash string) *Authentication { return s.byHash[hash] }
