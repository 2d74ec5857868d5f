// Package copydb copies the whole state of the service to another database, which may be
// of a different kind.
//
// It works on the tables, which have the same columns in all databases. So revisions,
// stamps, tokens and the history are copied unchanged. All rows are written and verified in
// one transaction on the target. A copy that is interrupted at any time leaves the target
// as empty as before, and a server never sees a partial copy.
package copydb

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

// pageRows limits the rows of one query.
const pageRows = 500

// Table describes the copy of one table.
type Table struct {
	Name     string `json:"table"`
	Rows     int64  `json:"rows"`
	Checksum string `json:"checksum"`
}

// Copy copies all tables, verifies the copies and returns them. The source is read in one
// snapshot, is not changed, and must have the schema of this program. The target gets that
// schema first. If it has more than the seed, or does not permit additions although the source
// does, Copy returns FailedPrecondition. After an error the target has only the seed, unless
// the error is Unavailable and says that the outcome is unknown.
//
// copied is called with the number of rows copied since the last call. While Copy runs, no
// other process may write to the target or to an SQLite source.
func Copy(ctx context.Context, from, to *store.DB, copied func(rows int)) ([]Table, error) {
	if err := migrate.Check(ctx, from.SQL(), from.Dialect()); err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	if err := prepare(ctx, to); err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	if err := checkAdditions(ctx, from, to); err != nil {
		return nil, err
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
			return nil, fmt.Errorf("cannot copy table %s: %w", t.name, err)
		}
		if err := verify(ctx, target, t, sent); err != nil {
			return nil, err
		}
		result = append(result, Table{Name: t.name, Rows: sent.rows, Checksum: sent.String()})
	}
	return result, commit(ctx, source, target, to)
}

// Count returns how many rows [Copy] would copy.
func Count(ctx context.Context, from *store.DB) (rows int, err error) {
	for _, t := range tables {
		var n int
		if err := from.SQL().QueryRowContext(ctx, "SELECT COUNT(*) FROM "+t.name).Scan(&n); err != nil { // #nosec G202 -- a constant name
			return 0, fmt.Errorf("cannot count the rows of table %s: %w", t.name, err)
		}
		rows += n
	}
	return rows, nil
}

// prepare creates the schema in the target. It does not migrate an older schema, because
// the database is then in use and not empty.
func prepare(ctx context.Context, to *store.DB) error {
	steps, err := migrate.Status(ctx, to.SQL(), to.Dialect())
	if err != nil {
		return err
	}
	applied, pending := 0, 0
	for _, s := range steps {
		switch {
		case !s.AppliedAt.IsZero():
			applied++
		case !s.Optional:
			pending++
		}
	}
	if applied > 0 && pending > 0 {
		return guidon.Errorf(guidon.FailedPrecondition,
			"the database is already in use by an older release; specify an empty one")
	}
	_, err = migrate.Up(ctx, to.SQL(), to.Dialect())
	return err
}

// checkAdditions returns an error if the source permits additions and the target does not: the
// source may have some, also in its history.
func checkAdditions(ctx context.Context, from, to *store.DB) error {
	permits := [2]bool{}
	for i, db := range []*store.DB{from, to} {
		steps, err := migrate.Status(ctx, db.SQL(), db.Dialect())
		if err != nil {
			return err
		}
		permits[i] = slices.ContainsFunc(steps, func(s migrate.Step) bool { return s.Optional && !s.AppliedAt.IsZero() })
	}
	if permits[0] && !permits[1] {
		return fmt.Errorf("target: %w", service.ErrAdditions)
	}
	return nil
}

// copyTable copies the rows of one table and returns the checksum of the rows read.
func copyTable(ctx context.Context, source, target *session, t *table, copied func(rows int)) (*sum, error) {
	sent := &sum{}
	out := store.NewInsert(t.name, namesOf(t.columns), func(ctx context.Context, query string, args ...any) error {
		_, err := target.exec(ctx, query, args...)
		if err == nil {
			copied(len(args) / len(t.columns))
		}
		return err
	})
	err := source.each(ctx, t, func(values []any) error {
		out.Add(ctx, sent.add(values), values...)
		return out.Err
	})
	if err != nil {
		return nil, err
	}
	return sent, out.Flush(ctx)
}

// verify reads the table back from the target and compares the checksums.
func verify(ctx context.Context, target *session, t *table, sent *sum) error {
	arrived := &sum{}
	err := target.each(ctx, t, func(values []any) error {
		arrived.add(values)
		return nil
	})
	switch {
	case err != nil:
		return fmt.Errorf("cannot verify table %s: %w", t.name, err)
	case arrived.rows != sent.rows:
		return fmt.Errorf("verification of table %s failed: %d rows sent, %d rows found", t.name, sent.rows, arrived.rows)
	case arrived.lanes != sent.lanes:
		return fmt.Errorf("verification of table %s failed: checksum mismatch", t.name)
	}
	return nil
}

// sum is a checksum of a set of rows. It does not depend on their order, because databases
// may sort strings differently.
type sum struct {
	rows  int64
	lanes [4]uint64 // the sum of the rows' hashes, lane by lane
}

// add adds a row and returns its size in bytes.
func (s *sum) add(values []any) int {
	var encoded []byte
	for _, v := range values {
		switch v := v.(type) {
		case int64:
			encoded = binary.BigEndian.AppendUint64(append(encoded, 'i'), uint64(v)) // #nosec G115 -- only its bits matter
		case string:
			encoded = binary.BigEndian.AppendUint64(append(encoded, 't'), uint64(len(v)))
			encoded = append(encoded, v...)
		default:
			encoded = append(encoded, 'n')
		}
	}
	digest := sha256.Sum256(encoded)
	for i := range s.lanes {
		s.lanes[i] += binary.BigEndian.Uint64(digest[8*i:])
	}
	s.rows++
	return len(encoded)
}

// String returns the checksum in hexadecimal.
func (s *sum) String() string {
	var raw []byte
	for _, lane := range s.lanes {
		raw = binary.BigEndian.AppendUint64(raw, lane)
	}
	return hex.EncodeToString(raw)
}
