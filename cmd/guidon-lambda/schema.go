package main

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/migrate"
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
