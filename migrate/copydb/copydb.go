// Package copydb moves the whole state of the service from one database to
// another, of any kind.
//
// It works on the tables, which have the same columns everywhere: numbers,
// stamps, tokens and the history arrive as they were. Everything goes into the
// target in one transaction, which also verifies it, so that a copy that is
// interrupted at any moment leaves a target as empty as before, and a server
// never finds half of one.
package copydb

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/migrate"
)

// Bounds of one query, and of one INSERT: few enough parameters and bytes for
// every database, except where one row is larger by itself.
const (
	pageRows    = 500
	insertRows  = 50
	insertBytes = 1 << 20
)

// Database is an open database and the name of its dialect.
type Database struct {
	SQL     *sql.DB
	Dialect string
}

// Table says what of one table was copied.
type Table struct {
	Name     string
	Rows     int64
	Checksum string
}

// Copy copies everything, verifies that it arrived and returns what was copied.
// The source is read in one snapshot, is not changed, and must have the schema
// of this program. The target gets that schema first and must hold nothing but
// the seed: otherwise Copy returns FailedPrecondition. On an error the target
// holds nothing but the seed, save where the error is Unavailable and says that
// the outcome is unknown.
//
// copied is called with the rows and bytes that have gone over since the last
// call. Nobody else may write to an SQLite source, nor to the target, meanwhile.
func Copy(ctx context.Context, from, to Database, copied func(rows, bytes int)) ([]Table, error) {
	if err := migrate.Check(ctx, from.SQL, from.Dialect); err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	if err := prepare(ctx, to); err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	source, err := beginSource(ctx, from)
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	defer source.end()
	target, err := beginTarget(ctx, to)
	if err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	defer target.end()

	var result []Table
	for i := range tables {
		t := &tables[i]
		sent, err := copyTable(ctx, source, target, t, copied)
		if err != nil {
			return nil, fmt.Errorf("copy table %s: %w", t.name, err)
		}
		if err := verify(ctx, target, t, sent); err != nil {
			return nil, err
		}
		result = append(result, Table{Name: t.name, Rows: sent.rows, Checksum: sent.String()})
	}
	return result, commit(ctx, source, target, to)
}

// prepare brings the schema into the target. It does not touch one that lies
// behind: that is somebody's database, and no empty one.
func prepare(ctx context.Context, to Database) error {
	steps, err := migrate.Status(ctx, to.SQL, to.Dialect)
	if err != nil {
		return err
	}
	applied, pending := 0, 0
	for _, s := range steps {
		if s.AppliedAt.IsZero() {
			pending++
		} else {
			applied++
		}
	}
	if applied > 0 && pending > 0 {
		return guidon.Errorf(guidon.FailedPrecondition,
			"the database is in use already, by an older release; name one that is empty")
	}
	_, err = migrate.Up(ctx, to.SQL, to.Dialect)
	return err
}

// copyTable sends the rows of one table and returns the checksum of what was read.
func copyTable(ctx context.Context, source, target *session, t *table, copied func(rows, bytes int)) (*sum, error) {
	sent := &sum{}
	out := &batch{target: target, table: t, copied: copied}
	err := source.each(ctx, t, func(values []any) error {
		return out.add(ctx, values, sent.add(values))
	})
	if err != nil {
		return nil, err
	}
	return sent, out.flush(ctx)
}

// verify reads the table back and compares.
func verify(ctx context.Context, target *session, t *table, sent *sum) error {
	arrived := &sum{}
	err := target.each(ctx, t, func(values []any) error {
		arrived.add(values)
		return nil
	})
	switch {
	case err != nil:
		return fmt.Errorf("verify table %s: %w", t.name, err)
	case arrived.rows != sent.rows:
		return fmt.Errorf("verify table %s: %d rows were sent and %d arrived", t.name, sent.rows, arrived.rows)
	case arrived.lanes != sent.lanes:
		return fmt.Errorf("verify table %s: the rows that arrived are not those that were sent", t.name)
	}
	return nil
}

// batch gathers rows and inserts many with one statement.
type batch struct {
	target *session
	table  *table
	copied func(rows, bytes int)
	args   []any
	rows   int
	bytes  int
}

func (b *batch) add(ctx context.Context, values []any, size int) error {
	if b.rows == insertRows || b.rows > 0 && b.bytes+size > insertBytes {
		if err := b.flush(ctx); err != nil {
			return err
		}
	}
	b.args = append(b.args, values...)
	b.rows++
	b.bytes += size
	return nil
}

func (b *batch) flush(ctx context.Context) error {
	if b.rows == 0 {
		return nil
	}
	if _, err := b.target.exec(ctx, b.table.insertRows(b.rows), b.args...); err != nil {
		return err
	}
	b.copied(b.rows, b.bytes)
	b.args, b.rows, b.bytes = nil, 0, 0
	return nil
}
