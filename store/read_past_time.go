package store

import (
	"context"
	"fmt"
)

// clockRecords is how many records are examined after the newest one by time. The clocks of
// instances need not agree, so some of these may be older.
const clockRecords = 1000

// selectNewestBefore reads the revision of the newest record by time that is not later than
// a time.
const selectNewestBefore = `SELECT revision FROM changes WHERE namespace_key = ? AND happened_at <= ? ORDER BY happened_at DESC LIMIT 1`

// selectBehind reads the revision of the last of the next clockRecords records after a
// revision that is not later than a time, or 0 if all of them are later. The comment is a hint for MySQL, which would
// otherwise sort all records after the revision.
var selectBehind = fmt.Sprintf(`SELECT COALESCE(MAX(n.revision), 0) FROM (SELECT /*+ INDEX(changes PRIMARY) */ revision, happened_at FROM changes
	WHERE namespace_key = ? AND revision > ? ORDER BY revision, seq LIMIT %d) n WHERE n.happened_at <= ?`, clockRecords)

// revisionBefore returns the last revision whose records are not later than a time, and
// reports whether there is one. It begins at the newest of these records by time, so its
// cost does not depend on the length of the log. Later revisions that a slow clock has dated
// before the time are found if they are among the next clockRecords records.
func (s *session) revisionBefore(ctx context.Context, namespace string, micro int64) (number int64, found bool, err error) {
	found, err = s.row(ctx, selectNewestBefore, []any{namespace, micro}, &number)
	if err != nil || !found {
		return 0, false, err
	}
	for {
		var behind int64
		if _, err := s.row(ctx, selectBehind, []any{namespace, number, micro}, &behind); err != nil || behind == 0 {
			return number, true, err
		}
		number = behind
	}
}
