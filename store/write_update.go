package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// Update implements [service.Store].
func (d *DB) Update(
	ctx context.Context, namespace string, w service.Write, fn func(ctx context.Context, tx service.Tx) error,
) (int64, error) {
	return d.UpdateMirrored(ctx, namespace, w, nil, fn)
}

// UpdateMirrored is [DB.Update] for a caller that keeps a copy of the namespace. If
// it succeeds, it advances the copy through mirror, which may be nil, as
// [service.Mirror] describes. The deltas include what others have written since the
// revision of the copy.
func (d *DB) UpdateMirrored(
	ctx context.Context, namespace string, w service.Write, mirror service.Mirror[guidon.SnapshotDelta],
	fn func(ctx context.Context, tx service.Tx) error,
) (int64, error) {
	u := &update[guidon.SnapshotDelta]{key: namespace, mirror: mirror}
	var tx *transaction // of the last run
	err := u.end(d.writeTo(ctx, namespace, func(ctx context.Context, s *session) (err error) {
		u.begin()
		if tx, err = beginTransaction(ctx, s, namespace, w, mirror); err != nil {
			return err
		}
		if err := tx.match(ctx, w.IfMatch); err != nil {
			return err
		}
		err = fn(ctx, tx)
		tx.dead = true
		if err := tx.ensureHead(ctx); err != nil {
			return err
		}
		if err != nil {
			return err
		}
		return u.store(ctx, s, &tx.record, tx)
	}))
	switch {
	case tx == nil:
		return 0, err
	case err != nil || !u.stores:
		return tx.current(), err
	case len(tx.record.entries) >= analyzeMin:
		d.Analyze(ctx)
	}
	return tx.record.revision.Number, nil
}

// transaction is the [service.Tx] of one run of a function given to Update.
type transaction struct {
	s         *session
	ctx       context.Context // of the run, for Now, which has no parameter for it
	namespace string
	lineage   *lineage
	claim     *claim // nil once its result is in head
	claimErr  error  // the error of the claim
	head      head   // as stored, but with the next revision
	record    record
	body      []byte // of the namespace; nil if it does not exist
	change    *entry // the transaction's change to the namespace itself; nil if none
	flags     *objects[guidon.Flag]
	segments  *objects[guidon.Segment]
	dropped   bool // the namespace was deleted in this transaction
	dead      bool
}

var _ service.Tx = (*transaction)(nil)

func beginTransaction(
	ctx context.Context, s *session, namespace string, w service.Write, mirror service.Mirror[guidon.SnapshotDelta],
) (*transaction, error) {
	tx := &transaction{s: s, ctx: ctx, namespace: namespace, lineage: &lineage{}}
	tx.record = newRecord(w, guidon.Revision{Number: 1})
	tx.flags, tx.segments = newObjects(tx, flagKind), newObjects(tx, segmentKind)
	if namespace == service.AuthenticationsKey || !storable(namespace) {
		return tx, nil // there is no such namespace, so there is nothing to lock
	}
	var err error
	if tx.claim, err = s.claim(ctx, namespace); err != nil {
		return nil, err
	}
	tx.lineage, err = newLineage(ctx, s, namespace, mirror)
	return tx, err
}

// ensureHead ensures that the namespace is locked and tx.head is set. The claim was
// queued at the start of the transaction and is sent with the first query of the
// function.
func (tx *transaction) ensureHead(ctx context.Context) error {
	if err := tx.s.flush(ctx); err != nil {
		return err
	}
	return tx.applyClaim()
}

// applyClaim sets tx.head from the claim, which must have been sent.
func (tx *transaction) applyClaim() error {
	if tx.claim == nil {
		return tx.claimErr
	}
	tx.head, tx.claimErr = tx.claim.head()
	tx.claim = nil
	if tx.claimErr != nil {
		return tx.claimErr
	}
	if tx.head.live {
		tx.body = tx.head.body
	}
	// The time is taken after the lock, so that a later revision has no earlier time.
	tx.record.revision, tx.record.now = tx.head.revision, transactionTime()
	return nil
}

