package store

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestRevisionBefore finds the revision at a time in logs whose times do not increase.
func TestRevisionBefore(t *testing.T) {
	inOrder := func(revision int64) int64 { return 10 * revision }
	slowAt := func(slow, time int64) func(int64) int64 {
		return func(revision int64) int64 {
			if revision == slow {
				return time
			}
			return 10 * revision
		}
	}
	for _, c := range []struct {
		name  string
		time  func(revision int64) int64 // of the records of a revision; there are two of each
		at    int64
		want  int64
		found bool
	}{
		{"before the first", inOrder, 9, 0, false},
		{"at the first", inOrder, 10, 1, true},
		{"between two", inOrder, 29, 2, true},
		{"at the last", inOrder, 10 * pastTimes, pastTimes, true},
		{"after the last", inOrder, 1 << 60, pastTimes, true},
		{"all at the same time", func(int64) int64 { return 5 }, 5, pastTimes, true},
		{"before they were all made", func(int64) int64 { return 5 }, 4, 0, false},
		{"the next one is dated earlier", slowAt(4, 25), 30, 4, true},
		{"a later one is dated at the same time", slowAt(9, 30), 30, 9, true},
		{"the last one that is examined", slowAt(3+clockRecords/2, 29), 30, 3 + clockRecords/2, true},
		{"too far behind", slowAt(4+clockRecords/2, 29), 30, 3, true},
		{"too far behind, after it", slowAt(4+clockRecords/2, 29), 1 << 60, pastTimes, true},
		{"every second one is late", func(revision int64) int64 { return 10*revision + revision%2*1000 }, 1000, 100, true},
		{"all but the first are behind", func(revision int64) int64 { return min(1000, 2000-1000*revision) }, 1000, pastTimes, true},
		{"the first one is ahead", slowAt(1, 1<<50), 30, 3, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := openTimes(t, c.time)
			var got int64
			var found bool
			err := db.read(t.Context(), func(ctx context.Context, s *session) (err error) {
				got, found, err = s.revisionBefore(ctx, "n", c.at)
				return err
			})
			if err != nil || got != c.want || found != c.found {
				t.Errorf("got %d, %v, %v, want %d, %v", got, found, err, c.want, c.found)
			}
		})
	}
}

// pastTimes is how many revisions openTimes stores.
const pastTimes = clockRecords + 100

// openTimes returns a store with two records of each revision at its time.
func openTimes(t *testing.T, time func(revision int64) int64) *DB {
	t.Helper()
	db := openMigrated(t, "sqlite:"+filepath.Join(t.TempDir(), "a.db"))
	var rows []string
	for revision := range int64(pastTimes) {
		for seq := range 2 {
			rows = append(rows, fmt.Sprintf("('n', %d, %d, 0, 'flag', 'f', 'update', '', '', '', %d, '', 0)", revision+1, seq, time(revision+1)))
		}
	}
	if _, err := db.SQL().ExecContext(t.Context(), `INSERT INTO changes (namespace_key, revision, seq, stamp, kind, object_key, action, actor, actor_name,
		actor_method, happened_at, request_id, body_size) VALUES `+strings.Join(rows, ", ")); err != nil {
		t.Fatal(err)
	}
	return db
}
