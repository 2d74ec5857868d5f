package store

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// Queries on tables that grow must find their rows by an index and, with some
// exceptions, must not sort them.
func TestQueryPlans(t *testing.T) {
	db := openMigrated(t, "sqlite:"+filepath.Join(t.TempDir(), "a.db"))
	changes := func(q change.Query) (string, []any) {
		clauses, args := changeClauses(q, bounds{})
		return "SELECT body_size FROM changes" + clauses, append(args, 25)
	}
	at := guidon.Position{Revision: 9, Sequence: 9}
	all, allArgs := changes(change.Query{Namespace: "n", Before: at})
	after, afterArgs := changes(change.Query{Namespace: "n", After: at})
	byObject, byObjectArgs := changes(change.Query{Namespace: "n", Kind: change.KindFlag, Key: "k", Before: at})
	byActor, byActorArgs := changes(change.Query{Namespace: "n", Actor: "a"})
	byTime, byTimeArgs := changeClauses(change.Query{Namespace: "n", Since: new(time.Now())}, bounds{floor: at, last: 99})
	records, recordsArgs := changeClauses(change.Query{Namespace: "n", Before: at}, bounds{})
	notes, notesArgs := noteQuery(change.Search{Query: change.Query{Namespace: "n", Before: at}, Message: "m"})
	byReason, byReasonArgs := noteQuery(change.Search{Query: change.Query{Namespace: "n", Before: at}, Reason: change.ReasonImport})
	notesOf, notesOfArgs := recordNoteQuery(change.Search{Query: change.Query{Namespace: "n", Key: "k", Before: at}, Message: "m"}, bounds{})
	position := positionArgs(at)
	old := append(append([]any{"n", 9}, position...), 5)
	for _, c := range []struct {
		name, query string
		args        []any
		index       string
		mayItSort   bool
	}{
		{"changed flags", flagKind.selectChanged(), []any{"n", 1}, "flags_by_change", false},
		{"all flags", flagKind.selectAll(), []any{"n"}, "SEARCH flags USING INDEX", false},
		{"changes", all, allArgs, "sqlite_autoindex_changes_1 (namespace_key=? AND (revision,seq)<(?,?))", false},
		{"changes after", after, afterArgs, "sqlite_autoindex_changes_1 (namespace_key=? AND (revision,seq)>(?,?))", false},
		{"changes of an object", byObject, byObjectArgs, "changes_by_object (namespace_key=? AND object_key=? AND (revision,seq)<(?,?))", false},
		{"changes by an actor", byActor, byActorArgs, "changes_by_actor", false},
		{"changes since", "SELECT body_size FROM changes" + byTime, append(byTimeArgs, 25), "sqlite_autoindex_changes_1 (namespace_key=? AND (revision,seq)>(?,?) AND revision<?)", false},
		{"records", selectRecords + records, append(recordsArgs, 25), "SEARCH c USING INDEX sqlite_autoindex_changes_1 (namespace_key=? AND (revision,seq)<(?,?))", false},
		{"notes of records", selectRecords + records, append(recordsArgs, 25), "SEARCH n USING INDEX sqlite_autoindex_change_notes_1 (namespace_key=? AND revision=?)", false},
		{"notes", notes, notesArgs, "sqlite_autoindex_change_notes_1 (namespace_key=? AND revision<?)", false},
		{"notes by reason", byReason, byReasonArgs, "change_notes_by_reason (namespace_key=? AND reason=? AND revision<?)", false},
		{"notes of an object", notesOf, notesOfArgs, "changes_by_object (namespace_key=? AND object_key=? AND (revision,seq)<(?,?))", false},
		{"notes of the records", notesOf, notesOfArgs, "SEARCH n USING INDEX sqlite_autoindex_change_notes_1 (namespace_key=? AND revision=?)", false},
		{"latest changes", flagKind.selectLatest(), []any{"n", "a", "flag", "n", "a"}, "changes_by_object (namespace_key=? AND object_key=? AND revision<?)", false},
		{"objects of latest changes", segmentKind.selectLatest(), []any{"n", "a", "segment", "n", "a"}, "SEARCH o USING INDEX sqlite_autoindex_segments_1 (namespace_key=? AND segment_key=?)", false},
		{"a record", selectRecords + atPosition, []any{"n", 1, 1, 1}, "SEARCH c USING INDEX sqlite_autoindex_changes_1 (namespace_key=? AND revision=? AND seq>? AND seq<?)", false},
		{"the last change of an object", selectLast, []any{"n", "a", "flag", 1}, "changes_by_object (namespace_key=? AND object_key=?)", false},
		{"old changes", selectOld, old, "SEARCH c USING INDEX sqlite_autoindex_changes_1 (namespace_key=? AND (revision,seq)>(?,?) AND revision<?)", false},
		{"newest of an object", selectOld, old, "SEARCH n USING INDEX changes_by_object (namespace_key=? AND object_key=?)", false},
		{"deletion of old changes", "DELETE FROM changes WHERE namespace_key = ? AND " + inRange, append(append([]any{"n"}, position...), position...), "SEARCH changes USING INDEX sqlite_autoindex_changes_1 (namespace_key=? AND (revision,seq)>(?,?) AND (revision,seq)<(?,?))", false},
		{"notes of old changes", "DELETE FROM change_notes WHERE namespace_key = ? AND revision >= ? AND revision <= ?" + emptyNotes, []any{"n", 1, 9}, "SEARCH change_notes USING COVERING INDEX sqlite_autoindex_change_notes_1 (namespace_key=? AND revision>? AND revision<?)", false},
		{"records of a note", "DELETE FROM change_notes WHERE namespace_key = ? AND revision >= ? AND revision <= ?" + emptyNotes, []any{"n", 1, 9}, "SEARCH c USING COVERING INDEX sqlite_autoindex_changes_1 (namespace_key=? AND revision=?)", false},
		{"the next deletion", selectNextDeletion, append([]any{"n", "a", "flag"}, position...), "SEARCH c USING INDEX changes_by_object (namespace_key=? AND object_key=? AND (revision,seq)>(?,?))", false},
		{"favorites", selectFavorites, []any{"h"}, "SEARCH favorites USING INDEX sqlite_autoindex_favorites_1 (account_hash=?)", true},
		{"stale favorites", deleteStaleFavorites, []any{"h"}, "SEARCH favorites USING COVERING INDEX sqlite_autoindex_favorites_1 (account_hash=?)", false},
		{"flags of favorites", deleteStaleFavorites, []any{"h"}, "SEARCH flags USING COVERING INDEX sqlite_autoindex_flags_1 (namespace_key=? AND flag_key=?)", false},
		{"changed namespaces", selectChanged, []any{"r", "n", 5}, "SEARCH n USING INDEX sqlite_autoindex_namespaces_1 (namespace_key>?)", false},
		{"the newest record", selectChanged, []any{"r", "n", 5}, "SEARCH u USING COVERING INDEX sqlite_autoindex_changes_1 (namespace_key=? AND revision=?)", false},
		{"the first unread record", selectFirstUnread, append(append([]any{"n"}, position...), 1), "SEARCH changes USING INDEX sqlite_autoindex_changes_1 (namespace_key=? AND (revision,seq)>(?,?))", false},
		{"the record before a time", selectEarlier, []any{"n", 1}, "SEARCH changes USING COVERING INDEX sqlite_autoindex_changes_1 (namespace_key=? AND revision<?)", false},
		{"a reader's cursor", selectPosition, []any{"r", "n"}, "SEARCH p USING INDEX sqlite_autoindex_change_cursors_1", false},
		{"changed authentications", selectChangedSince, []any{"n", 1, 5}, "SEARCH changes USING INDEX sqlite_autoindex_changes_1 (namespace_key=? AND revision>?)", false},
		{"flags changed since", flagKind.selectBefore(), []any{"n", 1, "n", 1}, "SEARCH t USING INDEX flags_by_change (namespace_key=? AND changed_rev>?)", false},
		{"what flags were before", flagKind.selectBefore(), []any{"n", 1, "n", 1}, "SEARCH m USING INDEX changes_by_object (namespace_key=? AND object_key=? AND revision>?)", false},
		{"what one object was before", selectBeforeOne, []any{"n", 1, "k", "flag"}, "SEARCH m USING INDEX changes_by_object (namespace_key=? AND object_key=? AND revision>?)", false},
		{"deletions since", selectDeletedSince, []any{"n", 1}, "SEARCH c USING INDEX changes_by_deletion (namespace_key=? AND revision>?)", false},
		{"positions of deleted objects", selectDeletedSince, []any{"n", 1}, "SEARCH d USING INDEX sqlite_autoindex_change_deletions_1 (namespace_key=? AND revision=? AND seq=?)", false},
		{"a creation", selectLastCreation, []any{"n", "k", 1, "flag"}, "changes_by_object (namespace_key=? AND object_key=? AND revision<?)", false},
		{"the newest record by time", selectNewestBefore, []any{"n", 1}, "SEARCH changes USING COVERING INDEX changes_by_moment (namespace_key=? AND happened_at<?)", false},
		{"records behind a time", selectBehind, []any{"n", 1, 1}, "SEARCH changes USING INDEX sqlite_autoindex_changes_1 (namespace_key=? AND revision>?)", false},
		{"the next revision", selectNextRevision, []any{"n", 1}, "SEARCH changes USING INDEX sqlite_autoindex_changes_1 (namespace_key=? AND revision>?)", false},
		{"changes of an event", selectByEvent, append([]any{"deleted", 1}, append(compareArgs(9, "n", 9, 9), 26)...), "SEARCH changes USING COVERING INDEX changes_by_event (event=? AND happened_at>? AND (happened_at,namespace_key,revision,seq)<(?,?,?,?))", false},
		{"changes by an actor in all namespaces", selectByAuthor, append([]any{"a", 1}, append(compareArgs(9, "n", 9, 9), 26)...), "SEARCH changes USING COVERING INDEX changes_by_author (actor=? AND happened_at>? AND (happened_at,namespace_key,revision,seq)<(?,?,?,?))", false},
		{"changes of a namespace by time", selectByMoment, append([]any{"n", 1}, append(compareArgs(9, 9, 9), 26)...), "SEARCH changes USING INDEX changes_by_moment (namespace_key=? AND happened_at>? AND (happened_at,revision,seq)<(?,?,?))", false},
		{"records without an event", selectWithoutEvent, []any{200}, "changes_by_event (event=?)", false},
		{"heads", selectHead, []any{"n"}, "SEARCH namespaces USING INDEX", false},
		{"expired", "SELECT body FROM authentications WHERE method = ? AND expires_at < ? ORDER BY expires_at, id LIMIT 5", []any{1, 1}, "authentications_by_expiry", true},
	} {
		plan := explain(t, db, c.query, c.args)
		if !strings.Contains(plan, c.index) {
			t.Errorf("%s does not use %s: %s", c.name, c.index, plan)
		}
		if !c.mayItSort && strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s sorts: %s", c.name, plan)
		}
	}
}

func explain(t *testing.T, db *DB, query string, args []any) string {
	t.Helper()
	var plan []string
	err := db.read(t.Context(), func(ctx context.Context, s *session) error {
		return s.rows(ctx, "EXPLAIN QUERY PLAN "+query, args, func(rows *sql.Rows) error {
			var id, parent, unused int
			var detail string
			err := rows.Scan(&id, &parent, &unused, &detail)
			plan = append(plan, detail)
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(plan, "; ")
}
