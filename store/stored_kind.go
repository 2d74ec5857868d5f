package store

import (
	"cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// kind describes flags or segments, which are stored in the same way.
type kind[T any] struct {
	name      change.Kind
	table     string
	keyColumn string
	key       func(object *T) string
	created   func(object *T) *guidon.Position
	normalize func(object *T)
}

var flagKind = &kind[guidon.Flag]{
	name: change.KindFlag, table: "flags", keyColumn: "flag_key",
	key:       func(f *guidon.Flag) string { return f.Key },
	created:   func(f *guidon.Flag) *guidon.Position { return &f.Created },
	normalize: normalizeFlag,
}

var segmentKind = &kind[guidon.Segment]{
	name: change.KindSegment, table: "segments", keyColumn: "segment_key",
	key:       func(g *guidon.Segment) string { return g.Key },
	created:   func(g *guidon.Segment) *guidon.Position { return &g.Created },
	normalize: normalizeSegment,
}

// selectOne reads one row: created_rev, created_seq, body.
func (k *kind[T]) selectOne() string {
	return "SELECT created_rev, created_seq, body FROM " + k.table + " WHERE namespace_key = ? AND " + k.keyColumn + " = ?"
}

// selectAll reads all rows: key, created_rev, created_seq, body. They are in any
// order, because sorting is cheaper here than in the database, which would move the
// bodies.
func (k *kind[T]) selectAll() string {
	return "SELECT " + k.keyColumn + ", created_rev, created_seq, body FROM " + k.table + " WHERE namespace_key = ?"
}

// selectKeys is selectAll without the bodies.
func (k *kind[T]) selectKeys() string {
	return "SELECT " + k.keyColumn + ", created_rev, created_seq FROM " + k.table + " WHERE namespace_key = ?"
}

// selectListed is selectAll for one key, which is given twice; see [session.rowsOfEach].
func (k *kind[T]) selectListed() string {
	return k.selectAll() + " AND " + k.keyColumn + " >= ? AND " + k.keyColumn + " <= ? ORDER BY " + k.keyColumn + " LIMIT 1"
}

// selectChanged is selectAll for the rows that changed after a revision.
func (k *kind[T]) selectChanged() string {
	return k.selectAll() + " AND changed_rev > ?"
}

func (k *kind[T]) decode(body []byte, created guidon.Position) (*T, error) {
	object := new(T)
	if err := decode(body, object); err != nil {
		return nil, err
	}
	*k.created(object) = created
	return object, nil
}

// compareCursors compares positions in the change log, which also give the order of
// lists.
func compareCursors(a, b guidon.Position) int {
	return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.Sequence, b.Sequence))
}