// match returns FailedPrecondition unless the revision is the wanted one, which may be nil.
func (tx *transaction) match(ctx context.Context, wanted *int64) error {
	if wanted == nil {
		return nil
	}
	if err := tx.ensureHead(ctx); err != nil {
		return err
	}
	if current := tx.current(); *wanted != current {
		return guidon.Errorf(guidon.FailedPrecondition, "namespace %q is at revision %d, not %d",
			tx.namespace, current, *wanted)
	}
	return nil
}

// mayHaveObjects reports whether anything can be stored in the namespace.
func (tx *transaction) mayHaveObjects() bool { return tx.claim != nil || tx.head.live }

// current returns the revision before this transaction.
func (tx *transaction) current() int64 { return tx.record.revision.Number - 1 }

func (tx *transaction) Now() time.Time {
	_ = tx.ensureHead(tx.ctx) // its error ends the transaction, at the latest before it writes
	return tx.record.now
}

func (tx *transaction) Revision(ctx context.Context) (int64, error) {
	if err := tx.ensureHead(ctx); err != nil {
		return 0, err
	}
	return tx.current(), nil
}

func (tx *transaction) Namespace(ctx context.Context) (*guidon.Namespace, error) {
	if err := tx.ensureHead(ctx); err != nil {
		return nil, err
	}
	if tx.body == nil {
		return nil, namespaceNotFound(tx.namespace)
	}
	n := new(guidon.Namespace)
	return n, decode(tx.body, n)
}

func (tx *transaction) PutNamespace(ctx context.Context, n *guidon.Namespace) error {
	if err := tx.ensureHead(ctx); err != nil {
		return err
	}
	switch {
	case tx.dead || tx.dropped:
		return errDead
	case n.Key != tx.namespace:
		return errors.New("store: PutNamespace with the key of another namespace")
	case tx.namespace == service.AuthenticationsKey:
		return guidon.Errorf(guidon.InvalidArgument, "namespace key %q is reserved", n.Key)
	case !storable(n.Key):
		return guidon.Errorf(guidon.InvalidArgument, "namespace key %q cannot be stored", n.Key)
	}
	normalizeTimes(&n.CreatedAt, &n.UpdatedAt)
	body, err := encode(n)
	if err != nil {
		return err
	}
	if len(body) > service.MaxObjectSize {
		return guidon.Errorf(guidon.TooLarge, "namespace %q is too large", n.Key)
	}
	if tx.change == nil {
		tx.change = tx.record.add(change.KindNamespace, tx.namespace, tx.body, nil)
	}
	tx.change.after, tx.body = body, body
	return nil
}

func (tx *transaction) DeleteNamespace(ctx context.Context) error {
	if tx.dead {
		return errDead
	}
	if err := tx.ensureHead(ctx); err != nil {
		return err
	}
	if tx.body == nil {
		return nil
	}
	if err := tx.flags.deleteAll(ctx); err != nil {
		return err
	}
	if err := tx.segments.deleteAll(ctx); err != nil {
		return err
	}
	if tx.change == nil {
		tx.change = tx.record.add(change.KindNamespace, tx.namespace, tx.body, nil)
	}
	tx.change.after, tx.body, tx.dropped = nil, nil, true
	return nil
}

// errDead reports a mistake in the program, not in a request.
var errDead = errors.New("store: transaction used after its end, or put after DeleteNamespace")

// mayPut returns an error if nothing can be put into the namespace.
func (tx *transaction) mayPut(ctx context.Context) error {
	if tx.dead || tx.dropped {
		return errDead
	}
	if err := tx.ensureHead(ctx); err != nil {
		return err
	}
	if tx.body == nil {
		return namespaceNotFound(tx.namespace)
	}
	return nil
}

