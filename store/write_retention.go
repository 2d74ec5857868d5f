package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// Limits of one transaction that deletes change records, so that no lock is held for long
// and the work done so far survives a kill. It may delete one record with larger bodies.
const (
	deleteBatch = 200
	deleteBytes = 4 << 20
)

// DeleteChanges deletes change records that are older than before, at most limit of
// them, and returns how many it has deleted, also with an error. It keeps the newest
// record of each object, whether the object still exists or not. Together these give
// the current state. [DB.Load] needs them to see every deletion, and
// [DB.LoadAuthentications] to see every change. It also keeps the records that a
// registered reader has not passed (see [service.ChangeReaders]), and those of the
// revisions that the readers have reached. States before a deleted record can no longer be
// read by [DB.SnapshotAt]. Records of authentications and of deleted
// namespaces are treated alike. The records are deleted in several transactions. The
// errors are those of [service.Store].
func (d *DB) DeleteChanges(ctx context.Context, before time.Time, limit int) (deleted int, err error) {
	namespaces, err := d.namespacesEver(ctx)
	if err != nil {
		return 0, err
	}
	for _, namespace := range namespaces {
		old := oldRecords{namespace: namespace, before: ceilMicro(before)}
		if err := d.read(ctx, old.find); err != nil {
			return deleted, err
		}
		for !old.ended && deleted < limit {
			n, err := d.deleteSome(ctx, &old, min(deleteBatch, limit-deleted))
			deleted += n
			if err != nil {
				return deleted, err
			}
		}
	}
	return deleted, nil
}

const selectNamespacesEver = `SELECT namespace_key FROM namespaces ORDER BY namespace_key`

// namespacesEver returns the keys of all namespaces, including deleted ones, and that of
// the authentications.
func (d *DB) namespacesEver(ctx context.Context) ([]string, error) {
	return readRows(ctx, d, selectNamespacesEver, nil, scanText)
}

// oldRecords walks through the records of a namespace that are older than an instant, in
// the order of the log. So no record is examined twice, whether it is deleted or kept.
type oldRecords struct {
	namespace string
	before    int64           // the instant, in microseconds since 1970
	last      int64           // no record of a later revision is that old
	at        guidon.Position // the records through this one have been examined
	ended     bool            // all have been examined
}

// find sets the last revision. It expects that the clocks of instances differ by less than
// clockRecords records take, or else leaves some records to a later cleanup.
func (o *oldRecords) find(ctx context.Context, s *session) error {
	last, found, err := s.revisionBefore(ctx, o.namespace, o.before-1)
	o.last, o.ended = last, !found
	return err
}

// oldRecord is a record as the cleanup sees it.
type oldRecord struct {
	at         guidon.Position
	happenedAt int64
	size       int64
	kind       change.Kind
	key        string
	superseded bool // it is not the newest record of its object
	ended      bool // it is the creation of a flag or segment that has been deleted since
}

// newestOf returns the expression for a column of the newest record of the object of the
// record c. It is a subquery of one row, so that all databases find it by the index.
func newestOf(column string) string {
	return `(SELECT n.` + column + ` FROM changes n ` + byObject + ` WHERE n.namespace_key = c.namespace_key AND n.object_key = c.object_key AND n.kind = c.kind
		ORDER BY n.object_key DESC, n.revision DESC, n.seq DESC LIMIT 1)`
}

// outlived returns the expression for whether the record c, which creates an object of the
// kind, has outlived that object: 1 or 0.
func (k *kind[T]) outlived() string {
	return ` WHEN c.kind = '` + string(k.name) + `' THEN COALESCE((SELECT CASE WHEN o.created_rev = c.revision AND o.created_seq = c.seq THEN 0 ELSE 1 END
		FROM ` + k.table + ` o WHERE o.namespace_key = c.namespace_key AND o.` + k.keyColumn + ` = c.object_key), 1)`
}

// selectOld reads records from a position through a revision.
var selectOld = `SELECT c.revision, c.seq, c.happened_at, c.body_size, c.kind, c.object_key,
	CASE WHEN ` + newestOf("revision") + ` > c.revision THEN 1 WHEN ` + newestOf("seq") + ` > c.seq THEN 1 ELSE 0 END,
	CASE WHEN c.action <> 'create' THEN 0` + flagKind.outlived() + segmentKind.outlived() + ` ELSE 0 END
	FROM changes c WHERE c.namespace_key = ? AND c.revision <= ? AND ` + afterPosition + oldestFirst

// next calls fn for the next records through a revision, at most limit. Some of them may not
// be old. It stops before a record for which fn returns false.
func (o *oldRecords) next(ctx context.Context, s *session, through int64, limit int, fn func(r *oldRecord) bool) error {
	count, stopped := 0, false
	args := append(append([]any{o.namespace, min(through, o.last)}, positionArgs(o.at)...), limit)
	err := s.rows(ctx, selectOld, args, func(rows *sql.Rows) error {
		var r oldRecord
		err := rows.Scan(&r.at.Revision, &r.at.Sequence, &r.happenedAt, &r.size, &r.kind, &r.key, &r.superseded, &r.ended)
		if err != nil || stopped {
			return err
		}
		if stopped = !fn(&r); !stopped {
			count, o.at = count+1, r.at
		}
		return nil
	})
	o.ended = !stopped && count < limit
	return err
}

