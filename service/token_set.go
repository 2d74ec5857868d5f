package service

import (
	"sync"

	"github.com/guidonhq/guidon"
)

// AuthenticationSet is an immutable set of all stored authentications. It is safe
// for concurrent use. Looking up an unknown token costs the same as a known one,
// and leaves nothing in memory.
//
// A set is either whole, or consists of a whole one and the changes since. So a
// sign-in costs the same however many authentications there are.
type AuthenticationSet struct {
	revision guidon.Revision
	base     *AuthenticationSet    // nil if this set is whole
	since    []AuthenticationDelta // lead from base to this set
	size     int                   // of since

	// The indexes have all authentications or, if there is a base, those that since
	// changes. A nil entry hides the one in base: it was deleted, or has another hash.
	byID   map[string]*Authentication
	byHash map[string]*Authentication

	bindings *Bindings
	resolved resolutions

	// The following are computed on first use.
	ordered  func() []*Authentication // all, in creation order
	byHandle func() map[string]string // the ids of the authentications in byID
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
		bindings: bindings,
		byID:     make(map[string]*Authentication, len(ordered)),
		byHash:   make(map[string]*Authentication, len(ordered)),
		ordered:  func() []*Authentication { return ordered },
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
func (s *AuthenticationSet) All() []*Authentication { return s.ordered() }

// ByID returns the authentication with the id, or nil.
func (s *AuthenticationSet) ByID(id string) *Authentication {
	a, found := s.byID[id]
	if !found && s.base != nil {
		return s.base.byID[id]
	}
	return a
}

// byToken returns the authentication of the token, or nil. It does not allocate.
func (s *AuthenticationSet) byToken(token string) *Authentication {
	var buffer [tokenHashLength]byte
	hash := appendTokenHash(buffer[:0], token)
	a, found := s.byHash[string(hash)]
	if !found && s.base != nil {
		return s.base.byHash[string(hash)]
	}
	return a
}

// ByTokenHash returns the authentication with the hash of [HashToken], or nil.
func (s *AuthenticationSet) ByTokenHash(hash string) *Authentication {
	a, found := s.byHash[hash]
	if !found && s.base != nil {
		return s.base.byHash[hash]
	}
	return a
}

// byCapability returns the authentication with the handle of a capability, or nil.
func (s *AuthenticationSet) byCapability(handle []byte) *Authentication {
	id, found := s.byHandle()[string(handle)]
	if !found && s.base != nil {
		id, found = s.base.byHandle()[string(handle)]
	}
	if a := s.ByID(id); found && a != nil && a.Signs() {
		return a
	}
	return nil
}

// indexByHandle returns the ids of the authentications in byID. A handle depends on
// nothing but the id, so an entry is never wrong, even if the id no longer exists.
func (s *AuthenticationSet) indexByHandle() map[string]string {
	index := make(map[string]string, len(s.byID))
	for id, a := range s.byID {
		if a != nil {
			index[string(a.handle())] = id
		}
	}
	return index
}
