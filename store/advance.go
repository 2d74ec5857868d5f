package store

import (
	"context"

	"github.com/guidonhq/guidon"
)

// lineage says how a transaction's state descends from the copy that its caller
// keeps; see [guidon.Mirror].
type lineage struct {
	wanted bool // there is a caller that may keep one
	held   guidon.Revision
	known  bool // there is a copy
	stamp  int64
	row    *row // of the change record at the copy's revision, once it was read
}

const selectStamp = `SELECT stamp FROM changes WHERE namespace_key = ? AND revision = ? ORDER BY seq LIMIT 1`

// newLineage asks for the stamp at the revision of the copy, along with the next
// statement. A part of a group begins where the part before it ends, which is not
// committed yet.
func newLineage[D any](ctx context.Context, s *session, key string, mirror guidon.Mirror[D]) (*lineage, error) {
	l := &lineage{wanted: mirror != nil}
	if !l.wanted {
		return l, nil
	}
	l.held, l.known = mirror.Held()
	if tip, found := s.tips[key]; found {
		l.held, l.known = tip, true
	}
	if !l.known {
		return l, nil
	}
	var err error
	l.row, err = s.rowLater(ctx, selectStamp, []any{key, l.held.Number}, &l.stamp)
	return l, err
}

// descends reports whether the state with the revision number came from the copy.
func (l *lineage) descends(number int64) bool {
	return l.known && l.held.Number <= number && l.row.found && l.stamp == l.held.Stamp
}

// stampAt returns the revision with the number, or false if no change record tells
// its stamp.
func (s *session) stampAt(ctx context.Context, key string, number int64) (guidon.Revision, bool, error) {
	r := guidon.Revision{Number: number}
	found, err := s.row(ctx, selectStamp, []any{key, number}, &r.Stamp)
	return r, found, err
}

// steps lead from a revision to the state of a transaction.
type steps[D any] struct {
	from   guidon.Revision
	deltas []D
	known  bool
}

// advance brings the copy to the new state.
func (s steps[D]) advance(mirror guidon.Mirror[D]) {
	if s.known {
		mirror.Advance(s.from, s.deltas...)
	}
}

// maxMirrored is how many objects a transaction may change for its copy to be brought
// up to date. Beyond that a second form of everything it stores would be in memory: the
// next reader reads what changed, when the transaction is over.
const maxMirrored = 10_000

// steps returns what leads from the copy to the state before this transaction and,
// if the transaction stores anything, from there to the one after it. It is called
// before that is written.
func (tx *transaction) steps(ctx context.Context, stores bool) (steps[guidon.SnapshotDelta], error) {
	if len(tx.record.entries) > maxMirrored {
		return steps[guidon.SnapshotDelta]{}, nil
	}
	before, err := tx.stepsBefore(ctx, stores)
	if err != nil || !stores || !before.known {
		return before, err
	}
	own, err := tx.delta()
	before.deltas = append(before.deltas, own)
	return before, err
}

func (tx *transaction) stepsBefore(ctx context.Context, stores bool) (before steps[guidon.SnapshotDelta], err error) {
	parent := tx.current()
	switch l := tx.lineage; {
	case !l.wanted:
		return before, nil
	case stores && (tx.dropped || !tx.head.live):
		return steps[guidon.SnapshotDelta]{known: true}, nil // from nothing
	case l.descends(parent) && l.held.Number == parent:
		return steps[guidon.SnapshotDelta]{from: l.held, known: true}, nil
	case !l.known || !tx.head.live:
		return before, nil // to read the whole namespace is not the business of a write
	case l.descends(parent):
		before.from = l.held
	}
	delta, err := tx.s.deltaSince(ctx, tx.namespace, tx.head, before.from.Number)
	switch {
	case err != nil && tx.s.failed == nil:
		return before, nil // an object is malformed, which this write may be about to mend
	case err != nil:
		return before, err
	}
	before.known = true
	if !stores {
		delta.Revision, before.known, err = tx.s.stampAt(ctx, tx.namespace, parent)
	}
	before.deltas = []guidon.SnapshotDelta{delta}
	return before, err
}

// delta returns what the transaction did, in new objects: those that were put
// belong to the caller.
func (tx *transaction) delta() (guidon.SnapshotDelta, error) {
	d := guidon.SnapshotDelta{Revision: tx.record.revision}
	if tx.dropped {
		return d, nil
	}
	if tx.change != nil && !tx.change.void() {
		d.Namespace = new(guidon.Namespace)
		if err := decode(tx.body, d.Namespace); err != nil {
			return d, err
		}
	}
	var err error
	if d.Flags, d.DeletedFlags, err = tx.flags.delta(); err != nil {
		return d, err
	}
	d.Segments, d.DeletedSegments, err = tx.segments.delta()
	return d, err
}

// delta returns the objects that the transaction put, and the keys of those that it
// deleted.
func (o *objects[T]) delta() (put []*T, deleted []string, err error) {
	for _, e := range o.tx.record.entries {
		switch {
		case e.kind != o.kind.name:
		case e.after == nil:
			deleted = append(deleted, e.key)
		default:
			object, err := o.kind.decode(e.after, o.items[e.key].created)
			if err != nil {
				return nil, nil, err
			}
			put = append(put, object)
		}
	}
	return put, deleted, nil
}

// steps is that of a transaction, after everything has been written.
func (tx *authenticationTx) steps(ctx context.Context, stores bool) (result steps[guidon.AuthenticationDelta], err error) {
	l, parent := tx.lineage, tx.record.revision.Number-1
	if !l.known {
		return result, nil
	}
	if l.descends(parent) {
		result.from = l.held
	}
	result.known = true
	if !stores && result.from == l.held && l.held.Number == parent {
		return result, nil
	}
	var delta guidon.AuthenticationDelta
	result.from, delta, err = tx.s.authenticationsSince(ctx, result.from, parent, tx.record.entries)
	if delta.Revision = tx.record.revision; err == nil && !stores {
		delta.Revision, result.known, err = tx.s.stampAt(ctx, guidon.AuthenticationsKey, parent)
	}
	result.deltas = []guidon.AuthenticationDelta{delta}
	return result, err
}
