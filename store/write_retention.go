package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon/service"
)

// deleteBatch limits the change records that one transaction deletes, so that no lock
// is held for long and the work done so far survives a kill.
const deleteBatch = 200

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
		for deleted < limit {
			n, err := d.deleteSomeChanges(ctx, namespace, before, min(deleteBatch, limit-deleted))
			deleted += n
			if err != nil {
				return deleted, err
			}
			if n == 0 {
				break
			}
		}
	}
	return deleted, nil
}

// namespacesEver returns the keys of all namespaces, including deleted ones, and that of
// the authentications.
func (d *DB) namespacesEver(ctx context.Context) (keys []string, err error) {
	err = d.read(ctx, func(ctx context.Context, s *session) error {
		keys = nil
		return s.rows(ctx, `SELECT namespace_key FROM namespaces ORDER BY namespace_key`, nil, func(rows *sql.Rows) error {
			var key string
			err := rows.Scan(&key)
			keys = append(keys, key)
			return err
		})
	})
	return keys, err
}

// superseded is the condition that a record c is older than an instant and than another
// record of the same object.
const superseded = ` FROM changes c WHERE c.namespace_key = ? AND c.happened_at < ?
	AND EXISTS (SELECT 1 FROM changes n WHERE n.namespace_key = c.namespace_key AND n.object_key = c.object_key AND n.kind = c.kind
		AND (n.revision > c.revision OR n.revision = c.revision AND n.seq > c.seq))`

// selectSuperseded reads the positions of superseded records below a revision, and whether
// they created a flag or segment.
const selectSuperseded = `SELECT c.revision, c.seq, c.happened_at,
	CASE WHEN c.action = 'create' AND c.kind IN ('flag', 'segment') THEN 1 ELSE 0 END` + superseded + ` AND c.revision < ? LIMIT ?`

// insertPositions stores the positions of creations whose records are about to be deleted,
// if their objects were deleted by a release that did not store them. A creation belongs to
// the next deletion of the object.
const insertPositions = `INSERT INTO change_deletions (namespace_key, revision, seq, created_rev, created_seq)
	SELECT d.namespace_key, d.revision, d.seq, c.revision, c.seq
	FROM changes c JOIN changes d ON d.namespace_key = c.namespace_key AND d.object_key = c.object_key AND d.kind = c.kind
	WHERE d.action = 'delete' AND (d.revision > c.revision OR d.revision = c.revision AND d.seq > c.seq)
	AND NOT EXISTS (SELECT 1 FROM changes b WHERE b.namespace_key = c.namespace_key AND b.object_key = c.object_key AND b.kind = c.kind AND b.action = 'delete'
		AND (b.revision > c.revision OR b.revision = c.revision AND b.seq > c.seq) AND (b.revision < d.revision OR b.revision = d.revision AND b.seq < d.seq))
	AND NOT EXISTS (SELECT 1 FROM change_deletions p WHERE p.namespace_key = d.namespace_key AND p.revision = d.revision AND p.seq = d.seq)
	AND c.namespace_key = ? AND `

