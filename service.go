package guidon

import (
	"context"
	"errors"
	"time"
)

// Service is the feature-flag service: what may be asked of it, whatever the
// transport. Its methods may be called concurrently. Every error they return
// that a caller can mend is an *[Error] whose message names the field and the
// rule; nothing is changed when one is returned.
//
// The [Call] of the context is the author of changes; the service reports the
// namespace and revision that answered in it.
type Service struct {
	store Store
	now   func() time.Time
}

// NewService returns a service over the store. now is the clock, time.Now
// outside tests.
func NewService(store Store, now func() time.Time) *Service {
	return &Service{store: store, now: now}
}

// view returns the current snapshot of the namespace and notes it in the call.
func (s *Service) view(ctx context.Context, namespace string) (*Snapshot, error) {
	call := CallFrom(ctx)
	call.Namespace = namespace
	snapshot, err := s.store.Snapshot(ctx, namespace)
	if call.MinRevision > 0 {
		snapshot, err = s.await(ctx, namespace, call, snapshot, err)
	}
	if errors.Is(err, NotFound) {
		return nil, Errorf(NotFound, "namespace %q not found", namespace)
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

// viewOrEmpty is view for reads to which a namespace that does not exist is an
// empty one: lists (contract 6) and evaluation (contract 7.1).
func (s *Service) viewOrEmpty(ctx context.Context, namespace string) (*Snapshot, error) {
	snapshot, err := s.view(ctx, namespace)
	if errors.Is(err, NotFound) {
		return NewSnapshot(&Namespace{Key: namespace}, Revision{}, nil, nil), nil
	}
	return snapshot, err
}

// update is [Store.Update] with the namespace noted in the call.
func (s *Service) update(ctx context.Context, namespace string, fn func(ctx context.Context, tx Tx) error) error {
	CallFrom(ctx).Namespace = namespace
	return s.store.Update(ctx, namespace, fn)
}

// updateFlag loads the flag, lets change alter it and stores it. A flag that
// does not exist gives missing.
func (s *Service) updateFlag(ctx context.Context, namespace, key string, missing error, change func(ctx context.Context, tx Tx, f *Flag) error) error {
	return s.update(ctx, namespace, func(ctx context.Context, tx Tx) error {
		f, err := tx.Flag(ctx, key)
		if errors.Is(err, NotFound) {
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
func (s *Service) updateSegment(ctx context.Context, namespace, key string, missing error, change func(tx Tx, g *Segment) error) error {
	return s.update(ctx, namespace, func(ctx context.Context, tx Tx) error {
		g, err := tx.Segment(ctx, key)
		if errors.Is(err, NotFound) {
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

// errUnchanged ends a change that turns out to have nothing to do.
var errUnchanged = errors.New("nothing to change")

// ignoreUnchanged turns errUnchanged into success.
func ignoreUnchanged(err error) error {
	if errors.Is(err, errUnchanged) {
		return nil
	}
	return err
}

func segmentNotFound(namespace, key string) error {
	return Errorf(NotFound, "segment %q not found", namespace+"/"+key)
}
