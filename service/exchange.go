package service

import (
	"context"
	"errors"

	"github.com/guidonhq/guidon"
)

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
