package store

import (
	"cmp"
	"context"
	"runtime"
	"sync"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// update is one call of an Update method. Its fields but the first two are about the last run
// of the caller's function.
type update[D any] struct {
	key    string
	mirror service.Mirror[D] // or nil

	stores  bool   // the run has changes to commit
	advance func() // advances the mirror; nil until the run has succeeded
}

func (u *update[D]) begin() { u.stores, u.advance = false, nil }

// store stores the changes of a run that has succeeded, and arranges for the mirror to be
// advanced after the commit. It returns errNothingStored if there are none: the revision is
// not used up then.
func (u *update[D]) store(ctx context.Context, s *session, r *record, tx interface {
	steps(ctx context.Context, stores bool) (steps[D], error)
	write(ctx context.Context) error
}) error {
	stores := r.finalize()
	steps, err := tx.steps(ctx, stores)
	if err != nil {
		return err
	}
	u.stores, u.advance = stores, func() { steps.advance(u.mirror) }
	if !stores {
		return errNothingStored
	}
	s.onCommit(u.key, r.revision, steps.known, u.advance)
	return tx.write(ctx)
}

// end tells the mirror about a call that changes nothing. err is the result of the call.
func (u *update[D]) end(err error) error {
	switch {
	case u.stores || u.mirror == nil:
	case err != nil:
		u.mirror.Unchanged()
	case u.advance != nil:
		u.advance()
	}
	return err
}

// lineage relates the state of a transaction to the copy that its caller keeps; see
// [service.Mirror].
type lineage struct {
	wanted bool            // the caller has a mirror
	held   guidon.Revision // of the copy
	known  bool            // there is a copy
	stamp  int64           // of the change record at the copy's revision
	row    *row            // of the query for stamp
}

const selectStamp = `SELECT stamp FROM changes WHERE namespace_key = ? AND revision = ? ORDER BY seq LIMIT 1`

// newLineage returns the lineage of a transaction and queues its query. In a group
// commit, a part starts from the uncommitted state that the part before it leaves.
func newLineage[D any](ctx context.Context, s *session, key string, mirror service.Mirror[D]) (*lineage, error) {
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

// queryStamp queries the stamp at the revision of the copy, if there is one, together
// with the next statement.
func (l *lineage) queryStamp(ctx context.Context, s *session, key string) (err error) {
	if l.known {
		l.row, err = s.rowLater(ctx, selectStamp, []any{key, l.held.Number}, &l.stamp)
	}
	return err
}

// descends reports whether the state with the revision number descends from the copy:
// the number is not lower, and the change record at the copy's revision has its
// stamp.
func (l *lineage) descends(number int64) bool {
	return l.known && l.held.Number <= number && l.row.found && l.stamp == l.held.Stamp
}

// stampAt returns the revision with the number, or false if no change record has that
// number.
func (s *session) stampAt(ctx context.Context, key string, number int64) (guidon.Revision, bool, error) {
	r := guidon.Revision{Number: number}
	found, err := s.row(ctx, selectStamp, []any{key, number}, &r.Stamp)
	return r, found, err
}

// steps holds the deltas that lead from a revision to the state of a transaction.
type steps[D any] struct {
	from   guidon.Revision
	known  bool                // false if the copy cannot be advanced
	deltas []func() (D, error) // must be called after the transaction has ended
}

// advance advances the copy to the new state. It does nothing if the namespace is
// malformed or an object was not received; the next load then reads the state.
func (s steps[D]) advance(mirror service.Mirror[D]) {
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

// steps returns the deltas from the copy to the state before this transaction and, if
// the transaction stores anything, from there to the state after it. It is called
// before the changes are written, so that its queries share the round trips of the
// writes.
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
		return steps[guidon.SnapshotDelta]{known: true}, nil // from the empty state
	case l.descends(parent) && l.held.Number == parent:
		return steps[guidon.SnapshotDelta]{from: l.held, known: true}, nil
	case !l.known || !tx.head.live:
		return before, nil // a write does not read the whole namespace
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

// deltaBefore queries the changes after the revision number and before this
// transaction, or the whole namespace if the number is zero.
func (tx *transaction) deltaBefore(ctx context.Context, since int64) (func() (guidon.SnapshotDelta, error), error) {
	if since > 0 {
		return tx.s.deltaLater(ctx, tx.namespace, tx.head, since)
	}
	delta, err := tx.s.deltaSince(ctx, tx.namespace, tx.head, 0)
	if tx.s.failed != nil {
		return nil, err
	}
	return func() (guidon.SnapshotDelta, error) { return delta, err }, nil // the namespace may be malformed, and this write may fix it
}

// delta returns the changes of the transaction. It decodes new objects, because those
// that were put belong to the caller.
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
	d.Flags, d.DeletedFlags = tx.flags.delta()
	d.Segments, d.DeletedSegments = tx.segments.delta()
	return d, nil
}

// delta returns the objects that the transaction put, and the keys of those that it
// deleted. It must be called after the transaction has ended: each body is released
// once it is decoded, because there may be many.
func (o *objects[T]) delta() (put []*T, deleted []string) {
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
	_ = eachInParallel(len(stored), func(i int) error { // never fails: what cannot be read is unreadable
		e := stored[i]
		it := o.items[e.key]
		put[i] = o.kind.decode(e.key, e.after, it.created)
		e.before, e.after, it.body = nil, nil, nil
		return nil
	})
	return put, deleted
}

// parallelMin is the smallest number of objects for which several goroutines are
// worth their cost.
const parallelMin = 1000

// eachInParallel calls do for 0 to n-1, on several goroutines if n is large, and returns
// one of the errors.
func eachInParallel(n int, do func(i int) error) error {
	errs := make([]error, 1)
	if n >= parallelMin {
		errs = make([]error, runtime.GOMAXPROCS(0))
	}
	each := func(first int) {
		for i := first; i < n && errs[first] == nil; i += len(errs) {
			errs[first] = do(i)
		}
	}
	var wg sync.WaitGroup
	for first := 1; first < len(errs); first++ {
		wg.Go(func() { each(first) })
	}
	each(0)
	wg.Wait()
	return cmp.Or(errs...)
}

// steps is the counterpart of [transaction.steps]. It must be called after the
// authentications have been written.
func (tx *authenticationTx) steps(ctx context.Context, stores bool) (result steps[service.AuthenticationDelta], err error) {
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
	var delta service.AuthenticationDelta
	result.from, delta, err = tx.s.authenticationsSince(ctx, result.from, parent, tx.record.entries)
	if delta.Revision = tx.record.revision; err == nil && !stores {
		delta.Revision, result.known, err = tx.s.stampAt(ctx, service.AuthenticationsKey, parent)
	}
	result.deltas = []func() (service.AuthenticationDelta, error){func() (service.AuthenticationDelta, error) { return delta, nil }}
	return result, err
}
