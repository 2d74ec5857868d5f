package instance

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/store"
)

const (
	// A cleanup that was killed keeps the others away for this long at most.
	cleanupLease = time.Minute
	// Between two batches the lease is renewed; a run ends after the last one,
	// and what remains is the next run's.
	changesBatch = 1000
	changesRun   = 100_000
)

// Cleaner deletes what is no longer needed. It may be killed at any moment: each
// batch is a transaction of its own.
type Cleaner struct {
	db        *store.DB
	service   *guidon.Service
	actor     guidon.Actor
	grace     time.Duration // for which an expired token is kept
	retention time.Duration // for which a change record is kept; 0 is for ever
	now       func() time.Time
}

// NewCleaner returns the cleaner of the configuration, which works in the actor's
// name.
func NewCleaner(c *config.Config, db *store.DB, service *guidon.Service, actor guidon.Actor) Cleaner {
	return Cleaner{
		db: db, service: service, actor: actor, now: time.Now,
		grace: c.Authentication.Methods.Token.Cleanup.GracePeriod, retention: c.Changes.Retention,
	}
}

// errElsewhere says that another process is doing the same.
var errElsewhere = errors.New("another process is doing it")

// tokens deletes the static tokens that expired longer than the grace period
// ago, as many as one run may, and counts them.
func (c Cleaner) tokens(ctx context.Context) (deleted int, err error) {
	err = c.alone(ctx, "cleanup of tokens", func(ctx context.Context, _ func(context.Context) error) error {
		// Without a renewal on the way, so the lease bounds the work.
		ctx, cancel := context.WithTimeout(ctx, cleanupLease)
		defer cancel()
		deleted, err = c.service.CleanupAuthentications(guidon.WithCall(ctx, &guidon.Call{Actor: c.actor}), guidon.MethodToken, c.grace)
		return err
	})
	return deleted, err
}

// changes deletes the change records beyond their retention, as many as one run
// may, and counts them. It tells whether there may be more.
func (c Cleaner) changes(ctx context.Context) (deleted int, more bool, err error) {
	if c.retention == 0 {
		return 0, false, nil
	}
	// The configuration has been checked; this is about what cannot be undone.
	if c.retention < config.MinRetention {
		return 0, false, fmt.Errorf("change records are kept for %s at least; a retention of %s is refused", config.MinRetention, c.retention)
	}
	before := c.now().Add(-c.retention)
	err = c.alone(ctx, "cleanup of changes", func(ctx context.Context, renew func(context.Context) error) error {
		for deleted < changesRun {
			n, err := c.db.DeleteChanges(ctx, before, changesBatch)
			deleted += n
			if err != nil || n < changesBatch {
				return err
			}
			if err := renew(ctx); err != nil {
				return err
			}
		}
		more = true
		return nil
	})
	return deleted, more, err
}

// alone calls fn while it has the lease of that name, or returns errElsewhere.
func (c Cleaner) alone(ctx context.Context, name string, fn func(ctx context.Context, renew func(context.Context) error) error) (err error) {
	holder := rand.Text()
	held, err := c.db.AcquireLease(ctx, name, holder, cleanupLease)
	if err != nil {
		return err
	}
	if !held {
		return errElsewhere
	}
	defer func() {
		// Also when ctx has ended: the others need not wait.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = errors.Join(err, c.db.ReleaseLease(ctx, name, holder))
	}()
	return fn(ctx, func(ctx context.Context) error {
		held, err := c.db.RenewLease(ctx, name, holder, cleanupLease)
		if err == nil && !held {
			err = errElsewhere
		}
		return err
	})
}

// Cleaned is what a cleanup did.
type Cleaned struct {
	Tokens  int      `json:"tokens"`
	Changes int      `json:"changes"`
	More    bool     `json:"more"`    // change records are left for the next run
	Skipped []string `json:"skipped"` // what another process is cleaning up
}

// All deletes everything there is to delete. What it returns has been done, also
// on an error.
func (c Cleaner) All(ctx context.Context) (result Cleaned, err error) {
	result.Skipped = []string{}
	result.Tokens, err = c.tokens(ctx)
	if errors.Is(err, errElsewhere) {
		result.Skipped, err = append(result.Skipped, "tokens"), nil
	}
	if err != nil {
		return result, err
	}
	result.Changes, result.More, err = c.changes(ctx)
	if errors.Is(err, errElsewhere) {
		result.Skipped, err = append(result.Skipped, "changes"), nil
	}
	return result, err
}

// LoopTokens is a run of the loop that deletes expired tokens.
func (c Cleaner) LoopTokens(ctx context.Context, logger *slog.Logger) error {
	deleted, err := c.tokens(ctx)
	if deleted > 0 {
		logger.Info("expired tokens deleted", "count", deleted)
	}
	return unlessElsewhere(err)
}

// LoopChanges is a run of the loop that deletes old change records.
func (c Cleaner) LoopChanges(ctx context.Context, logger *slog.Logger) error {
	deleted, more, err := c.changes(ctx)
	if deleted > 0 {
		logger.Info("old change records deleted", "count", deleted, "more", more)
	}
	return unlessElsewhere(err)
}

// unlessElsewhere returns nil where another process does the work.
func unlessElsewhere(err error) error {
	if errors.Is(err, errElsewhere) {
		return nil
	}
	return err
}
