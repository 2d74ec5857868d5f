package store

import (
	"cmp"
	"context"
	"runtime"
	"sync"

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

// newLineage returns the lineage of a transaction and queues the query that it needs. A
// part of a group starts where the part before it ends, which is not committed yet.
func newLineage[D any](ctx context.Context, s *session, key string, mirror guidon.Mirror[D]) (*lineage, error) {
	l := &lineage{wanted: mirror != nil}
	if !l.wanted {
		return l, nil
	}
	l.held, l.known = mirror.Held()
	if tip, found := s.tips[key]; found {
		l.held, l.known = tip, true
	}
	return l, l.queryStamp(ctx, s, key)
}

// queryStamp asks for the stamp at the revision of the copy, if there is one, along with the
// next statement.
func (l *lineage) queryStamp(ctx context.Context, s *session, key string) (err error) {
	if l.known {
		l.row, err = s.rowLater(ctx, selectStamp, []any{key, l.held.Number}, &l.stamp)
	}
	return err
}

// descends reports whether the state with the revision number came from the copy: the
// number is not lower, and the change records know the copy's revision by its stamp.
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
	known  bool
	deltas []func() (D, error) // to be called when the transaction is over
}

// advance brings the copy to the new state. It does not if an object is malformed or
// was never read; a load finds the state then.
func (s steps[D]) advance(mirror guidon.Mirror[D]) {
	if !s.known {
		return
	}
	deltas := make([]D, len(s.deltas))
	for i, delta := range s.deltas {
		var err error
		if deltas[i], err = delta(); err != nil {
			return
		}
	}
	mirror.Advance(s.from, deltas...)
}

// steps returns what leads from the copy to the state before this transaction and,
// if the transaction stores anything, from there to the one after it. It is called
// before that is written, and the questions that it asks travel with the writing.
func (tx *transaction) steps(ctx context.Context, stores bool) (steps[guidon.SnapshotDelta], error) {
	before, err := tx.stepsBefore(ctx, stores)
	if err != nil || !stores || !before.known {
		return before, err
	}
	before.deltas = append(before.deltas, tx.delta)
	return before, nil
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
	delta, err := tx.deltaBefore(ctx, before.from.Number)
	if err != nil || stores {
		before.known, before.deltas = err == nil, []func() (guidon.SnapshotDelta, error){delta}
		return before, err
	}
	state := guidon.Revision{Number: parent}
	stamp, err := tx.s.rowLater(ctx, selectStamp, []any{tx.namespace, parent}, &state.Stamp)
	if err == nil {
		err = tx.s.flush(ctx)
	}
	if err != nil {
		return before, err
	}
	before.known = stamp.found
	before.deltas = []func() (guidon.SnapshotDelta, error){func() (guidon.SnapshotDelta, error) {
		d, err := delta()
		d.Revision = state
		return d, err
	}}
	return before, nil
}

// deltaBefore asks for what has changed after the revision number and before this
// transaction: everything if that is zero.
func (tx *transaction) deltaBefore(ctx context.Context, since int64) (func() (guidon.SnapshotDelta, error), error) {
	if since > 0 {
		return tx.s.deltaLater(ctx, tx.namespace, tx.head, since)
	}
	delta, err := tx.s.deltaSince(ctx, tx.namespace, tx.head, 0)
	if tx.s.failed != nil {
		return nil, err
	}
	return func() (guidon.SnapshotDelta, error) { return delta, err }, nil // an object may be malformed, which this write may be about to mend
}

// delta returns what the transaction did, in new objects: those that were put
// belong to the caller.
func (tx *transaction) delta() (guidon.SnapshotDelta, error) {
	d := guidon.SnapshotDelta{Revision: tx.record.revision}
	if tx.dropped {
		return d, nil
	}
	if tx.change != nil && !tx.change.isNoOp() {
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
// deleted. The transaction is over, so each body is released once it is decoded: there
// may be many.
func (o *objects[T]) delta() (put []*T, deleted []string, err error) {
	var stored []*entry
	for _, e := range o.tx.record.entries {
		switch {
		case e.kind != o.kind.name:
		case e.after == nil:
			deleted = append(deleted, e.key)
		default:
			stored = append(stored, e)
		}
	}
	put = make([]*T, len(stored))
	err = eachInParallel(len(stored), func(i int) error {
		e := stored[i]
		it := o.items[e.key]
		object, err := o.kind.decode(e.after, it.created)
		put[i], e.before, e.after, it.body = object, nil, nil, nil
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return put, deleted, nil
}

// parallelMin is the number of objects from which decoding them is worth several
// goroutines.
const parallelMin = 1000

// eachInParallel calls do for 0 to n-1, on several goroutines if n is large, and returns
// one of the errors.
func eachInParallel(n int, do func(i int) error) error {
	if n < parallelMin {
		return every(0, n, 1, do)
	}
	errs := make([]error, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for first := range errs {
		wg.Go(func() { errs[first] = every(first, n, len(errs), do) })
	}
	wg.Wait()
	return cmp.Or(errs...)
}

// every calls do for each step-th number from first to n-1, up to the first error.
func every(first, n, step int, do func(i int) error) error {
	for i := first; i < n; i += step {
		if err := do(i); err != nil {
			return err
		}
	}
	return nil
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
	result.deltas = []func() (guidon.AuthenticationDelta, error){func() (guidon.AuthenticationDelta, error) { return delta, nil }}
	return result, err
}
