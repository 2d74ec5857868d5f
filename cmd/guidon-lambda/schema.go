package main

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

// migrateEvent is the event that updates the schema.
const migrateEvent = `{"guidon":"migrate"}`

// schema checks whether the schema is compatible with this program. A successful check
// holds for the life of the process: steps are only ever added, and those of later
// releases are compatible with this one.
type schema struct {
	db         *store.DB
	timeout    time.Duration
	compatible atomic.Bool
}

// check returns nil if the schema is compatible, or an error that says what to do.
func (s *schema) check(ctx context.Context) error {
	if s.compatible.Load() {
		return nil
	}
	// First connect through the store, for its handling of a busy database and its
	// error texts.
	if err := s.db.Ping(ctx); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	err := migrate.Check(bounded, s.db.Reader(), s.db.Dialect())
	if err == nil {
		s.compatible.Store(true)
		return nil
	}
	switch _, ours := errors.AsType[*guidon.Error](err); {
	case ctx.Err() != nil:
		return ctx.Err()
	case !ours:
		return &guidon.Error{Code: guidon.Unavailable, Message: "cannot reach the database", Err: err}
	case errors.Is(err, guidon.Unavailable): // pending steps
		return &guidon.Error{Code: guidon.Unavailable, Message: guidon.PublicMessage(err) + ", or invoke the function with " + migrateEvent,
			Err: err}
	}
	return err
}

// checkedStore is a store that checks the schema before the first use.
type checkedStore struct {
	service.Store
	schema *schema
}

// The methods of [service.Store] check the schema.

func (s checkedStore) Namespaces(ctx context.Context) ([]*guidon.Namespace, error) {
	if err := s.schema.check(ctx); err != nil {
		return nil, err
	}
	return s.Store.Namespaces(ctx)
}

func (s checkedStore) Snapshot(ctx context.Context, namespace string, d service.Demand) (*guidon.Snapshot, time.Duration, error) {
	if err := s.schema.check(ctx); err != nil {
		return nil, 0, err
	}
	return s.Store.Snapshot(ctx, namespace, d)
}

func (s checkedStore) SnapshotAt(
	ctx context.Context, namespace string, at service.Moment, d service.Demand, admit service.Admit,
) (*guidon.Snapshot, error) {
	if err := s.schema.check(ctx); err != nil {
		return nil, err
	}
	return s.Store.SnapshotAt(ctx, namespace, at, d, admit)
}

func (s checkedStore) Update(
	ctx context.Context, namespace string, w service.Write, fn func(ctx context.Context, tx service.Tx) error,
) (int64, error) {
	if err := s.schema.check(ctx); err != nil {
		return 0, err
	}
	return s.Store.Update(ctx, namespace, w, fn)
}

func (s checkedStore) Authentications(
	ctx context.Context, d service.Demand, next string,
) (*service.AuthenticationSet, time.Duration, error) {
	if err := s.schema.check(ctx); err != nil {
		return nil, 0, err
	}
	return s.Store.Authentications(ctx, d, next)
}

func (s checkedStore) UpdateAuthentications(
	ctx context.Context, w service.Write, fn func(ctx context.Context, tx service.AuthenticationTx) error,
) error {
	if err := s.schema.check(ctx); err != nil {
		return err
	}
	return s.Store.UpdateAuthentications(ctx, w, fn)
}

func (s checkedStore) Changes(ctx context.Context, query change.Query) ([]*change.Record, error) {
	if err := s.schema.check(ctx); err != nil {
		return nil, err
	}
	return s.Store.Changes(ctx, query)
}

func (s checkedStore) SearchChanges(ctx context.Context, search change.Search) ([]*change.Record, guidon.Position, error) {
	if err := s.schema.check(ctx); err != nil {
		return nil, guidon.Position{}, err
	}
	return s.Store.SearchChanges(ctx, search)
}

func (s checkedStore) AllChanges(ctx context.Context, feed change.Feed) ([]*change.Record, change.Place, error) {
	if err := s.schema.check(ctx); err != nil {
		return nil, change.Place{}, err
	}
	return s.Store.AllChanges(ctx, feed)
}

func (s checkedStore) LatestChanges(ctx context.Context, namespace string, kind change.Kind, keys []string) ([]*change.Record, error) {
	if err := s.schema.check(ctx); err != nil {
		return nil, err
	}
	return s.Store.LatestChanges(ctx, namespace, kind, keys)
}

// checkedSecrets is the part of the database that attempts to sign in need. It checks the
// schema before the first use.
type checkedSecrets struct {
	service.SecretStore
	schema *schema
}

// Secrets implements [service.SecretStore].
func (s checkedSecrets) Secrets(ctx context.Context) ([]service.Secret, error) {
	if err := s.schema.check(ctx); err != nil {
		return nil, err
	}
	return s.SecretStore.Secrets(ctx)
}
