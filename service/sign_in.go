package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/guidonhq/guidon"
)

// SignIn is a successful attempt of a person to sign in.
type SignIn struct {
	Identity *Identity
	Client   Client
	Name     string        // of the session, or ""
	Lifetime time.Duration // of the session, from now
	Most     int           // sessions of the subject, this one included; the oldest give way

	// Replaced is the id of the session that the browser had, or "".
	Replaced string

	// Attempt is the digest of the attempt, which is used up until the given time.
	Attempt string
	Until   time.Time

	from string // the id of the session to which this is another one, or ""
}

// SignIn creates a session in one transaction, and returns its token and record. It
// returns Unauthenticated if the attempt was used before, and PermissionDenied if the
// identity is not admitted or has no role. It then changes nothing.
func (s *Service) SignIn(ctx context.Context, w Write, in SignIn) (token string, session *Authentication, err error) {
	a := in.Identity.authentication()
	a.Client = in.Client
	return s.begin(ctx, w, a, in)
}

// SignInAgain creates another session of the caller's, with the identity of the one that
// has the id: the command line's of the person who signed in with a browser. The errors
// are those of [Service.SignIn], and Unauthenticated if the session has ended.
func (s *Service) SignInAgain(ctx context.Context, w Write, id string, in SignIn) (token string, session *Authentication, err error) {
	set, _, err := s.store.Authentications(ctx, Demand{Fresh: true}, "")
	if err != nil {
		return "", nil, err
	}
	from, _, err := s.valid(set, set.ByID(id), 0)
	if err != nil {
		return "", nil, err
	}
	a := &Authentication{
		Method: from.Method, Metadata: from.Metadata, Subject: from.Subject, Subjects: from.Subjects,
		Roles: from.Roles, SID: from.SID, Parent: from.Parent, Client: in.Client,
	}
	if parent := set.ByID(from.Parent); parent != nil {
		a.ExpiresAt = parent.ExpiresAt
	}
	if in.Name != "" {
		a.Metadata = maps.Clone(a.Metadata)
		if a.Metadata == nil {
			a.Metadata = map[string]string{}
		}
		a.Metadata[MetadataSessionName] = in.Name
	}
	in.from = id
	return s.begin(ctx, w, a, in)
}

// BeginSession creates a session of a static token for a browser. It returns
// PermissionDenied if the token may not read anything, since no page would work.
func (s *Service) BeginSession(ctx context.Context, w Write, in SignIn) (token string, session *Authentication, err error) {
	self := w.By.Authentication
	switch {
	case self == nil:
		return "", nil, ErrUnauthenticated
	case self.Method != MethodToken || self.ID == "" || self.Parent != "":
		return "", nil, guidon.Errorf(guidon.InvalidArgument, "only a static token can begin a session")
	case !self.MayAnywhere(RoleViewer):
		return "", nil, guidon.Errorf(guidon.PermissionDenied, "permission denied: needs viewer on any namespace")
	}
	a := &Authentication{Method: MethodToken, Metadata: self.Metadata, Client: in.Client, Parent: self.ID, ExpiresAt: self.ExpiresAt}
	return s.begin(ctx, w, a, in)
}

// begin stores the session, whose record lacks only the fields that every session gets.
func (s *Service) begin(ctx context.Context, w Write, a *Authentication, in SignIn) (string, *Authentication, error) {
	token := newToken()
	a.ID, a.TokenHash = NewID(), HashToken(token)
	if err := s.admit(ctx, a); err != nil {
		return "", nil, err
	}
	w.By.Authentication, w.By.Actor = a, a.Actor()
	var session *Authentication
	err := s.updateAuthentications(ctx, w, func(ctx context.Context, tx AuthenticationTx) error {
		if in.Attempt != "" {
			if err := spendAttempt(ctx, tx, in); err != nil {
				return err
			}
		}
		if in.from != "" { // it may have ended since it was found
			if _, err := tx.Authentication(ctx, in.from); errors.Is(err, guidon.NotFound) {
				return ErrUnauthenticated
			} else if err != nil {
				return err
			}
		}
		now := tx.Now()
		session = new(*a)
		session.CreatedAt, session.UpdatedAt = now, now
		if end := now.Add(in.Lifetime); session.ExpiresAt.IsZero() || end.Before(session.ExpiresAt) {
			session.ExpiresAt = end
		}
		if err := endOlder(ctx, tx, a.Owner(), in); err != nil {
			return err
		}
		return tx.PutAuthentication(ctx, session)
	})
	if err != nil {
		return "", nil, err
	}
	return token, session, nil
}

