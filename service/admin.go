package service

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
)

// removal names the authentication or the binding that is about to end.
type removal struct{ token, binding string }

// minAdminTime is how long an administrator must remain one, at least, to count as another
// one: long enough to create a token or binding that stays.
const minAdminTime = 24 * time.Hour

// keepAdmin returns InvalidArgument if the removal takes the role admin everywhere from the
// caller, and no one else has it then: no one could grant it again.
func (s *Service) keepAdmin(ctx context.Context, tx AuthenticationTx, caller *Authentication, r removal) error {
	if caller == nil || !caller.May(RoleAdmin, Everywhere) {
		return nil
	}
	if _, limited := caller.Scope(); limited {
		return nil
	}
	bindings, err := tx.Bindings(ctx)
	if err != nil {
		return err
	}
	gives, err := s.givesAdmin(ctx, tx, bindings, r)
	if err != nil || !gives {
		return err
	}
	if s.policy.bindAdmin(bindings.without(r.binding)) || s.staysAdmin(caller, bindings, r) {
		return nil
	}
	tokens, err := tx.OfMethod(ctx, MethodToken)
	until := s.now().Add(minAdminTime)
	if err != nil || slices.ContainsFunc(tokens, func(a *Authentication) bool { return a.ID != r.token && s.isAdminToken(a, until) }) {
		return err
	}
	return guidon.Errorf(guidon.InvalidArgument,
		"this is the only way in which anybody is an administrator; make another token or binding with the role admin first")
}

// givesAdmin reports whether the authentication or binding that ends gives the role admin
// everywhere.
func (s *Service) givesAdmin(ctx context.Context, tx AuthenticationTx, bindings *Bindings, r removal) (bool, error) {
	if r.binding != "" {
		return slices.ContainsFunc(bindings.All(), func(b *Binding) bool { return b.ID == r.binding && b.givesAdmin() }), nil
	}
	a, err := tx.Authentication(ctx, r.token)
	if errors.Is(err, guidon.NotFound) {
		return false, nil
	}
	return err == nil && s.isAdminToken(a, s.now()), err
}

// bindAdmin reports whether a binding, configured or stored, gives the role admin everywhere
// to a subject that can sign in: its method or provider is configured.
func (p *Policy) bindAdmin(stored *Bindings) bool {
	return slices.ContainsFunc(slices.Concat(p.Bindings.All(), stored.All()), func(b *Binding) bool {
		return b.givesAdmin() && p.Admissions[vouchers(b.Subject)] != nil
	})
}

// staysAdmin reports whether a person or workload has the role admin everywhere after the
// removal, such as by a claim for roles. A static token that has it is among the tokens,
// unless another administrator has just deleted it.
func (s *Service) staysAdmin(caller *Authentication, bindings *Bindings, r removal) bool {
	if caller.Method == MethodToken {
		return false
	}
	access := s.policy.accessOf(caller, bindings.without(r.binding))
	return access == nil || access.gives(RoleAdmin, Everywhere)
}

// isAdminToken reports whether the authentication is a static token, which has not
// expired at the time, with the role admin everywhere.
func (s *Service) isAdminToken(a *Authentication, at time.Time) bool {
	if a.Method != MethodToken || a.Parent != "" || a.Expired(at) {
		return false
	}
	_, limited := a.Scope()
	token := Authentication{Role: s.policy.tokenRole(a), Namespaces: a.Namespaces}
	return !limited && token.May(RoleAdmin, Everywhere)
}

// HasAdmin reports whether a static token, or a binding for a configured method of signing
// in, gives the role admin everywhere.
func (s *Service) HasAdmin(ctx context.Context) (bool, error) {
	set, _, err := s.store.Authentications(ctx, Demand{}, "")
	if err != nil {
		return false, err
	}
	if s.policy.bindAdmin(set.bindings) {
		return true, nil
	}
	now := s.now()
	return slices.ContainsFunc(set.All(), func(a *Authentication) bool { return s.isAdminToken(a, now) }), nil
}
