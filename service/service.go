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
	"github.com/guidonhq/guidon/service/count"
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
	store   Store
	now     func() time.Time
	policy  *Policy
	counter *count.Counter // or nil

	webhooks *Webhooks // or nil
}

// NewService returns a service that uses the store, with the zero [Policy]. now is the clock for the expiry of
// authentications, time.Now except in tests.
func NewService(store Store, now func() time.Time) *Service {
	return &Service{store: store, now: now, policy: &Policy{}}
}

// createObject stores the object that create returns. It returns InvalidArgument if there is
// one with the key, and NotFound if the namespace does not exist.
func createObject[O any](
	ctx context.Context, s *Service, w Write, namespace string, k *objectKind[O], key string,
	create func(now time.Time) *O,
) (*O, int64, error) {
	var created *O
	revision, err := s.update(ctx, namespace, w, func(ctx context.Context, tx Tx) error {
		switch have, err := k.stored(ctx, tx, key); {
		case err != nil:
			return err
		case have != nil:
			return notUnique(string(k.kind), namespace, key)
		}
		created = create(tx.Now())
		return k.put(tx, ctx, created)
	})
	return orNil(created, revision, err)
}

// updateObject loads the object, calls change to modify it, and stores it. It returns the
// part that change returns, and missing if the object does not exist.
func updateObject[O, P any](
	ctx context.Context, s *Service, w Write, namespace string, k *objectKind[O], key string, missing error,
	change func(ctx context.Context, tx Tx, o *O) (*P, error),
) (*P, int64, error) {
	var part *P
	revision, err := s.update(ctx, namespace, w, func(ctx context.Context, tx Tx) error {
		o, err := k.get(tx, ctx, key)
		if errors.Is(err, guidon.NotFound) {
			return missing
		}
		if err != nil {
			return err
		}
		if part, err = change(ctx, tx, o); err != nil {
			return err
		}
		return k.put(tx, ctx, o)
	})
	return orNil(part, revision, err)
}

// changeParts is updateObject for a change that reports whether there was anything to do. It
// is not an error if the object does not exist.
func changeParts[O any](
	ctx context.Context, s *Service, w Write, namespace string, k *objectKind[O], key string,
	change func(o *O, now time.Time) bool,
) (int64, error) {
	return s.update(ctx, guidon.NamespaceKey(namespace), w, func(ctx context.Context, tx Tx) error {
		o, err := k.stored(ctx, tx, key)
		if err != nil || o == nil || !change(o, tx.Now()) {
			return err
		}
		return k.put(tx, ctx, o)
	})
}

func segmentNotFound(namespace, key string) error {
	return guidon.Errorf(guidon.NotFound, "segment %q not found", namespace+"/"+key)
}
