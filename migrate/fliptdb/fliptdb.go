// Package fliptdb imports the database of a Flipt v1 server. It keeps the ids, ranks and
// times of namespaces, flags, segments and credentials, so that clients see no difference
// (operations 4.9).
package fliptdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// Content is the content of a Flipt database, converted to the types of this service.
type Content struct {
	Namespaces      []*Namespace              // in creation order
	Authentications []*service.Authentication // in creation order
	Findings        []Finding
}

// Namespace is a namespace with its flags and segments.
type Namespace struct {
	guidon.Namespace
	Flags    []*guidon.Flag    // in creation order
	Segments []*guidon.Segment // in creation order
}

// Finding is a problem with a row.
type Finding struct {
	Row     string // such as `rules 6b8a…`
	Text    string
	Skipped bool // the row, or the column named in Row, is not imported
}

// String returns the finding as one line.
func (f Finding) String() string {
	if f.Skipped {
		return fmt.Sprintf("%s: skipped: %s", f.Row, f.Text)
	}
	return fmt.Sprintf("%s: %s", f.Row, f.Text)
}

// Skipped returns the findings about rows that are not imported.
func (c *Content) Skipped() []Finding {
	var all []Finding
	for _, f := range c.Findings {
		if f.Skipped {
			all = append(all, f)
		}
	}
	return all
}

// schemaVersions are the supported versions of the schema by dialect (operations 4.7).
var schemaVersions = map[string]int{"sqlite": 15, "postgres": 16, "mysql": 15, "cockroach": 13}

// Read reads the whole database in one read-only transaction. Every row is either in the
// content or named in a finding. Read returns FailedPrecondition if the database is not one
// of Flipt v1, or if its release is too old.
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

// checkVersion returns an error if the version of the schema is not supported. A newer
// version only adds a finding.
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
		return &guidon.Error{Code: guidon.FailedPrecondition, Err: err, Message: "not a database of Flipt v1: it has no table of schema versions"}
	case dirty:
		return guidon.Errorf(guidon.FailedPrecondition, "a schema migration of Flipt failed; repair the database with Flipt first")
	case version < want:
		return guidon.Errorf(guidon.FailedPrecondition,
			"the Flipt schema is at version %d, but version %d is required; run \"flipt migrate\" of Flipt v1.61 first", version, want)
	case version > want:
		a.note("schema_migrations", "the schema is at version %d, which is newer than %d, the latest supported version", version, want)
	}
	return nil
}
