package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// undoReader undoes the changes of a namespace after a revision number. It reads one record of
// each object that has changed since: the first. The objects are those that exist and have
// a newer changed_rev, and those that were deleted since. So the cost depends on the number
// of these objects and of the deletions, which have an index, not on that of the records.
type undoReader struct {
	s         *session
	namespace string
	since     int64
	rewind    *change.Rewind
	room      int64 // for the objects, in bytes
	used      int64 // by all objects, also if that is more than room
}

// run undoes the changes. It returns errNotAdmitted if the objects need more room; used is
// then how much they need.
func (u *undoReader) run(ctx context.Context, live bool) error {
	gone, err := u.s.deletedSince(ctx, u.namespace, u.since)
	if err != nil {
		return err
	}
	if live {
		if err := undoExisting(ctx, u, flagKind, gone); err != nil {
			return err
		}
		if err := undoExisting(ctx, u, segmentKind, gone); err != nil {
			return err
		}
	}
	if err := u.undoOthers(ctx, gone); err != nil {
		return err
	}
	if u.used > u.room {
		return errNotAdmitted
	}
	return nil
}

// absent is selected instead of the body of an object that did not exist. It is no JSON.
const absent = "-"

// selectBeforeOne selects an object before its first change after a revision number: its body,
// or absent if the change created it. The order begins with the key because MySQL would
// otherwise read all records after the revision number until it finds one of the object.
const (
	beforeFirst      = `COALESCE(m.before_body, '` + absent + `') FROM changes m ` + byObject + ` WHERE m.namespace_key = ? AND m.revision > ? AND m.object_key = `
	firstOfThem      = ` ORDER BY m.object_key, m.revision, m.seq LIMIT 1`
	selectBeforeOne  = `SELECT m.kind, m.object_key, ` + beforeFirst + `? AND m.kind = ?` + firstOfThem
	changedSinceOnly = ` t WHERE t.namespace_key = ? AND t.changed_rev > ?`
)

// selectBefore reads the keys of all existing objects that have changed after a revision
// number, and each of them as selectBeforeOne does, or NULL if it has no record.
func (k *kind[T]) selectBefore() string {
	return "SELECT t." + k.keyColumn + ", (SELECT " + beforeFirst + "t." + k.keyColumn + " AND m.kind = '" + string(k.name) + "'" + firstOfThem + ")" +
		" FROM " + k.table + changedSinceOnly
}

// undoExisting undoes the changes of all existing objects of the kind.
func undoExisting[T any](ctx context.Context, u *undoReader, k *kind[T], gone deletions) error {
	o := change.Object{Kind: k.name}
	args := []any{u.namespace, u.since, u.namespace, u.since}
	return u.s.rows(ctx, k.selectBefore(), args, func(rows *sql.Rows) error {
		var before sql.RawBytes // decoded immediately, so it need not be copied
		if err := rows.Scan(&o.Key, &before); err != nil {
			return err
		}
		if len(before) == 0 {
			return fmt.Errorf("store: the %s %q has changed after revision %d without a record", o.Kind, o.Key, u.since)
		}
		if d := gone[o]; d != nil {
			d.undone = true
		}
		return u.undo(o, gone, before)
	})
}

// undoOthers undoes the changes of the objects that no longer exist, and of the namespace.
func (u *undoReader) undoOthers(ctx context.Context, gone deletions) error {
	lists := [][]any{{u.namespace, u.since, u.namespace, string(change.KindNamespace)}}
	for o, d := range gone {
		if !d.undone {
			lists = append(lists, []any{u.namespace, u.since, o.Key, string(o.Kind)})
		}
	}
	var o change.Object
	var before []byte
	var failed error
	err := u.s.rowsOfEach(ctx, selectBeforeOne, lists, func() {
		failed = cmp.Or(failed, u.undo(o, gone, before))
	}, &o.Kind, &o.Key, &before)
	return cmp.Or(err, failed)
}

// undo undoes the change of an object, unless there is no room.
func (u *undoReader) undo(o change.Object, gone deletions, before []byte) error {
	if u.used += int64(len(before)); u.used > u.room {
		return nil
	}
	r := change.Record{Kind: o.Kind, Key: o.Key, Action: change.ActionCreate}
	if string(before) != absent {
		r.Action, r.Before = change.ActionUpdate, before
	}
	var created guidon.Position
	if d := gone[o]; d != nil {
		created = d.created
	}
	return u.rewind.Undo(&r, created)
}

// deletedObject is a flag or segment that was deleted.
type deletedObject struct {
	created guidon.Position // of the object that was deleted; zero if not known
	undone  bool            // the first change has been undone
}

// deletions are the objects of a namespace that were deleted after a revision number, each
// with its first deletion.
type deletions map[change.Object]*deletedObject

// selectDeletedSince reads the deletions of flags and segments after a revision number, the
// first of each object first, with the positions of their creation.
const selectDeletedSince = `SELECT c.kind, c.object_key, d.created_rev, d.created_seq FROM changes c
	LEFT JOIN change_deletions d ON d.namespace_key = c.namespace_key AND d.revision = c.revision AND d.seq = c.seq
	WHERE c.namespace_key = ? AND c.revision > ? AND c.action = 'delete' AND c.kind <> 'namespace' ORDER BY c.revision, c.seq`

// deletedSince returns the flags and segments that were deleted after the revision number.
// Their positions are those that they had at the revision, if they existed then. All other
// objects that existed still do, and know their position.
func (s *session) deletedSince(ctx context.Context, namespace string, number int64) (deletions, error) {
	gone := deletions{}
	var unplaced []change.Object // deleted by a release that did not store the position
	err := s.rows(ctx, selectDeletedSince, []any{namespace, number}, func(rows *sql.Rows) error {
		var o change.Object
		var revision, sequence sql.NullInt64
		if err := rows.Scan(&o.Kind, &o.Key, &revision, &sequence); err != nil || gone[o] != nil {
			return err
		}
		created := guidon.Position{Revision: revision.Int64, Sequence: int32(sequence.Int64)} // #nosec G115 -- it was an int32
		gone[o] = &deletedObject{created: created}
		if !revision.Valid {
			unplaced = append(unplaced, o)
		}
		return nil
	})
	for _, o := range unplaced {
		if err == nil {
			at := &gone[o].created
			_, err = s.row(ctx, selectLastCreation, []any{namespace, o.Key, number, string(o.Kind)}, &at.Revision, &at.Sequence)
		}
	}
	return gone, err
}

// selectLastCreation reads the position of the last creation of an object up to a revision
// number.
const selectLastCreation = `SELECT revision, seq FROM changes WHERE namespace_key = ? AND object_key = ? AND revision <= ? AND kind = ? AND action = 'create'
	ORDER BY revision DESC, seq DESC LIMIT 1`

// DeletedSince implements [service.Tx].
func (tx *transaction) DeletedSince(ctx context.Context, revision int64) (map[change.Object]guidon.Position, error) {
	if err := tx.ensureHead(ctx); err != nil || !tx.head.stored {
		return nil, err
	}
	gone, err := tx.s.deletedSince(ctx, tx.namespace, revision)
	positions := map[change.Object]guidon.Position{}
	for object, o := range gone {
		positions[object] = o.created
	}
	return positions, err
}