// mayPutAdditions returns [service.ErrAdditions] unless the database has the schema step that
// permits additions. A step is never removed, so it need not be requested again.
func (tx *transaction) mayPutAdditions(ctx context.Context) error {
	if tx.s.db.additions.Load() {
		return nil
	}
	var version int64
	switch applied, err := tx.s.row(ctx, selectAdditions, nil, &version); {
	case err != nil:
		return err
	case !applied:
		return service.ErrAdditions
	}
	tx.s.db.additions.Store(true)
	return nil
}

// selectAdditions has the number of the step additions of package migrate.
const selectAdditions = `SELECT version_id FROM ` + versionTable + ` WHERE version_id = 9`

func (tx *transaction) Flag(ctx context.Context, key string) (*guidon.Flag, error) {
	return tx.flags.get(ctx, key)
}
func (tx *transaction) FlagKeys(ctx context.Context) ([]string, error) { return tx.flags.keys(ctx) }
func (tx *transaction) LinkedFlags(ctx context.Context) ([]*guidon.Flag, error) {
	marked, err := tx.flags.containing(ctx, guidon.LinkedFlagMark)
	return slices.DeleteFunc(marked, func(f *guidon.Flag) bool { return !f.Linked() }), err
}
func (tx *transaction) Flags(ctx context.Context) ([]*guidon.Flag, error) { return tx.flags.list(ctx) }
func (tx *transaction) PutFlag(ctx context.Context, f *guidon.Flag) error {
	return tx.flags.put(ctx, f)
}
func (tx *transaction) DeleteFlag(ctx context.Context, key string) error {
	return tx.flags.delete(ctx, key)
}

func (tx *transaction) Segment(ctx context.Context, key string) (*guidon.Segment, error) {
	return tx.segments.get(ctx, key)
}

func (tx *transaction) Segments(ctx context.Context) ([]*guidon.Segment, error) {
	return tx.segments.list(ctx)
}

func (tx *transaction) SegmentKeys(ctx context.Context) ([]string, error) {
	return tx.segments.keys(ctx)
}

func (tx *transaction) PutSegment(ctx context.Context, g *guidon.Segment) error {
	return tx.segments.put(ctx, g)
}

func (tx *transaction) DeleteSegment(ctx context.Context, key string) error {
	return tx.segments.delete(ctx, key)
}

// write stores the changes of the transaction.
func (tx *transaction) write(ctx context.Context) error {
	if err := tx.writeNamespace(ctx); err != nil {
		return err
	}
	if err := tx.flags.write(ctx); err != nil {
		return err
	}
	if err := tx.segments.write(ctx); err != nil {
		return err
	}
	return tx.record.write(ctx, tx.s, tx.namespace)
}

func (tx *transaction) writeNamespace(ctx context.Context) error {
	switch {
	case tx.change == nil || tx.change.isNoOp():
		return nil
	case tx.body == nil:
		return tx.s.later(ctx, `UPDATE namespaces SET deleted = 1, body = '{}' WHERE namespace_key = ?`, tx.namespace)
	case tx.head.live:
		return tx.s.later(ctx, `UPDATE namespaces SET body = ? WHERE namespace_key = ?`, string(tx.body), tx.namespace)
	}
	// Two namespaces created concurrently may get the same number. Their order is then
	// that of their keys.
	var last int64
	if _, err := tx.s.row(ctx, `SELECT COALESCE(MAX(created_seq), 0) FROM namespaces`, nil, &last); err != nil {
		return err
	}
	if tx.head.stored {
		return tx.s.later(ctx, `UPDATE namespaces SET deleted = 0, created_seq = ?, body = ? WHERE namespace_key = ?`,
			last+1, string(tx.body), tx.namespace)
	}
	// It is not queued, because wasCommitted waits for the row from here on.
	_, err := tx.s.exec(ctx, insertNamespace,
		tx.namespace, tx.record.revision.Number, tx.record.revision.Stamp, 0, last+1, string(tx.body))
	return err
}

const insertNamespace = `INSERT INTO namespaces (namespace_key, revision, stamp, deleted, created_seq, body) VALUES (?, ?, ?, ?, ?, ?)`
