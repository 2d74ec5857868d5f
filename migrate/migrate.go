// Package migrate brings the schema of a database up to date.
//
// The steps are numbered, only ever added, and the same for every dialect. Each
// runs in a transaction of its own.
package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
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
// call it at once: one applies the steps, the others wait for it. On an error
// the steps before the failed one stay applied and are returned. It refuses, as
// [Check] does, a database whose schema is newer than the program.
func Up(ctx context.Context, db *sql.DB, dialect string) (applied []Step, err error) {
	d, err := dialectNamed(dialect)
	if err != nil {
		return nil, err
	}
	release, err := d.lock(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("lock for migrating: %w", err)
	}
	defer func() { err = errors.Join(err, release()) }()

	all, err := Status(ctx, db, dialect)
	if err != nil {
		return nil, err
	}
	if err := refuseNewer(all); err != nil {
		return nil, err
	}
	if pending(all) == 0 {
		return nil, nil
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
// nothing, and a database without any schema has all steps pending.
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
// for, and otherwise an *[guidon.Error] with code Unavailable that says what to
// run.
func Check(ctx context.Context, db *sql.DB, dialect string) error {
	all, err := Status(ctx, db, dialect)
	if err != nil {
		return err
	}
	if err := refuseNewer(all); err != nil {
		return err
	}
	if n := pending(all); n > 0 {
		return guidon.Errorf(guidon.Unavailable,
			"the database lacks %d of %d schema steps; run \"guidon migrate up\" first", n, len(all))
	}
	return nil
}

// refuseNewer returns an error when the database has steps that the program
// does not know: it could misread or damage what is there.
func refuseNewer(all []Step) error {
	var known, newest int64
	for _, s := range all {
		newest = max(newest, s.Version)
		if s.Name != "" {
			known = max(known, s.Version)
		}
	}
	if newest == known {
		return nil
	}
	return guidon.Errorf(guidon.Unavailable,
		"the schema of the database is at step %d, but this program knows only %d; install the release that migrated it, or a newer one",
		newest, known)
}

func pending(all []Step) int {
	n := 0
	for _, s := range all {
		if s.AppliedAt.IsZero() {
			n++
		}
	}
	return n
}
