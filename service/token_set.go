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
	ordered  []*Authentication // all, in creation order
	byID     map[string]*Authentication
	byHash   map[string]*Authentication
	byHandle func() map[string]*Authentication // computed on first use
	bindings *Bindings
	resolved resolutions
}

// NewAuthenticationSet returns the set of the authentications, which must be in
// creation order. It keeps the slice and its elements; the caller must not modify
// them afterwards.
func NewAuthenticationSet(revision guidon.Revision, ordered []*Authentication) *AuthenticationSet {
	return AuthenticationDelta{Revision: revision, Created: ordered}.Set()
}

func newAuthenticationSet(revision guidon.Revision, ordered []*Authentication, bindings *Bindings) *AuthenticationSet {
	s := &AuthenticationSet{
		revision: revision,
		ordered:  ordered,
		byID:     make(map[string]*Authentication, len(ordered)),
		byHash:   make(map[string]*Authentication, len(ordered)),
		bindings: bindings,
	}
	s.byHandle = sync.OnceValue(s.indexByHandle)
	for _, a := range ordered {
		if a.actorID == "" { // otherwise it is already in a set that may be in use
			a.actorID = a.Actor().ID
		}
		s.byID[a.ID] = a
		s.byHash[a.TokenHash] = a
	}
	return s
}

// Bindings returns the stored bindings.
func (s *AuthenticationSet) Bindings() *Bindings { return s.bindings }

// Revision returns the revision that the set was read at.
func (s *AuthenticationSet) Revision() guidon.Revision { return s.revision }

// All returns the authentications in creation order. The caller must not modify the
// slice or its elements.
func (s *AuthenticationSet) All() []*Authentication { return s.ordered }

// ByID returns the authentication with the id, or nil.
func (s *AuthenticationSet) ByID(id string) *Authentication { return s.byID[id] }

// byToken returns the authentication of the token, or nil. It does not allocate.
func (s *AuthenticationSet) byToken(token string) *Authentication {
	var buffer [tokenHashLength]byte
	return s.byHash[string(appendTokenHash(buffer[:0], token))]
}

// ByTokenHash returns the authentication with the hash of [HashToken], or nil.
func (s *AuthenticationSet) ByTokenHash(hash string) *Authentication { return s.byHash[hash] }

// byCapability returns the authentication with the handle of a capability, or nil.
func (s *AuthenticationSet) byCapability(handle []byte) *Authentication {
	if a := s.byHandle()[string(handle)]; a != nil && a.Signs() {
		return a
	}
	return nil
}

func (s *AuthenticationSet) indexByHandle() map[string]*Authentication {
	index := make(map[string]*Authentication, len(s.ordered))
	for _, a := range s.ordered {
		index[string(a.handle())] = a
	}
	return index
}
