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
	read      func(key string, body []byte) *T
	state     func(object *T) (created *guidon.Position, unreadable *guidon.Unreadable)
	additions func(object *T) bool
	normalize func(object *T)
	stored    func(object *T) *T // the object as it is encoded
}

var flagKind = &kind[guidon.Flag]{
	name: change.KindFlag, table: "flags", keyColumn: "flag_key",
	key:       func(f *guidon.Flag) string { return f.Key },
	read:      guidon.ReadFlag,
	state:     func(f *guidon.Flag) (*guidon.Position, *guidon.Unreadable) { return &f.Created, f.Unreadable },
	additions: (*guidon.Flag).Additions,
	normalize: normalizeFlag,
	stored:    (*guidon.Flag).Stored,
}

var segmentKind = &kind[guidon.Segment]{
	name: change.KindSegment, table: "segments", keyColumn: "segment_key",
	key:       func(g *guidon.Segment) string { return g.Key },
	read:      guidon.ReadSegment,
	state:     func(g *guidon.Segment) (*guidon.Position, *guidon.Unreadable) { return &g.Created, g.Unreadable },
	additions: (*guidon.Segment).Additions,
	normalize: normalizeSegment,
	stored:    (*guidon.Segment).Stored,
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

// selectContaining is selectAll for the rows whose body has a text, given as a pattern of LIKE.
func (k *kind[T]) selectContaining() string { return k.selectAll() + " AND body LIKE ?" }

// selectChanged is selectAll for the rows that changed after a revision.
func (k *kind[T]) selectChanged() string {
	return k.selectAll() + " AND changed_rev > ?"
}

// decode returns the object with the key, which may be unreadable.
func (k *kind[T]) decode(key string, body []byte, created guidon.Position) *T {
	object := k.read(key, body)
	at, _ := k.state(object)
	*at = created
	return object
}

// check returns an error if the object is unreadable.
func (k *kind[T]) check(object *T) error {
	if _, unreadable := k.state(object); unreadable != nil {
		return unreadable.Err
	}
	return nil
}

func (k *kind[T]) created(object *T) guidon.Position {
	at, _ := k.state(object)
	return *at
}

// compareCursors compares positions in the change log, which also give the order of
// lists.
func compareCursors(a, b guidon.Position) int {
	return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.Sequence, b.Sequence))
}
