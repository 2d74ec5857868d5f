package service

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
)

// Sessions returns the sessions of the caller, in creation order: those of the same
// subject, or of the same static token.
func (s *Service) Sessions(ctx context.Context, d Demand, self *Authentication) ([]*Authentication, error) {
	if self == nil {
		return nil, ErrUnauthenticated
	}
	set, _, err := s.store.Authentications(ctx, d, "")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(set.All()), func(a *Authentication) bool { return !a.isSessionOf(self) || a.Expired(s.now()) }), nil
}

// isSessionOf reports whether the authentication is a session of the one whose
// authentication self is.
func (a *Authentication) isSessionOf(self *Authentication) bool {
	switch {
	case a.Client == "":
		return false
	case a.Subject != "":
		return a.Subject == self.Subject
	}
	return a.Parent == self.Parent || a.Parent == self.ID
}

// EndSession ends a session of the caller's. It returns NotFound if there is none with the
// id.
func (s *Service) EndSession(ctx context.Context, w Write, id string) error {
	self := w.By.Authentication
	if self == nil {
		return ErrUnauthenticated
	}
	return s.updateAuthentications(ctx, w, func(ctx context.Context, tx AuthenticationTx) error {
		a, err := tx.Authentication(ctx, id)
		if errors.Is(err, guidon.NotFound) || err == nil && !a.isSessionOf(self) {
			return guidon.Errorf(guidon.NotFound, "session %q not found", id)
		}
		if err != nil {
			return err
		}
		return tx.DeleteAuthentication(ctx, id)
	})
}

// RevokeSelf ends the caller's authentication and, if everywhere is set, all of its
// owner. It returns InvalidArgument if the caller has no stored authentication.
func (s *Service) RevokeSelf(ctx context.Context, w Write, everywhere bool) error {
	self, err := w.stored()
	if err != nil {
		return err
	}
	return s.updateAuthentications(ctx, w, func(ctx context.Context, tx AuthenticationTx) error {
		if _, err := tx.Authentication(ctx, self.ID); errors.Is(err, guidon.NotFound) {
			return ErrUnauthenticated
		} else if err != nil {
			return err
		}
		if everywhere && self.Owner() != "" {
			return deleteOf(ctx, tx, self.Owner())
		}
		if err := s.keepAdmin(ctx, tx, self, removal{token: self.ID}); err != nil {
			return err
		}
		return tx.DeleteAuthentication(ctx, self.ID)
	})
}

// stored returns the authentication of the caller, and an error if it has no record that
// could be changed.
func (w Write) stored() (*Authentication, error) {
	self := w.By.Authentication
	switch {
	case self == nil:
		return nil, ErrUnauthenticated
	case self.ID == "":
		return nil, guidon.Errorf(guidon.InvalidArgument, "a token that is not stored, such as a JWT, ends only when it expires")
	}
	return self, nil
}

// DeleteAuthenticationsOf deletes all authentications of the subject. It is not an error
// if there are none.
func (s *Service) DeleteAuthenticationsOf(ctx context.Context, w Write, subject string) error {
	if err := requireAll(field{"subject", subject}); err != nil {
		return err
	}
	return s.updateAuthentications(ctx, w, func(ctx context.Context, tx AuthenticationTx) error {
		return deleteOf(ctx, tx, subject)
	})
}

func deleteOf(ctx context.Context, tx AuthenticationTx, owner string) error {
	all, err := tx.OfOwner(ctx, owner)
	if err != nil {
		return err
	}
	return deleteAll(ctx, tx, all)
}

func deleteAll(ctx context.Context, tx AuthenticationTx, all []*Authentication) error {
	for _, a := range all {
		if err := tx.DeleteAuthentication(ctx, a.ID); err != nil {
			return err
		}
	}
	return nil
}

// SignOut is the notice of a provider that a person has signed out there. At least one of
// Subject and SID is set.
type SignOut struct {
	Provider string // the start of the subjects that it vouches for: "oidc:<name>"
	Subject  string
	SID      string    // the session at the provider; if it is set, only its sessions end
	Digest   string    // of the token, which is used up until the given time
	Until    time.Time // when the token may be forgotten
}

// EndSessionsOf ends the sessions that came from the provider's session, or else those of
// the subject, and returns how many. If there are any, it uses up the provider's token in
// the same transaction; it returns InvalidArgument if that was used before.
func (s *Service) EndSessionsOf(ctx context.Context, w Write, out SignOut) (ended int, err error) {
	err = s.updateAuthentications(ctx, w, func(ctx context.Context, tx AuthenticationTx) error {
		if err := tx.Spend(ctx, out.Digest, out.Until); err != nil {
			return err
		}
		all, err := tx.OfMethod(ctx, MethodOIDC)
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(slices.Clone(all), func(a *Authentication) bool { return !out.ends(a) })
		ended = len(all)
		return deleteAll(ctx, tx, all)
	})
	return ended, err
}

// ends reports whether the authentication is a session that ends.
func (out SignOut) ends(a *Authentication) bool {
	switch {
	case a.Subject == "" || vouchers(a.Subject) != out.Provider:
		return false
	case out.SID != "":
		return a.SID == out.SID && (out.Subject == "" || a.Subject == out.Subject)
	}
	return a.Subject == out.Subject
}
