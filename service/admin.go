package service

import (
	"context"
	"slices"

	"github.com/guidonhq/guidon"
)

// removal is what is about to be deleted: an authentication or a binding.
type removal struct{ token, binding string }

// keepAdmin returns InvalidArgument if the caller would lose the role admin everywhere by
// the removal, and nobody else had it then: nobody could give it to anybody any longer.
func (s *Service) keepAdmin(ctx context.Context, tx AuthenticationTx, caller *Authentication, r removal) error {
	switch {
	case caller == nil || !caller.May(RoleAdmin, Everywhere):
		return nil
	case r.token == "": // a binding
	case r.token == caller.ID && caller.Method == MethodToken && caller.Parent == "":
	case r.token == caller.Parent:
	default: // a session, or somebody else's
		return nil
	}
	if _, limited := caller.Scope(); limited {
		return nil
	}
	others, err := s.otherAdmins(ctx, tx, r)
	if err != nil || others {
		return err
	}
	return guidon.Errorf(guidon.InvalidArgument, "this is the only way in which anybody is an administrator; make another token or binding with the role admin first")
}

// otherAdmins reports whether a static token or a binding gives the role admin everywhere
// after the removal.
func (s *Service) otherAdmins(ctx context.Context, tx AuthenticationTx, r removal) (bool, error) {
	stored, err := tx.Bindings(ctx)
	if err != nil {
		return false, err
	}
	if s.policy.Bindings.giveAdmin("") || stored.giveAdmin(r.binding) {
		return true, nil
	}
	tokens, err := tx.OfMethod(ctx, MethodToken)
	return slices.ContainsFunc(tokens, func(a *Authentication) bool { return a.ID != r.token && s.isAdminToken(a) }), err
}

// isAdminToken reports whether the authentication is a static token, which has not
// expired, with the role admin everywhere.
func (s *Service) isAdminToken(a *Authentication) bool {
	if a.Method != MethodToken || a.Parent != "" || a.Expired(s.now()) {
		return false
	}
	_, limited := a.Scope()
	token := Authentication{Role: s.policy.tokenRole(a), Namespaces: a.Namespaces}
	return !limited && token.May(RoleAdmin, Everywhere)
}

// HasAdmin reports whether a static token or a binding gives somebody the role admin
// everywhere.
func (s *Service) HasAdmin(ctx context.Context) (bool, error) {
	set, _, err := s.store.Authentications(ctx, Demand{}, "")
	if err != nil {
		return false, err
	}
	if s.policy.Bindings.giveAdmin("") || set.bindings.giveAdmin("") {
		return true, nil
	}
	return slices.ContainsFunc(set.All(), s.isAdminToken), nil
}
