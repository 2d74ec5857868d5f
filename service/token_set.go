package service

import (
	"sync"

	"github.com/guidonhq/guidon"
)

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