func (d *DB) deleteSomeChanges(ctx context.Context, namespace string, before time.Time, limit int) (int, error) {
	var deleted int64
	err := d.write(ctx, func(ctx context.Context, s *session) error {
		deleted = 0
		if err := s.lockReaders(ctx); err != nil {
			return err
		}
		_, reached, err := s.slowestReader(ctx, namespace)
		if err != nil {
			return err
		}
		args, creations := []any{namespace}, []any{namespace}
		var newest horizon
		err = s.rows(ctx, selectSuperseded, []any{namespace, ceilMicro(before), reached, limit}, func(rows *sql.Rows) error {
			var revision, seq, happenedAt int64
			var creation bool
			err := rows.Scan(&revision, &seq, &happenedAt, &creation)
			args = append(args, revision, seq)
			if creation {
				creations = append(creations, revision, seq)
			}
			newest.extend(horizon{revision, happenedAt})
			return err
		})
		if err != nil {
			return err
		}
		count := len(args) / 2
		if count == 0 {
			return errNothingStored
		}
		those := atPositions("", count)
		if namespace == service.AuthenticationsKey {
			if _, err := s.exec(ctx, `DELETE FROM change_addresses WHERE `+those, args[1:]...); err != nil {
				return err
			}
		}
		if err := s.keepPositions(ctx, creations); err != nil {
			return err
		}
		if _, err := s.exec(ctx, `DELETE FROM change_deletions WHERE namespace_key = ? AND `+those, args...); err != nil {
			return err
		}
		if err := newest.store(ctx, s, namespace); err != nil {
			return err
		}
		if deleted, err = s.exec(ctx, `DELETE FROM changes WHERE namespace_key = ? AND `+those, args...); err != nil {
			return err
		}
		return s.deleteNotes(ctx, args)
	})
	if err != nil {
		return 0, err
	}
	return int(deleted), nil
}

// keepPositions executes insertPositions. The arguments are a namespace, and the positions of
// the creations.
func (s *session) keepPositions(ctx context.Context, creations []any) error {
	count := len(creations) / 2
	if count == 0 {
		return nil
	}
	_, err := s.exec(ctx, insertPositions+atPositions("c.", count), creations...)
	return err
}

// atPositions returns the condition that a record is at one of count positions. The prefix
// is that of its columns.
func atPositions(prefix string, count int) string {
	one := prefix + `revision = ? AND ` + prefix + `seq = ?`
	return `(` + one + strings.Repeat(` OR `+one, count-1) + `)`
}

// deleteNotes deletes the notes of revisions that no longer have a record. The arguments
// are a namespace, and the positions of the deleted records.
func (s *session) deleteNotes(ctx context.Context, positions []any) error {
	args := positions[:1:1]
	for i := 1; i < len(positions); i += 2 {
		if revision := positions[i]; !slices.Contains(args, revision) {
			args = append(args, revision)
		}
	}
	_, err := s.exec(ctx, `DELETE FROM change_notes WHERE namespace_key = ? AND revision IN `+placeholders(len(args)-1)+`
		AND NOT EXISTS (SELECT 1 FROM changes c WHERE c.namespace_key = change_notes.namespace_key AND c.revision = change_notes.revision)`, args...)
	return err
}

// selectHeldBack counts superseded records above a revision, up to a limit.
const selectHeldBack = `SELECT COUNT(*) FROM (SELECT c.seq` + superseded + ` AND c.revision > ? LIMIT ?) held`

// HeldBack returns how many records [DB.DeleteChanges] keeps because a reader has not
// passed them, by the name of the reader. In each namespace it counts only the records
// after the revision that the slowest reader has reached. It stops counting at limit
// records. The errors are those of [service.Store].
func (d *DB) HeldBack(ctx context.Context, before time.Time, limit int) (map[string]int, error) {
	namespaces, err := d.namespacesEver(ctx)
	if err != nil {
		return nil, err
	}
	held, total := map[string]int{}, 0
	for _, namespace := range namespaces {
		reader, count, err := d.heldBackIn(ctx, namespace, before, limit-total)
		if err != nil {
			return nil, err
		}
		if reader == "" {
			return nil, nil // there are no readers
		}
		if count > 0 {
			held[reader] += count
		}
		if total += count; total >= limit {
			break
		}
	}
	return held, nil
}

// heldBackIn returns the slowest reader of the namespace, and how many records are kept
// for it.
func (d *DB) heldBackIn(ctx context.Context, namespace string, before time.Time, limit int) (reader string, count int, err error) {
	err = d.read(ctx, func(ctx context.Context, s *session) (err error) {
		var reached int64
		reader, reached, err = s.slowestReader(ctx, namespace)
		if err != nil || reader == "" {
			return err
		}
		_, err = s.row(ctx, selectHeldBack, []any{namespace, ceilMicro(before), reached, limit}, &count)
		return err
	})
	return reader, count, err
}
