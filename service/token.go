package service

import (
	"strings"
	"sync"
	"time"

	"github.com/guidonhq/guidon"
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

// Authentication is the stored credential of a client. Only the hash of its token
// is stored.
type Authentication struct {
	ID        string            `json:"id"`
	Method    Method            `json:"method"`
	TokenHash string            `json:"-"`                  // see HashToken; never in a change record
	ExpiresAt time.Time         `json:"expiresAt,omitzero"` // zero is never
	Metadata  map[string]string `json:"metadata,omitempty"`
	// Role is what a static token may do, and Namespaces where: patterns of [Grant]. If
	// neither is set, it may do everything.
	Role       Role      `json:"role,omitzero"`
	Namespaces []string  `json:"namespaces,omitempty"`
	CreatedAt  time.Time `json:"createdAt"`
	UpdatedAt  time.Time `json:"updatedAt"`

	actorID string // set by NewAuthenticationSet
}

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
	if id == "" {
		id = "token:" + a.ID
	}
	return change.Actor{ID: id, Name: a.Method.actorName(a.Metadata), Method: a.Method.String()}
}

// AuthenticationSet is an immutable set of all stored authentications. It is safe
// for concurrent use. Looking up an unknown token costs the same as a known one,
// and leaves nothing in memory.
type AuthenticationSet struct {
	revision guidon.Revision
	ordered  []*Authentication // in creation order
	byID     map[string]*Authentication
	byHash   map[string]*Authentication
	byHandle func() map[string]*Authentication // built on first use
}

// NewAuthenticationSet returns the set of the authentications, which must be in
// creation order. It keeps the slice and its elements; the caller must not modify
// them afterwards.
func NewAuthenticationSet(revision guidon.Revision, ordered []*Authentication) *AuthenticationSet {
	s := &AuthenticationSet{
		revision: revision,
		ordered:  ordered,
		byID:     make(map[string]*Authentication, len(ordered)),
		byHash:   make(map[string]*Authentication, len(ordered)),
		byHandle: sync.OnceValue(func() map[string]*Authentication { return indexByHandle(ordered) }),
	}
	for _, a := range ordered {
		if a.actorID == "" { // otherwise it is already in a set that may be in use
			a.actorID = a.Actor().ID
		}
		s.byID[a.ID] = a
		s.byHash[a.TokenHash] = a
	}
	return s
}

// Revision returns the revision that the set was read at.
func (s *AuthenticationSet) Revision() guidon.Revision { return s.revision }

// All returns the authentications in creation order. The caller must not modify the
// slice or its elements.
func (s *AuthenticationSet) All() []*Authentication { return s.ordered }

// ByID returns the authentication with the id, or nil.
func (s *AuthenticationSet) ByID(id string) *Authentication { return s.byID[id] }

// byToken returns the authentication of the token, or nil. It does not allocate.
func (s *AuthenticationSet) byToken(token string) *Authentication {
	var hash [tokenHashLength]byte
	return s.byHash[string(appendTokenHash(hash[:0], token))]
}

// ByTokenHash returns the authentication with the hash of [HashToken], or nil.
func (s *AuthenticationSet) ByTokenHash(hash string) *Authentication { return s.byHash[hash] }
