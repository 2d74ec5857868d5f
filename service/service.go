// Package service implements the feature-flag service over a [Store]: reads of namespaces
// and their evaluation, writes with their defaults, validation and error messages, import
// and export documents, and tokens. Transports call [Service], which calls the store.
//
// It imports only the standard library and the engine (package guidon).
package service

import (
	"context"
	"errors"
	"time"

	"github.com/guidonhq/guidon"
)

// Service implements the operations of the feature-flag service for all transports. Its
// methods are safe for concurrent use. The objects that they return may be shared and
// must not be modified.
//
// An empty namespace argument means [guidon.DefaultNamespace]. Besides the errors named below,
// the methods return InvalidArgument for arguments that break a rule of contract 4 or 6,
// TooLarge for an object above [MaxObjectSize], and the errors of [Store], such as
// FailedPrecondition for Write.IfMatch. An error that the caller can fix is an *[guidon.Error]
// whose message names the field and the rule, and nothing has changed. Methods that change
// a namespace return its current revision, also beside an error; it is 0 if it is not known.
type Service struct {
	store  Store
	now    func() time.Time
	policy *Policy
}

// NewService returns a service that uses the store, with the zero [Policy]. now is the clock for the expiry of
// authentications, time.Now except in tests.
func NewService(store Store, now func() time.Time) *Service {
	return &Service{store: store, now: now, policy: &Policy{}}
}

// updateFlag loads the flag, calls change to modify it, and stores it. It returns
// missing if the flag does not exist.
func (s *Service) updateFlag(
	ctx context.Context, w Write, namespace, key string, missing error, change func(ctx context.Context, tx Tx, f *guidon.Flag) error,
) (int64, error) {
	return s.update(ctx, namespace, w, func(ctx context.Context, tx Tx) error {
		f, err := tx.Flag(ctx, key)
		if errors.Is(err, guidon.NotFound) {
			return missing
		}
		if err != nil {
			return err
		}
		if err := change(ctx, tx, f); err != nil {
			return err
		}
		return tx.PutFlag(ctx, f)
	})
}

// updateSegment is updateFlag for segments.
func (s *Service) updateSegment(
	ctx context.Context, w Write, namespace, key string, missing error, change func(tx Tx, g *guidon.Segment) error,
) (int64, error) {
	return s.update(ctx, namespace, w, func(ctx context.Context, tx Tx) error {
		g, err := tx.Segment(ctx, key)
		if errors.Is(err, guidon.NotFound) {
			return missing
		}
		if err != nil {
			return err
		}
		if err := change(tx, g); err != nil {
			return err
		}
		return tx.PutSegment(ctx, g)
	})
}

// errUnchanged rolls back a change that has nothing to do.
var errUnchanged = errors.New("nothing to change")

// ignoreUnchanged turns errUnchanged into success.
func ignoreUnchanged(revision int64, err error) (int64, error) {
	if errors.Is(err, errUnchanged) {
		return revision, nil
	}
	return revision, err
}

func segmentNotFound(namespace, key string) error {
	return guidon.Errorf(guidon.NotFound, "segment %q not found", namespace+"/"+key)
}
