package instance

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"time"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/deliver"
	"github.com/guidonhq/guidon/handler/login"
	"github.com/guidonhq/guidon/internal/clock"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/service/count"
	"github.com/guidonhq/guidon/store"
)

const (
	// A cleanup that was killed blocks other processes for at most this time.
	cleanupLease = time.Minute
	// Change records beyond changesRun are left to the next run.
	changesRun = 10_000_000
)

// Cleaner deletes expired tokens and old change records. It may be killed at any time.
type Cleaner struct {
	db        *store.DB
	service   *service.Service
	actor     change.Actor
	graces    map[service.Method]time.Duration // how long expired authentications are kept
	retention time.Duration                    // how long change records are kept; 0 means forever
	counter   *count.Counter                   // nil if evaluations are not counted
	now       func() time.Time
}

// NewCleaner returns a cleaner for the configuration that acts as the actor.
func NewCleaner(c *config.Config, db *store.DB, svc *service.Service, actor change.Actor) Cleaner {
	cleaner := Cleaner{
		db: db, service: svc, actor: actor, now: time.Now,
		graces: map[service.Method]time.Duration{}, retention: c.Changes.Retention, counter: NewCounter(c.Analytics, db),
	}
	for method, cleanup := range c.Authentication.Methods.Cleanups() {
		cleaner.graces[method] = cleanup.GracePeriod
	}
	return cleaner
}

// tokens deletes authentications of the method that expired longer than its grace period
// ago, as many as one run may, and counts them in the result. held is false if another
// process does. Each method has a lease of its own, because each has a loop of its own.
func (c Cleaner) tokens(ctx context.Context, result *Cleaned, method service.Method) (held bool, err error) {
	return c.withLease(ctx, "cleanup of "+method.String(), func(ctx context.Context) error {
		n, err := c.service.CleanupAuthentications(ctx, service.Write{By: service.Caller{Actor: c.actor}}, method, c.graces[method])
		result.Tokens += n
		if err != nil {
			return err
		}
		return c.attempts(ctx)
	})
}

// attempts deletes data that attempts to sign in no longer need: expired digests, and keys
// whose successor is older than their overlap.
func (c Cleaner) attempts(ctx context.Context) error {
	if _, err := c.db.DeleteSpent(ctx, c.now()); err != nil {
		return err
	}
	secrets, err := c.db.Secrets(ctx)
	if err != nil {
		return err
	}
	for i := len(secrets) - 1; i > 0; i-- {
		if c.now().Sub(secrets[i].CreatedAt) > login.KeyOverlap {
			return c.db.DeleteSecrets(ctx, secrets[i-1].Number)
		}
	}
	return nil
}

// changes deletes change records older than the retention, at most changesRun, and sets
// the fields of the result about them. held is false if another process does.
func (c Cleaner) changes(ctx context.Context, result *Cleaned) (held bool, err error) {
	if c.retention == 0 {
		return true, nil
	}
	// The configuration has been checked already, but deletions cannot be undone.
	if c.retention < config.MinRetention {
		return true, fmt.Errorf("invalid retention %s: change records must be kept for at least %s",
			clock.Text(c.retention), clock.Text(config.MinRetention))
	}
	before := c.now().Add(-c.retention)
	return c.withLease(ctx, "cleanup of changes", func(ctx context.Context) (err error) {
		result.Changes, err = c.db.DeleteChanges(ctx, before, changesRun)
		result.More = result.Changes == changesRun
		return err
	})
}

// LoopEvaluations computes hours and days of evaluations, and deletes counts that are kept no longer, and what was
// remembered to add each once.
func (c Cleaner) LoopEvaluations(ctx context.Context) error {
	if c.counter == nil {
		return nil
	}
	_, err := c.withLease(ctx, "evaluations", func(ctx context.Context) error {
		if err := c.counter.RollUp(ctx); err != nil {
			return err
		}
		_, err := c.db.DeleteSpent(ctx, c.now())
		return err
	})
	return err
}

// events adds events to change records of earlier releases, and returns to how many.
func (c Cleaner) events(ctx context.Context) (changed int, err error) {
	_, err = c.withLease(ctx, "events of changes", func(ctx context.Context) (err error) {
		changed, err = c.db.AddEvents(ctx, changesRun)
		return err
	})
	return changed, err
}

// withLease calls fn while holding the lease of that name. held is false if another process
// holds the lease, or takes it over.
func (c Cleaner) withLease(ctx context.Context, name string, fn func(ctx context.Context) error) (held bool, err error) {
	l := deliver.Lease{Name: name, Holder: rand.Text(), Time: cleanupLease}
	return deliver.WhileHeld(ctx, c.db, l, func(time.Time) {}, fn)
}

// Cleaned is the result of a cleanup.
type Cleaned struct {
	Tokens  int      `json:"tokens"`
	Changes int      `json:"changes"`
	More    bool     `json:"more"`    // more change records may remain for the next run
	Skipped []string `json:"skipped"` // cleanups that another process is running
}

// All runs all cleanups. If it returns an error, the result is that of the cleanups before.
func (c Cleaner) All(ctx context.Context) (result Cleaned, err error) {
	result.Skipped = []string{}
	for _, method := range service.CleanedMethods() {
		held, err := c.tokens(ctx, &result, method)
		if err != nil {
			return result, err
		}
		if !held && len(result.Skipped) == 0 {
			result.Skipped = append(result.Skipped, "tokens")
		}
	}
	held, err := c.changes(ctx, &result)
	if err != nil {
		return result, err
	}
	if !held {
		result.Skipped = append(result.Skipped, "changes")
	}
	if err := c.LoopEvaluations(ctx); err != nil {
		return result, err
	}
	_, err = c.events(ctx)
	return result, err
}

// LoopTokens is one iteration of the loop that deletes expired authentications of the
// method.
func (c Cleaner) LoopTokens(ctx context.Context, method service.Method, logger *slog.Logger) error {
	var result Cleaned
	_, err := c.tokens(ctx, &result, method)
	if result.Tokens > 0 {
		logger.Info("expired tokens deleted", "count", result.Tokens)
	}
	return err
}

// LoopChanges is one iteration of the loop that deletes old change records.
func (c Cleaner) LoopChanges(ctx context.Context, logger *slog.Logger) error {
	var result Cleaned
	_, err := c.changes(ctx, &result)
	if result.Changes > 0 {
		logger.Info("old change records deleted", "count", result.Changes, "more", result.More)
	}
	return err
}

// LoopEvents is one iteration of the loop that adds events to change records of earlier releases.
func (c Cleaner) LoopEvents(ctx context.Context, logger *slog.Logger) error {
	changed, err := c.events(ctx)
	if changed > 0 {
		logger.Debug("events added to change records", "count", changed) // also to that of a new database
	}
	return err
}
