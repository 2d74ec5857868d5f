package store

import (
	"context"
	"database/sql"

	"github.com/guidonhq/guidon/change"
)

// selectWithoutEvent reads the newest records without an event: those of earlier releases.
const selectWithoutEvent = `SELECT namespace_key, revision, seq, body_size
	FROM changes /*! FORCE INDEX (changes_by_event) */ WHERE event = ''
	ORDER BY happened_at DESC, namespace_key DESC, revision DESC, seq DESC LIMIT ?`

// AddEvents adds the events to change records of earlier releases, at most limit of them, the
// newest first, and returns how many it has changed, also with an error. It does so in several short
// transactions, so it may be killed and run again.
func (d *DB) AddEvents(ctx context.Context, limit int) (changed int, err error) {
	for changed < limit {
		n := 0
		err := d.write(ctx, func(ctx context.Context, s *session) (err error) {
			n, err = s.addEvents(ctx, min(deleteBatch, limit-changed))
			if err == nil && n == 0 {
				return errNothingStored
			}
			return err
		})
		if err != nil || n == 0 {
			return changed, err
		}
		changed += n
	}
	return changed, nil
}

func (s *session) addEvents(ctx context.Context, limit int) (int, error) {
	var fits pageBudget
	lists, err := collect(ctx, s, selectWithoutEvent, []any{limit}, func(rows *sql.Rows) ([]any, error) {
		var at change.Place
		var size int64
		err := rows.Scan(&at.Namespace, &at.Revision, &at.Sequence, &size)
		fits.add(size)
		return atPositionArgs(at.Namespace, at.Position), err
	})
	if err != nil {
		return 0, err
	}
	records, err := s.recordsOf(ctx, selectRecords+atPosition, lists[:fits.records])
	if err != nil {
		return 0, err
	}
	for _, c := range records {
		err := s.later(ctx, `UPDATE changes SET event = ? WHERE namespace_key = ? AND revision = ? AND seq = ?`,
			string(c.Event()), logKey(c.Kind, c.Namespace), c.Revision, c.Sequence)
		if err != nil {
			return 0, err
		}
	}
	return len(records), nil
}
