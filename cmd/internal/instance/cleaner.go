package instance

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/cmd/internal/config"
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
	// Records that are kept for readers are counted up to this number.
	maxHeldBack = 100_000
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

// errElsewhere reports that another process is running the same cleanup.
var errElsewhere = errors.New("another process is already cleaning up")

// tokens deletes authentications of the methods that expired longer than their grace
// period ago, as many of each as one run may, and returns how many.
func (c Cleaner) tokens(ctx context.Context, methods ...service.Method) (deleted int, err error) {
	err = c.withLease(ctx, "cleanup of tokens", func(ctx context.Context) error {
		for _, method := range methods {
			n, err := c.service.CleanupAuthentications(ctx, service.Write{By: service.Caller{Actor: c.actor}}, method, c.graces[method])
			deleted += n
			if err != nil {
				return err
			}
		}
		return c.attempts(ctx)
	})
	return deleted, err
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
// the fields of the result about them.
func (c Cleaner) changes(ctx context.Context, result *Cleaned) error {
	if c.retention == 0 {
		return nil
	}
	// The configuration has been checked already, but deletions cannot be undone.
	if c.retention < config.MinRetention {
		return fmt.Errorf("invalid retention %s: change records must be kept for at least %s",
			clock.Text(c.retention), clock.Text(config.MinRetention))
	}
	before := c.now().Add(-c.retention)
	return c.withLease(ctx, "cleanup of changes", func(ctx context.Context) (err error) {
		result.Changes, err = c.db.DeleteChanges(ctx, before, changesRun)
		if err != nil {
			return err
		}
		if result.More = result.Changes == changesRun; result.More {
			return nil
		}
		result.HeldBack, err = c.db.HeldBack(ctx, before, maxHeldBack)
		return err
	})
}

// evaluations computes hours and days of evaluations, and deletes counts that are kept no longer.
func (c Cleaner) evaluations(ctx context.Context) error {
	if c.counter == nil {
		return nil
	}
	return c.withLease(ctx, "evaluations", c.counter.RollUp)
}

// events adds events to change records of earlier releases, and returns to how many.
func (c Cleaner) events(ctx context.Context) (changed int, err error) {
	err = c.withLease(ctx, "events of changes", func(ctx context.Context) (err error) {
		changed, err = c.db.AddEvents(ctx, changesRun)
		return err
	})
	return changed, err
}

// withLease calls fn while holding the lease of that name. It returns errElsewhere if
// another process holds the lease, or takes it over.
func (c Cleaner) withLease(ctx context.Context, name string, fn func(ctx context.Context) error) (err error) {
	holder := rand.Text()
	held, err := c.db.AcquireLease(ctx, name, holder, cleanupLease)
	if err != nil {
		return err
	}
	if !held {
		return errElsewhere
	}
	defer func() {
		// Release it even if ctx has ended, so that other processes need not wait.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = errors.Join(err, c.db.ReleaseLease(ctx, name, holder))
	}()
	return whileRenewed(ctx, fn, func(ctx context.Context) (held bool, err error) {
		return c.db.RenewLease(ctx, name, holder, cleanupLease)
	})
}

// whileRenewed calls fn, and meanwhile renew several times in the duration of a lease. If
// the lease is no longer held, it ends the context of fn and returns errElsewhere. An error
// of renew is ignored: the next call may succeed, and fn would meet the cause too.
func whileRenewed(ctx context.Context, fn func(ctx context.Context) error, renew func(ctx context.Context) (held bool, err error)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		ticks := time.NewTicker(cleanupLease / 4)
		defer ticks.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
			}
			if held, err := renew(ctx); err == nil && !held {
				cancel(errElsewhere)
			}
		}
	})
	defer renewing.Wait()
	defer cancel(nil)
	err := fn(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errElsewhere) {
		return errElsewhere
	}
	return err
}

// Cleaned is the result of a cleanup.
type Cleaned struct {
	Tokens  int      `json:"tokens"`
	Changes int      `json:"changes"`
	More    bool     `json:"more"`    // more change records may remain for the next run
	Skipped []string `json:"skipped"` // cleanups that another process is running

	// HeldBack counts the old change records that are kept for a reader that has not
	// passed them, by its name. It is not known if there may be more to delete.
	HeldBack map[string]int `json:"heldBack,omitempty"`
}

// All runs all cleanups. If it returns an error, the result is that of the cleanups before.
func (c Cleaner) All(ctx context.Context) (result Cleaned, err error) {
	result.Skipped = []string{}
	result.Tokens, err = c.tokens(ctx, service.CleanedMethods()...)
	if errors.Is(err, errElsewhere) {
		result.Skipped, err = append(result.Skipped, "tokens"), nil
	}
	if err != nil {
		return result, err
	}
	err = c.changes(ctx, &result)
	if errors.Is(err, errElsewhere) {
		result.Skipped, err = append(result.Skipped, "changes"), nil
	}
	if err != nil {
		return result, err
	}
	if err := unlessElsewhere(c.evaluations(ctx)); err != nil {
		return result, err
	}
	_, err = c.events(ctx)
	return result, unlessElsewhere(err)
}

// LoopTokens is one iteration of the loop that deletes expired authentications of the
// method.
func (c Cleaner) LoopTokens(ctx context.Context, method service.Method, logger *slog.Logger) error {
	deleted, err := c.tokens(ctx, method)
	if deleted > 0 {
		logger.Info("expired tokens deleted", "count", deleted)
	}
	return unlessElsewhere(err)
}

// LoopChanges is one iteration of the loop that deletes old change records.
func (c Cleaner) LoopChanges(ctx context.Context, logger *slog.Logger) error {
	var result Cleaned
	err := c.changes(ctx, &result)
	if result.Changes > 0 {
		logger.Info("old change records deleted", "count", result.Changes, "more", result.More)
	}
	for _, reader := range slices.Sorted(maps.Keys(result.HeldBack)) {
		logger.Warn("old change records kept for a reader that has not passed them", "reader", reader, "count", result.HeldBack[reader])
	}
	return unlessElsewhere(err)
}

// LoopEvents is one iteration of the loop that adds events to change records of earlier releases.
func (c Cleaner) LoopEvents(ctx context.Context, logger *slog.Logger) error {
	changed, err := c.events(ctx)
	if changed > 0 {
		logger.Debug("events added to change records", "count", changed) // also to that of a new database
	}
	return unlessElsewhere(err)
}

// LoopEvaluations is one iteration of the loop that computes hours and days of evaluations.
func (c Cleaner) LoopEvaluations(ctx context.Context) error {
	return unlessElsewhere(c.evaluations(ctx))
}

// unlessElsewhere returns err, or nil if it is errElsewhere.
func unlessElsewhere(err error) error {
	if errors.Is(err, errElsewhere) {
		return nil
	}
	return err
}
