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
	"maps"
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
	Optional  bool      // an existing database gets it only by [Additions], and works without it
	AppliedAt time.Time // zero while it is not applied
}

func newStep(source *goose.Source, appliedAt time.Time) Step {
	return Step{Version: source.Version, Name: stepName(source), Optional: source.Version == additionsStep, AppliedAt: appliedAt}
}

// Up applies the pending steps and returns them; see [Additions] for the optional one. Any
// number of processes may call it concurrently, also on an empty database: one applies the
// steps, and the others wait for it. SQLite is an exception: the caller must have exclusive access to the file, for
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
	return up(ctx, db, dialect, false, begin)
}

// Additions is [Up], and also applies the optional step by which an existing database accepts
// what releases from before that step cannot read. They do not start on it afterwards, and
// none of their instances must be left. A database gets this step when it is created.
func Additions(ctx context.Context, db *sql.DB, dialect string) (applied []Step, err error) {
	return up(ctx, db, dialect, true, func(Step, int) {})
}

func up(ctx context.Context, db *sql.DB, dialect string, optional bool, begin func(next Step, pending int)) (applied []Step, err error) {
	s, err := schemaOf(db, dialect)
	if err != nil {
		return nil, err
	}
	// If no step is pending, the lock is not needed: steps are only ever added.
	if pending, err := s.pending(ctx, optional); err != nil || len(pending) == 0 {
		return nil, err
	}
	held, release, err := s.lock(ctx, db, s.dialect)
	if err != nil {
		return nil, fmt.Errorf("cannot acquire the migration lock: %w", err)
	}
	defer func() { err = errors.Join(err, release()) }()
	pending, err := s.pending(held, optional)
	if err != nil || len(pending) == 0 {
		return nil, err
	}
	return s.apply(held, pending, begin)
}

// pending returns the steps that the database lacks, in the order in which they must be
// applied. The optional step is one of them only if that is wanted or the database is new. It
// is then the first one, so that a creation that is interrupted does not lose it. The error
// is not nil if the database has steps that the program does not know.
func (s *schema) pending(ctx context.Context, optional bool) (pending []*goose.Source, err error) {
	applied, err := s.appliedSteps(ctx)
	if err != nil {
		return nil, err
	}
	known := int64(0)
	for _, source := range s.steps.ListSources() {
		known = max(known, source.Version)
		_, done := applied[source.Version]
		switch {
		case done:
		case source.Version != additionsStep:
			pending = append(pending, source)
		case optional || len(applied) == 0:
			pending = slices.Insert(pending, 0, source)
		}
	}
	return pending, rejectNewer(applied, known)
}

// apply applies the pending steps. The caller must hold the lock.
func (s *schema) apply(ctx context.Context, pending []*goose.Source, begin func(next Step, pending int)) (applied []Step, err error) {
	if s.create != "" {
		if _, err := s.db.ExecContext(ctx, s.create); err != nil {
			return nil, fmt.Errorf("cannot create the table of the schema steps: %w", err)
		}
	}
	for i, source := range pending {
		begin(newStep(source, time.Time{}), len(pending)-i)
		if _, err := s.steps.ApplyVersion(ctx, source.Version, true); err != nil {
			return applied, fmt.Errorf("cannot migrate the database: %w", err)
		}
		applied = append(applied, newStep(source, time.Now().UTC()))
	}
	return applied, nil
}

// Status returns all steps, sorted by version: those that the program knows and, with an
// empty name, those that a newer program has applied. It changes nothing. If the database
// has no schema, no step is applied. If it has tables of another program, Status
// returns FailedPrecondition.
func Status(ctx context.Context, db *sql.DB, dialect string) ([]Step, error) {
	s, err := schemaOf(db, dialect)
	if err != nil {
		return nil, err
	}
	times, err := s.appliedSteps(ctx)
	if err != nil {
		return nil, err
	}
	var all []Step
	for _, source := range s.steps.ListSources() {
		all = append(all, newStep(source, times[source.Version]))
		delete(times, source.Version)
	}
	for _, version := range slices.Sorted(maps.Keys(times)) { // those that the program does not know
		all = append(all, Step{Version: version, AppliedAt: times[version]})
	}
	return all, nil
}

// Check returns nil if the schema is the one of this program, with the optional step or
// without it, and otherwise an *[guidon.Error] that says what to do. The code is Unavailable
// for pending steps, and FailedPrecondition for a schema that is newer than the program or
// belongs to another one.
func Check(ctx context.Context, db *sql.DB, dialect string) error {
	s, err := schemaOf(db, dialect)
	if err != nil {
		return err
	}
	pending, err := s.pending(ctx, false)
	if err == nil && len(pending) > 0 {
		err = guidon.Errorf(guidon.Unavailable, "the database lacks %d schema steps; run \"guidon migrate up\" first", len(pending))
	}
	return err
}

// Wait waits until [Check] returns nil. It is for processes that rely on another one to
// migrate the database. It checks about every half second, also while the database is
// unavailable. If ctx ends, it returns the last error of a check. It returns immediately
// if the schema is newer than the program or belongs to another one.
func Wait(ctx context.Context, db *sql.DB, dialect string) error {
	if _, err := schemaOf(db, dialect); err != nil {
		return err
	}
	var last error
	for {
		err := Check(ctx, db, dialect)
		switch {
		case err == nil, errors.Is(err, guidon.FailedPrecondition):
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
func rejectNewer(applied map[int64]time.Time, known int64) error {
	newest := known
	for version := range applied {
		newest = max(newest, version)
	}
	if newest == known {
		return nil
	}
	return guidon.Errorf(guidon.FailedPrecondition,
		"the database schema is at step %d, but this release only supports step %d; install the release that migrated it, or a newer one",
		newest, known)
}
