// Package migrate brings the schema of a database up to date.
//
// The steps are numbered and the same for every dialect. Released steps are never changed
// or removed. On SQLite each step runs in its own transaction. Some of the other databases
// cannot do that, so there each step must be safe to run again after an interruption.
package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/clock"
)

// versionTable is the table of the steps that have been applied.
const versionTable = "schema_steps"

// Step is a step of the schema.
type Step struct {
	Version   int64
	Name      string
	AppliedAt time.Time // zero while it is pending
}

// Up applies the pending steps and returns them. Any number of processes may call it
// concurrently, also on an empty database: one applies the steps, and the others wait for
// it. SQLite is an exception: the caller must have exclusive access to the file, for
// example by the option Exclusive of package store.
//
// If a step fails, the steps before it stay applied and are returned. A step that was
// interrupted, for example by a kill, is run again by the next call. Like [Check], Up
// returns FailedPrecondition if the schema is newer than the program, or if the database
// has tables of another program.
func Up(ctx context.Context, db *sql.DB, dialect string) (applied []Step, err error) {
	return UpEach(ctx, db, dialect, func(Step, int) {})
}

// UpEach is [Up], and calls begin before each step, with the number of steps that are pending
// then.
func UpEach(ctx context.Context, db *sql.DB, dialect string, begin func(next Step, pending int)) (applied []Step, err error) {
	d, err := dialectNamed(dialect)
	if err != nil {
		return nil, err
	}
	// If no step is pending, the lock is not needed: steps are only ever added.
	if n, err := pendingSteps(ctx, db, dialect); err != nil || n == 0 {
		return nil, err
	}
	held, release, err := d.lock(ctx, db, d)
	if err != nil {
		return nil, fmt.Errorf("cannot acquire the migration lock: %w", err)
	}
	defer func() { err = errors.Join(err, release()) }()
	if n, err := pendingSteps(held, db, dialect); err != nil || n == 0 {
		return nil, err
	}
	return apply(held, db, d, begin)
}

// pendingSteps counts the steps that the database lacks. It returns an error if the
// database has steps that the program does not know.
func pendingSteps(ctx context.Context, db *sql.DB, dialect string) (int, error) {
	d, err := dialectNamed(dialect)
	if err != nil {
		return 0, err
	}
	provider, err := newProvider(db, d)
	if err != nil {
		return 0, err
	}
	versions, err := appliedVersions(ctx, db, d)
	if err != nil {
		return 0, err
	}
	pending, known := 0, int64(0)
	for _, source := range provider.ListSources() {
		known = max(known, source.Version)
		if !slices.Contains(versions, source.Version) {
			pending++
		}
	}
	return pending, rejectNewer(versions, known)
}

// apply applies the pending steps. The caller must hold the lock.
func apply(ctx context.Context, db *sql.DB, d dialect, begin func(next Step, pending int)) (applied []Step, err error) {
	if err := createVersions(ctx, db, d); err != nil {
		return nil, err
	}
	provider, err := newProvider(db, d)
	if err != nil {
		return nil, err
	}
	versions, err := appliedVersions(ctx, db, d)
	if err != nil {
		return nil, err
	}
	pending := slices.DeleteFunc(provider.ListSources(), func(s *goose.Source) bool { return slices.Contains(versions, s.Version) })
	for i, source := range pending {
		begin(Step{Version: source.Version, Name: stepName(source)}, len(pending)-i)
		if _, err := provider.UpByOne(ctx); err != nil {
			return applied, fmt.Errorf("cannot migrate the database: %w", err)
		}
		applied = append(applied, Step{Version: source.Version, Name: stepName(source), AppliedAt: time.Now().UTC()})
	}
	return applied, nil
}

// Status returns all steps, sorted by version: those that the program knows and, with an
// empty name, those that a newer program has applied. It changes nothing. If the database
// has no schema, all steps are pending. If it has tables of another program, Status
// returns FailedPrecondition.
func Status(ctx context.Context, db *sql.DB, dialect string) ([]Step, error) {
	d, err := dialectNamed(dialect)
	if err != nil {
		return nil, err
	}
	provider, err := newProvider(db, d)
	if err != nil {
		return nil, err
	}
	times, err := appliedTimes(ctx, db, d)
	if err != nil {
		return nil, err
	}
	var all []Step
	for _, source := range provider.ListSources() {
		all = append(all, Step{Version: source.Version, Name: stepName(source), AppliedAt: times[source.Version]})
		delete(times, source.Version)
	}
	return append(all, unknown(times)...), nil
}

// Check returns nil if the schema is the one of this program, and otherwise an
// *[guidon.Error] that says what to do. The code is Unavailable for pending steps, and
// FailedPrecondition for a schema that is newer than the program or belongs to another
// one.
func Check(ctx context.Context, db *sql.DB, dialect string) error {
	n, err := pendingSteps(ctx, db, dialect)
	if err == nil && n > 0 {
		err = errPending(n)
	}
	return err
}

func errPending(n int) error {
	return guidon.Errorf(guidon.Unavailable, "the database lacks %d schema steps; run \"guidon migrate up\" first", n)
}

// Wait waits until [Check] returns nil. It is for processes that rely on another one to
// migrate the database. It checks about every half second, also while the database is
// unavailable. If ctx ends, it returns the last error of a check. It returns immediately
// if the schema is newer than the program or belongs to another one.
func Wait(ctx context.Context, db *sql.DB, dialect string) error {
	if _, err := dialectNamed(dialect); err != nil {
		return err
	}
	var last error
	for {
		n, err := pendingSteps(ctx, db, dialect)
		switch {
		case err == nil && n == 0:
			return nil
		case err == nil:
			last = errPending(n)
		case errors.Is(err, guidon.FailedPrecondition):
			return err
		case ctx.Err() == nil || last == nil:
			last = err // keep the error from before ctx ended
		}
		if clock.Sleep(ctx, clock.Jitter(500*time.Millisecond)) != nil {
			return last
		}
	}
}

// rejectNewer returns an error if the database has a step above the last known one. The
// program could misread or damage the data.
func rejectNewer(applied []int64, known int64) error {
	newest := slices.Max(append([]int64{known}, applied...))
	if newest == known {
		return nil
	}
	return guidon.Errorf(guidon.FailedPrecondition,
		"the database schema is at step %d, but this release only supports step %d; install the release that migrated it, or a newer one",
		newest, known)
}