// deleteSome examines the next old records, at most limit, and deletes those that are
// superseded and that all readers have passed.
func (d *DB) deleteSome(ctx context.Context, old *oldRecords, limit int) (deleted int, err error) {
	start := *old
	err = d.write(ctx, func(ctx context.Context, s *session) error {
		*old = start // also if the transaction runs again
		var batch deletedRecords
		if err := s.lockReaders(ctx); err != nil {
			return err
		}
		reached, err := s.reached(ctx, old.namespace)
		if err != nil {
			return err
		}
		if err := old.next(ctx, s, reached-1, limit, func(r *oldRecord) bool { return batch.add(r, old.before) }); err != nil {
			return err
		}
		deleted = batch.count
		if deleted == 0 {
			return errNothingStored
		}
		return batch.delete(ctx, s, old.namespace)
	})
	if err != nil {
		*old = start
		return 0, err
	}
	return deleted, nil
}

// deletedRecords are the records that one transaction deletes.
type deletedRecords struct {
	ranges    []positionRange
	open      bool // the last range may be extended
	count     int
	bytes     int64
	newest    horizon
	creations []*oldRecord // of objects that have been deleted since
}

// add adds the record if it is old and superseded. It returns false if that must wait for
// the next transaction.
func (b *deletedRecords) add(r *oldRecord, before int64) bool {
	if !r.superseded || r.happenedAt >= before {
		b.open = false
		return true
	}
	if b.bytes += r.size; b.count > 0 && b.bytes > deleteBytes {
		return false
	}
	if !b.open {
		b.ranges = append(b.ranges, positionRange{first: r.at})
	}
	b.ranges[len(b.ranges)-1].last, b.open = r.at, true
	b.count++
	b.newest.extend(horizon{r.at.Revision, r.happenedAt})
	if r.ended {
		b.creations = append(b.creations, r)
	}
	return true
}

// emptyNotes is the condition of notes of revisions that no longer have a record.
const emptyNotes = ` AND (SELECT c.seq FROM changes c WHERE c.namespace_key = change_notes.namespace_key AND c.revision = change_notes.revision
	ORDER BY c.seq DESC LIMIT 1) IS NULL`

func (b *deletedRecords) delete(ctx context.Context, s *session, namespace string) error {
	if err := s.keepPositions(ctx, namespace, b.creations); err != nil {
		return err
	}
	if err := b.newest.store(ctx, s, namespace); err != nil {
		return err
	}
	for _, r := range b.ranges {
		args := append([]any{namespace}, r.args()...)
		if namespace == service.AuthenticationsKey {
			if err := s.later(ctx, `DELETE FROM change_addresses WHERE `+inRange, args[1:]...); err != nil {
				return err
			}
		}
		if err := s.later(ctx, `DELETE FROM change_deletions WHERE namespace_key = ? AND `+inRange, args...); err != nil {
			return err
		}
		if err := s.later(ctx, `DELETE FROM changes WHERE namespace_key = ? AND `+inRange, args...); err != nil {
			return err
		}
		if err := s.later(ctx, `DELETE FROM change_notes WHERE namespace_key = ? AND revision >= ? AND revision <= ?`+emptyNotes,
			namespace, r.first.Revision, r.last.Revision); err != nil {
			return err
		}
	}
	return nil
}

// selectNextDeletion reads the position of the first deletion of an object after a position,
// and whether the position of its creation is stored. The condition on the action prevents
// the use of the index of all deletions.
var selectNextDeletion = `SELECT c.revision, c.seq, CASE WHEN (SELECT p.created_rev FROM change_deletions p
	WHERE p.namespace_key = c.namespace_key AND p.revision = c.revision AND p.seq = c.seq) IS NULL THEN 0 ELSE 1 END
	FROM changes c ` + byObject + ` WHERE c.namespace_key = ? AND c.object_key = ? AND c.kind = ? AND COALESCE(c.action, '') = 'delete' AND ` + afterPosition + `
	ORDER BY c.object_key, c.revision, c.seq LIMIT 1`

// keepPositions stores the positions of creations whose records are about to be deleted, if
// their objects were deleted by a release that did not store them. A creation belongs to the
// next deletion of the object.
func (s *session) keepPositions(ctx context.Context, namespace string, creations []*oldRecord) error {
	insert := newInsert(s, "change_deletions", deletionColumns)
	for _, c := range creations {
		var at guidon.Position
		var stored bool
		found, err := s.row(ctx, selectNextDeletion, append([]any{namespace, c.key, string(c.kind)}, positionArgs(c.at)...), &at.Revision,
			&at.Sequence, &stored)
		if err != nil {
			return err
		}
		if !found || stored {
			continue
		}
		insert.Add(ctx, len(namespace), namespace, at.Revision, at.Sequence, c.at.Revision, c.at.Sequence)
	}
	return insert.Flush(ctx)
}
