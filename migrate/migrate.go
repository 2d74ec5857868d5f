// Package migrate brings the schema of a database up to date.
//
// The steps are numbered, only ever added, and the same for every dialect. On
// SQLite each runs in a transaction of its own; elsewhere, where some databases
// cannot do that, each is written to be run again after an interruption.
package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/pressly/goose/v3"
)

// versionTable holds the versions of the steps that have been applied.
const versionTable = "schema_steps"

// Step is one step of the schema.
type Step struct {
	Version   int64
	Name      string
	AppliedAt time.Time // zero while it is pending
}

// Up applies the pending steps and returns them. Any number of processes may
// call it at once, also on an empty database: one applies the steps, the others
// wait for it. An SQLite file is the exception: the caller must have it to itself,
// as by the option Exclusive of package store. On an error the steps before the failed one stay applied and are
// returned. A step that was interrupted, as by a kill, is run again by the next
// call. Up refuses, as [Check] does, a database whose schema is newer than the
// program, and one that has tables of another program.
func Up(ctx context.Context, db *sql.DB, dialect string) (applied []Step, err error) {
	d, err := dialectNamed(dialect)
	if err != nil {
		return nil, err
	}
	// Steps are only ever added: where none is pending nobody has to wait.
	if n, err := pendingSteps(ctx, db, dialect); err != nil || n == 0 {
		return nil, err
	}
	held, release, err := d.lock(ctx, db, d)
	if err != nil {
		return nil, fmt.Errorf("lock for migrating: %w", err)
	}
	defer func() { err = errors.Join(err, release()) }()
	if n, err := pendingSteps(held, db, dialect); err != nil || n == 0 {
		return nil, err
	}
	return apply(held, db, d)
}

// pendingSteps counts the steps that the database lacks, and returns an error
// when it has some that the program does not know.
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

// apply applies the pending steps. The caller holds the lock.
func apply(ctx context.Context, db *sql.DB, d dialect) (applied []Step, err error) {
	if err := createVersions(ctx, db, d); err != nil {
		return nil, err
	}
	provider, err := newProvider(db, d)
	if err != nil {
		return nil, err
	}
	results, err := provider.Up(ctx)
	if partial, ok := errors.AsType[*goose.PartialError](err); ok {
		results = partial.Applied
	}
	for _, r := range results {
		applied = append(applied, Step{Version: r.Source.Version, Name: stepName(r.Source), AppliedAt: time.Now().UTC()})
	}
	if err != nil {
		return applied, fmt.Errorf("migrate the database: %w", err)
	}
	return applied, nil
}

// Status returns all steps by version: those that the program knows and, with
// an empty name, those of a newer program that the database has. It changes
// nothing, and a database without any schema has all steps pending. It returns
// FailedPrecondition for one that has tables of another program.
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

// Check returns nil when the schema is the one that this program was written
// for, and otherwise an *[guidon.Error] that says what to do: Unavailable for
// pending steps, FailedPrecondition for a schema that is newer than the program
// or another program's.
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

// Wait returns nil as soon as [Check] does: for a process that leaves migrating
// to another one. It asks about every half second, also while the database does
// not answer, until ctx ends, and then returns the last reason. A schema that is
// newer than the program, or another program's, ends the waiting at once.
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
			last = err // not what the end of the context made of it
		}
		if pause(ctx, 500*time.Millisecond) != nil {
			return last
		}
	}
}

// rejectNewer returns an error when the database has steps that the program,
// which knows those up to a version, does not: it could misread or damage what is
// there.
func rejectNewer(applied []int64, known int64) error {
	newest := slices.Max(append([]int64{known}, applied...))
	if newest == known {
		return nil
	}
	return guidon.Errorf(guidon.FailedPrecondition,
		"the schema of the database is at step %d, but this program knows only %d; install the release that migrated it, or a newer one",
		newest, known)
}
