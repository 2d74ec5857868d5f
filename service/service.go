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
// FailedPrecondition for Call.IfMatch. An error that the caller can fix is an *[guidon.Error]
// whose message names the field and the rule, and nothing has changed.
//
// Methods take the author of a change and the preconditions from the [Call] of the
// context, and set its namespace and revision. A read returns Unavailable if
// Call.MinRevision is not reached within [MaxRevisionWait].
type Service struct {
	store Store
	now   func() time.Time
}

// NewService returns a service that uses the store. now is the clock for the expiry of
// authentications, time.Now except in tests.
func NewService(store Store, now func() time.Time) *Service {
	return &Service{store: store, now: now}
}

// view returns the current snapshot of the namespace, and sets the call's namespace and
// revision.
func (s *Service) view(ctx context.Context, namespace string) (*guidon.Snapshot, error) {
	call := CallFrom(ctx)
	call.Namespace = namespace
	snapshot, err := s.store.Snapshot(ctx, namespace)
	if call.MinRevision > 0 {
		snapshot, err = s.await(ctx, namespace, call, snapshot, err)
	}
	if errors.Is(err, guidon.NotFound) {
		return nil, guidon.Errorf(guidon.NotFound, "namespace %q not found", namespace)
	}
	if err != nil {
		return nil, err
	}
	call.Revision = snapshot.Revision().Number
	if err := checkRevision(call); err != nil {
		return nil, err
	}
	return snapshot, nil
}

// viewOrEmpty is view, but returns an empty snapshot if the namespace does not exist.
// Lists (contract 6) and evaluation (contract 7.1) use it.
func (s *Service) viewOrEmpty(ctx context.Context, namespace string) (*guidon.Snapshot, error) {
	snapshot, err := s.view(ctx, namespace)
	if errors.Is(err, guidon.NotFound) {
		return guidon.NewSnapshot(&guidon.Namespace{Key: namespace}, guidon.Revision{}, nil, nil), nil
	}
	return snapshot, err
}

// update sets the call's namespace and calls [Store.Update].
func (s *Service) update(ctx context.Context, namespace string, fn func(ctx context.Context, tx Tx) error) error {
	CallFrom(ctx).Namespace = namespace
	return s.store.Update(ctx, namespace, fn)
}

// updateFlag loads the flag, calls change to modify it, and stores it. It returns
// missing if the flag does not exist.
func (s *Service) updateFlag(ctx context.Context, namespace, key string, missing error, change func(ctx context.Context, tx Tx, f *guidon.Flag) error) error {
	return s.update(ctx, namespace, func(ctx context.Context, tx Tx) error {
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
func (s *Service) updateSegment(ctx context.Context, namespace, key string, missing error, change func(tx Tx, g *guidon.Segment) error) error {
	return s.update(ctx, namespace, func(ctx context.Context, tx Tx) error {
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
func ignoreUnchanged(err error) error {
	if errors.Is(err, errUnchanged) {
		return nil
	}
	return err
}

func segmentNotFound(namespace, key string) error {
	return guidon.Errorf(guidon.NotFound, "segment %q not found", namespace+"/"+key)
}
