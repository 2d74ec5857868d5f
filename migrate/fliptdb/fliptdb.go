// Package fliptdb takes over the database of a Flipt v1 server: namespaces,
// flags, segments and credentials with their ids, ranks and times, so that
// clients notice nothing (operations 4.9).
package fliptdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/guidonhq/guidon"
)

// Content is what a database of Flipt holds, in the terms of this service.
type Content struct {
	Namespaces      []*Namespace             // in creation order
	Authentications []*guidon.Authentication // in creation order
	Findings        []Finding
}

// Namespace is a namespace with everything in it.
type Namespace struct {
	guidon.Namespace
	Flags    []*guidon.Flag    // in creation order
	Segments []*guidon.Segment // in creation order
}

// Finding is something about one row that somebody should know.
type Finding struct {
	Row     string // such as `rules 6b8a…`
	Text    string
	Skipped bool // the row is not taken over
}

// String returns the finding as one line.
func (f Finding) String() string {
	if f.Skipped {
		return fmt.Sprintf("%s: left out: %s", f.Row, f.Text)
	}
	return fmt.Sprintf("%s: %s", f.Row, f.Text)
}

// Skipped returns the findings about rows that are not taken over.
func (c *Content) Skipped() []Finding {
	var all []Finding
	for _, f := range c.Findings {
		if f.Skipped {
			all = append(all, f)
		}
	}
	return all
}

// schemaVersions are the versions of the schema whose meaning is known, for
// each dialect (operations 4.7).
var schemaVersions = map[string]int{"sqlite": 15, "postgres": 16, "mysql": 15, "cockroach": 13}

// Read reads the whole database in one read-only transaction. Every row is
// either in the content or named in its findings. It returns FailedPrecondition
// for a database that is not one of Flipt v1, or of too old a release of it.
func Read(ctx context.Context, db *sql.DB, dialect string) (content *Content, err error) {
	r, err := begin(ctx, db, dialect)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.end()) }()
	a := newAssembly()
	if err := r.checkVersion(ctx, a); err != nil {
		return nil, err
	}
	for _, read := range []func(context.Context, *reader, *assembly) error{
		readNamespaces, readSegments, readConstraints, readFlags, readVariants,
		readRules, readRuleSegments, readDistributions,
		readRollouts, readThresholds, readRolloutSegments, readAuthentications,
	} {
		if err := read(ctx, r, a); err != nil {
			return nil, err
		}
	}
	return a.finish(), nil
}

// checkVersion refuses a schema that may mean something else than is known.
func (r *reader) checkVersion(ctx context.Context, a *assembly) error {
	want, known := schemaVersions[r.dialect]
	if !known {
		return fmt.Errorf("fliptdb: unknown dialect %q", r.dialect)
	}
	var version int
	var dirty bool
	err := r.tx.QueryRowContext(ctx, "SELECT version, dirty FROM schema_migrations").Scan(&version, &dirty)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return &guidon.Error{Code: guidon.FailedPrecondition, Err: err, Message: "this is not a database of Flipt v1: it has no list of schema versions"}
	case dirty:
		return guidon.Errorf(guidon.FailedPrecondition, "a migration of its schema failed half way; repair it with Flipt first")
	case version < want:
		return guidon.Errorf(guidon.FailedPrecondition,
			"the schema of Flipt is at version %d, but only %d is known here; run \"flipt migrate\" of Flipt v1.61 first", version, want)
	case version > want:
		a.note("schema_migrations", "the schema is at version %d, which is newer than %d, the last one known here", version, want)
	}
	return nil
}
