package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// maxScanned limits the notes or records that one search examines.
const maxScanned = 2000

// SearchChanges implements [service.Store]. Like [DB.Changes], it returns at most 8 MiB of
// bodies, but at least one record if it has found any.
func (d *DB) SearchChanges(ctx context.Context, search change.Search) ([]*change.Record, guidon.Position, error) {
	if search.Limit <= 0 {
		return nil, guidon.Position{}, errors.New("store: invalid change search: limit must be positive")
	}
	search.After = guidon.Position{}
	if !mayMatch(search.Query) {
		return nil, guidon.Position{}, nil
	}
	var found []*change.Record
	var next guidon.Position
	err := d.read(ctx, func(ctx context.Context, s *session) (err error) {
		found, next, err = s.searchChanges(ctx, search)
		return err
	})
	if err != nil {
		return nil, guidon.Position{}, err
	}
	return found, next, nil
}

// searchChanges finds revisions by their notes, and then reads the records of those
// revisions.
func (s *session) searchChanges(ctx context.Context, search change.Search) ([]*change.Record, guidon.Position, error) {
	revisions, next, err := s.scanNotes(ctx, search)
	if err != nil || len(revisions) == 0 {
		return nil, next, err
	}
	clauses, args := changeClauses(search.Query, revisions...)
	n, err := s.countFitting(ctx, clauses, args, search.Limit)
	if err != nil || n == 0 {
		return nil, next, err
	}
	found, err := s.changes(ctx, clauses, args, n)
	if err != nil || len(found) == 0 {
		return nil, next, err
	}
	last := found[len(found)-1].Cursor()
	search.Before = last
	clauses, args = changeClauses(search.Query, revisions...)
	more, err := s.countFitting(ctx, clauses, args, 1)
	if err != nil {
		return nil, next, err
	}
	if more > 0 || next != (guidon.Position{}) && compareCursors(last, next) < 0 {
		next = last
	}
	return found, next, nil
}

// scanNotes returns the newest revisions whose notes match, at most as many as the limit of
// the search, and the position before which the scan must be continued, or zero.
//
// It scans the notes, of which there is one for a revision. If the search is limited
// otherwise, an index finds the records that come into question, and it scans the notes of
// these.
func (s *session) scanNotes(ctx context.Context, search change.Search) (revisions []int64, next guidon.Position, err error) {
	query, args := noteQuery(search)
	if byRecord(search.Query) {
		query, args = recordNoteQuery(search)
	}
	wanted, scanned := strings.ToLower(search.Message), 0
	err = s.rows(ctx, query, args, func(rows *sql.Rows) error {
		var at guidon.Position
		var message, reason sql.NullString
		if err := rows.Scan(&at.Revision, &at.Sequence, &message, &reason); err != nil || len(revisions) == search.Limit {
			return err
		}
		scanned, next = scanned+1, at
		matches := strings.Contains(strings.ToLower(message.String), wanted) &&
			(search.Reason == "" || search.Reason == change.ReasonKind(reason.String))
		if matches && (len(revisions) == 0 || revisions[len(revisions)-1] != at.Revision) {
			revisions = append(revisions, at.Revision)
		}
		return nil
	})
	if scanned < maxScanned && len(revisions) < search.Limit {
		next = guidon.Position{} // that was everything
	}
	return revisions, next, err
}

// byRecord reports whether the query restricts the records by an index of their own.
func byRecord(query change.Query) bool {
	return query.Key != "" || query.Actor != "" || query.Since != nil || query.Until != nil
}

// noteQuery returns the query for the notes that come into question, newest first.
func noteQuery(search change.Search) (query string, args []any) {
	query, args = "SELECT revision, 0, message, reason FROM change_notes WHERE namespace_key = ?", []any{queriedKey(search.Query)}
	if search.Reason != "" {
		query, args = query+" AND reason = ?", append(args, string(search.Reason))
	}
	if search.First > 0 {
		query, args = query+" AND revision >= ?", append(args, search.First)
	}
	if search.Last > 0 {
		query, args = query+" AND revision <= ?", append(args, search.Last)
	}
	if before := search.Before; before != (guidon.Position{}) {
		first := before.Revision // with records before the position
		if before.Sequence == 0 {
			first--
		}
		query, args = query+" AND revision <= ?", append(args, first)
	}
	return query + " ORDER BY revision DESC LIMIT ?", append(args, maxScanned)
}

// recordNoteQuery returns the query for the records that come into question, newest first,
// with their notes. It reads these by subqueries, because the planner of a join may prefer
// to read all notes.
func recordNoteQuery(search change.Search) (query string, args []any) {
	clauses, args := changeClauses(search.Query)
	return "SELECT revision, seq, " + noteOf("message", search.Message != "") + ", " + noteOf("reason", search.Reason != "") +
		" FROM changes c" + clauses, append(args, maxScanned)
}

// noteOf returns the expression for a column of the note of the record c, or for the empty
// string if the column is not needed.
func noteOf(column string, needed bool) string {
	if !needed {
		return "''"
	}
	return "(SELECT n." + column + " FROM change_notes n WHERE n.namespace_key = c.namespace_key AND n.revision = c.revision)"
}
