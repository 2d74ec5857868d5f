package store

import (
	"context"
	"database/sql"
	"strings"
	"time"
)

// deleteBatch limits the change records that one transaction deletes, so that no lock
// is held for long and the work done so far survives a kill.
const deleteBatch = 200

// DeleteChanges deletes change records that are older than before, at most limit of
// them, and returns how many it has deleted, also with an error. It keeps the newest
// record of each object, whether the object still exists or not. Together these give
// the current state, and [DB.Load] needs them to see every deletion. Records of
// authentications are treated alike. The records are deleted in several transactions.
// The errors are those of [service.Store].
func (d *DB) DeleteChanges(ctx context.Context, before time.Time, limit int) (deleted int, err error) {
	var namespaces []string
	err = d.query(ctx, `SELECT namespace_key FROM namespaces ORDER BY namespace_key`, nil, func(rows *sql.Rows) error {
		var key string
		err := rows.Scan(&key)
		namespaces = append(namespaces, key)
		return err
	})
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

// selectSuperseded reads the positions of records that are older than an instant and
// than another record of the same object.
const selectSuperseded = `SELECT c.revision, c.seq FROM changes c WHERE c.namespace_key = ? AND c.happened_at < ?
	AND EXISTS (SELECT 1 FROM changes n WHERE n.namespace_key = c.namespace_key AND n.object_key = c.object_key AND n.kind = c.kind
		AND (n.revision > c.revision OR n.revision = c.revision AND n.seq > c.seq)) LIMIT ?`

func (d *DB) deleteSomeChanges(ctx context.Context, namespace string, before time.Time, limit int) (int, error) {
	var deleted int64
	err := d.write(ctx, func(ctx context.Context, s *session) error {
		deleted = 0
		args := []any{namespace}
		err := s.rows(ctx, selectSuperseded, []any{namespace, ceilMicro(before), limit}, func(rows *sql.Rows) error {
			var revision, seq int64
			err := rows.Scan(&revision, &seq)
			args = append(args, revision, seq)
			return err
		})
		if err != nil {
			return err
		}
		count := len(args) / 2
		if count == 0 {
			return errNothingStored
		}
		deleted, err = s.exec(ctx, `DELETE FROM changes WHERE namespace_key = ? AND (revision = ? AND seq = ?`+
			strings.Repeat(` OR revision = ? AND seq = ?`, count-1)+`)`, args...)
		return err
	})
	if err != nil {
		return 0, err
	}
	return int(deleted), nil
}
