// Package fliptdb imports the database of a Flipt v1 server. It keeps the ids, ranks and
// times of namespaces, flags, segments and credentials, so that clients see no difference
// (operations 4.9).
//
// A row that cannot be read never makes targeting wider: whatever it belongs to fails as
// a whole, a constraint with its segment, and everything with its flag. Such a flag is
// imported off, or not at all.
package fliptdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// Options say how to treat rows and objects that cannot be imported as they are.
type Options struct {
	// Damaged applies to flags that are not wholly readable.
	Damaged Damaged
	// IgnoreOrphans leaves out rows whose flag, segment, rule or rollout does not exist,
	// as Flipt does. Otherwise every object that such a row may belong to is damaged.
	IgnoreOrphans bool
	// Now replaces times that cannot be read.
	Now time.Time
}

// Damaged says how to treat damaged flags.
type Damaged string

// The ways to treat damaged flags. With both of the last, all other objects that cannot be
// read are not imported.
const (
	RefuseDamaged Damaged = ""     // nothing is imported
	TurnOff       Damaged = "off"  // without variants, rules and rollouts, off for everyone
	Omit          Damaged = "omit" // not imported
)

// outcome returns the outcome for a damaged flag, in words.
func (d Damaged) outcome() string {
	switch d {
	case TurnOff:
		return "imported off"
	case Omit:
		return notImported
	}
	return "damaged"
}

const notImported = "not imported"

// Content is the content of a Flipt database, converted to the types of this service.
// A time that cannot be read is zero until [Content.Check].
type Content struct {
	Namespaces      []*Namespace              // in creation order
	Authentications []*service.Authentication // in creation order
	Findings        []Finding
	Loss            Loss

	options Options
}

// Namespace is a namespace with its flags and segments.
type Namespace struct {
	guidon.Namespace
	Flags    []*guidon.Flag    // in creation order; damaged ones are off
	Segments []*guidon.Segment // in creation order
}

// Finding is a problem with a row or object.
type Finding struct {
	Subject string // such as `flag shop/checkout` or `authentications 6b8a…`
	Outcome string // such as "not imported"; "" if it is imported
	Reason  string
}

// String returns the finding as one line.
func (f Finding) String() string {
	if f.Outcome == "" {
		return f.Subject + ": " + f.Reason
	}
	return f.Subject + ": " + f.Outcome + ": " + f.Reason
}

// Loss counts the objects and rows that are not imported as they are in Flipt.
type Loss struct {
	Damaged                                      int // flags, without a choice
	Off                                          int // flags
	Flags, Segments, Namespaces, Authentications int // not imported
	Orphans                                      int // rows that belong to nothing
}

// String returns the counts that are not zero, or "".
func (l Loss) String() string {
	var parts []string
	for _, part := range []struct {
		name  string
		count int
	}{
		{"damaged flags", l.Damaged}, {"flags imported off", l.Off}, {"flags not imported", l.Flags}, {"segments not imported", l.Segments},
		{"namespaces not imported", l.Namespaces}, {"authentications not imported", l.Authentications},
		{"rows that belong to nothing", l.Orphans},
	} {
		if part.count > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d", part.name, part.count))
		}
	}
	return strings.Join(parts, ", ")
}

// schemaVersions are the supported versions of the schema by dialect (operations 4.7).
var schemaVersions = map[string]int{"sqlite": 15, "postgres": 16, "mysql": 15, "cockroach": 13}

// Read reads the whole database in one read-only transaction. Every row is in the content,
// belongs to a damaged flag or segment, or is named in a finding. Read returns
// FailedPrecondition if the database is not one of Flipt v1, or if its release is too old.
func Read(ctx context.Context, db *sql.DB, dialect string, options Options) (content *Content, err error) {
	r, err := begin(ctx, db, dialect)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.end()) }()
	a := newAssembly(options, dialect)
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
