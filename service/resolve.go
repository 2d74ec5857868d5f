package service

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// WithPolicy returns a copy of the service that decides by the policy.
func (s *Service) WithPolicy(p *Policy) *Service {
	next := *s
	next.policy = p
	return &next
}

// resolve returns the authentication with its access according to the policy and the
// bindings in the set, or nil if it is not admitted.
func (s *Service) resolve(set *AuthenticationSet, a *Authentication) *Authentication {
	if !s.policy.concerns(a) { // nearly always
		return a
	}
	return set.resolved.get(a, func() *Authentication { return s.policy.resolve(a, set) })
}

func (p *Policy) resolve(a *Authentication, set *AuthenticationSet) *Authentication {
	resolved := *a
	resolved.actorID = a.Actor().ID
	switch {
	case a.Parent != "":
		parent := set.ByID(a.Parent)
		if parent == nil {
			return nil
		}
		resolved.Role, resolved.Namespaces = p.tokenRole(parent), parent.Namespaces
		resolved.scopeTo(parent)
		if !parent.ExpiresAt.IsZero() && parent.ExpiresAt.Before(a.ExpiresAt) {
			resolved.ExpiresAt = parent.ExpiresAt
		}
	case a.Method == MethodToken:
		resolved.Role = p.tokenRole(a)
	case !p.admits(a):
		return nil
	default:
		resolved.access = p.accessOf(a, set.bindings)
	}
	return &resolved
}

// scopeTo gives the session the Scope of its token, which may have changed since the session
// began.
func (a *Authentication) scopeTo(parent *Authentication) {
	scope, limited := parent.Metadata[MetadataTokenNamespace]
	if a.Metadata[MetadataTokenNamespace] == scope {
		return
	}
	metadata := maps.Clone(a.Metadata)
	if metadata == nil {
		metadata = map[string]string{}
	}
	delete(metadata, MetadataTokenNamespace)
	if limited {
		metadata[MetadataTokenNamespace] = scope
	}
	a.Metadata = metadata
}

// tokenRole returns the role of a static token, which is RoleUnset for one that may do
// everything.
func (p *Policy) tokenRole(a *Authentication) Role {
	if role := p.defaultOf(MethodToken); a.Role == RoleUnset && role != RoleAdmin {
		return role
	}
	return a.Role
}

// Recognize returns the authentication of an identity that was proved without a stored
// token, such as by a JWT. The arguments and the age are those of [Service.Authenticate].
// The same identity must always be the same pointer, and not have expired.
func (s *Service) Recognize(ctx context.Context, d Demand, next string, id *Identity) (*Authentication, time.Duration, error) {
	set, age, err := s.store.Authentications(ctx, d, next)
	if err != nil {
		return nil, age, err
	}
	a := set.resolved.get(id, func() *Authentication { return s.policy.resolve(id.authentication(), set) })
	if a == nil {
		return nil, age, ErrUnauthenticated
	}
	return a, age, nil
}

// ClockSkew is how far the clock of the issuer of a proof may differ from ours. For so long
// after its expiry, a proof is still accepted.
const ClockSkew = time.Minute

// authentication returns an authentication of the identity, without a token.
func (id *Identity) authentication() *Authentication {
	return &Authentication{
		Method: id.Method, ExpiresAt: id.Expires, Metadata: id.Metadata,
		Subject: id.Subject, Subjects: id.Subjects, Roles: id.Roles, SID: id.SID,
	}
}

// maxResolved limits the results of resolve that a set keeps: identities without a stored
// token come and go, while the set may stay the same.
const maxResolved = 50_000

// resolutions keeps the results of resolve for one set. It is safe for concurrent use.
type resolutions struct {
	results sync.Map // of *Authentication, by *Authentication or *Identity
	count   atomic.Int64
}

// get returns the result for the key, computed if needed.
func (r *resolutions) get(key any, compute func() *Authentication) *Authentication {
	if a, found := r.results.Load(key); found {
		return a.(*Authentication)
	}
	if r.count.Add(1) > maxResolved {
		r.results.Clear()
		r.count.Store(1)
	}
	a := compute()
	r.results.Store(key, a)
	return a
}
