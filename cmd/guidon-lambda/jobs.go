package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/instance"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

// jobs handles events that are not requests.
type jobs struct {
	config  *config.Config
	db      *store.DB
	schema  *schema
	service *service.Service
	logger  *slog.Logger
	now     func() time.Time

	deliveries *instance.Deliveries
}

// migrated is the response to migrateEvent.
type migrated struct {
	Applied []appliedStep `json:"applied"` // empty if there was nothing to do
}

type appliedStep struct {
	Step int64  `json:"step"`
	Name string `json:"name"`
}

// migrate updates the schema and creates the first token, as a server does when it
// starts. It may be repeated, and interrupted by the end of the invocation.
func (j jobs) migrate(ctx context.Context) (any, error) {
	steps, err := instance.Prepare(ctx, j.config.DB, j.db, true, j.logger)
	if err != nil {
		return nil, err
	}
	if err := instance.Bootstrap(ctx, j.config.Authentication, j.service, j.logger); err != nil {
		return nil, fmt.Errorf("cannot create the bootstrap token: %w", err)
	}
	return migrated{lists.Map(steps, func(step migrate.Step) appliedStep { return appliedStep{step.Version, step.Name} })}, nil
}

// cleanup deletes expired tokens and old change records. What it has no time for is
// left to the next run.
func (j jobs) cleanup(ctx context.Context) (any, error) {
	if err := j.schema.check(ctx); err != nil {
		return nil, err
	}
	result, err := instance.NewCleaner(j.config, j.db, j.service, change.Actor{ID: "system:cleanup"}).All(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		result.More, err = true, nil
	}
	j.logger.Info("cleanup", "tokens", result.Tokens, "changes", result.Changes, "more", result.More, "skipped", result.Skipped)
	return result, err
}

// tickTime limits the work of one tick, so that it ends before the next begins.
const tickTime = 45 * time.Second

// rollUpMinutes is at which minutes of an hour a tick computes hours and days of evaluations: at those that it
// divides. rollUpTime limits how long changes wait for that.
const (
	rollUpMinutes = 10
	rollUpTime    = 15 * time.Second
)

// tick does what a server does all the time: it computes hours and days of evaluations, and delivers changes to
// webhooks. The deliveries come last, because a backlog may take all of the time. What it has no time for is left
// to a later tick.
func (j jobs) tick(ctx context.Context) (any, error) {
	if err := j.schema.check(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, tickTime)
	defer cancel()
	var failed []error
	if j.now().Minute()%rollUpMinutes == 0 {
		failed = append(failed, j.rollUp(ctx))
	}
	for _, runner := range j.deliveries.Runners {
		if err := runner.Drain(ctx); err != nil && ctx.Err() == nil {
			failed = append(failed, err)
		}
	}
	return struct{}{}, errors.Join(failed...)
}

// rollUp computes hours and days of evaluations.
func (j jobs) rollUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, rollUpTime)
	defer cancel()
	err := instance.NewCleaner(j.config, j.db, j.service, change.Actor{ID: "system:cleanup"}).LoopEvaluations(ctx)
	if ctx.Err() != nil {
		return nil // the next one goes on from there
	}
	return err
}