// spendAttempt returns Unauthenticated if the attempt was used before.
func spendAttempt(ctx context.Context, tx AuthenticationTx, in SignIn) error {
	err := tx.Spend(ctx, in.Attempt, in.Until)
	if errors.Is(err, guidon.InvalidArgument) {
		return &guidon.Error{Code: guidon.Unauthenticated, Message: "this attempt to sign in was used already; begin again", Err: err}
	}
	return err
}

// endOlder ends the session that the new one replaces, if it came from signing in, and the
// oldest of the owner beyond the limit.
func endOlder(ctx context.Context, tx AuthenticationTx, owner string, in SignIn) error {
	if in.Replaced != "" {
		a, err := tx.Authentication(ctx, in.Replaced)
		switch {
		case errors.Is(err, guidon.NotFound):
		case err != nil:
			return err
		case a.Client != "":
			if err := tx.DeleteAuthentication(ctx, a.ID); err != nil {
				return err
			}
		}
	}
	if in.Most <= 0 {
		return nil
	}
	sessions, err := tx.OfOwner(ctx, owner)
	if err != nil {
		return err
	}
	return deleteAll(ctx, tx, sessions[:max(0, len(sessions)-in.Most+1)])
}

// admit limits the subjects of the authentication to as many as a record may have. It
// returns PermissionDenied if the identity is then not admitted or may do nothing.
func (s *Service) admit(ctx context.Context, a *Authentication) error {
	set, _, err := s.store.Authentications(ctx, Demand{}, "")
	if err != nil {
		return err
	}
	s.policy.limitSubjects(a, set.bindings)
	resolved := s.policy.resolve(a, set)
	switch {
	case resolved == nil:
		return notAdmitted("the allow lists do not admit %s", a.Subject)
	case !resolved.MayAnywhere(RoleEvaluator):
		return notAdmitted("%s has no role", a.Subject)
	}
	return nil
}

// notAdmitted returns the error for a caller that is known but not admitted. Only logs
// contain the reason.
func notAdmitted(format string, args ...any) error {
	const message = "permission denied: you are known, but not admitted; ask an administrator"
	return &guidon.Error{Code: guidon.PermissionDenied, Message: message, Err: fmt.Errorf(format, args...)}
}

// Exchange returns the authentication of the client token that a workload gets for a proof
// of its identity. The same proof must give the same token. Its record is created unless it
// exists. Exchange returns PermissionDenied if the identity is not admitted or has no role.
func (s *Service) Exchange(ctx context.Context, w Write, identity *Identity, token string) (*Authentication, error) {
	id := idOf(token)
	a := identity.authentication()
	a.ID, a.TokenHash = id, HashToken(token)
	if err := s.admit(ctx, a); err != nil {
		return nil, err
	}
	set, _, err := s.store.Authentications(ctx, Demand{}, "")
	if err != nil {
		return nil, err
	}
	if known := set.ByID(id); known != nil && !known.Expired(s.now()) {
		return known, nil
	}
	w.By.Authentication, w.By.Actor = a, a.Actor()
	err = s.updateAuthentications(ctx, w, func(ctx context.Context, tx AuthenticationTx) error {
		stored, err := tx.Authentication(ctx, id)
		switch {
		case errors.Is(err, guidon.NotFound):
			a.CreatedAt = tx.Now()
		case err != nil:
			return err
		case !stored.Expired(tx.Now()):
			*a = *stored
			return nil
		default: // it expired before the proof does
			a.CreatedAt = stored.CreatedAt
		}
		a.UpdatedAt = tx.Now()
		return tx.PutAuthentication(ctx, a)
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}
