package store

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
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
	b, found, err := s.boundByTime(ctx, search.Query)
	if err != nil || !found {
		return nil, guidon.Position{}, err
	}
	revisions, next, err := s.scanNotes(ctx, search, b)
	if err != nil || len(revisions) == 0 {
		return nil, next, err
	}
	positions, more, err := s.positionsIn(ctx, search.Query, b, revisions)
	if err != nil || len(positions) == 0 {
		return nil, next, err
	}
	records, err := s.recordsAt(ctx, selectRecords+atPosition, queriedKey(search.Query), positions)
	slices.SortFunc(records, func(a, b *change.Record) int { return compareCursors(b.Cursor(), a.Cursor()) })
	last := positions[len(positions)-1]
	if more || next != (guidon.Position{}) && compareCursors(last, next) < 0 {
		next = last
	}
	return records, next, err
}

// positionsIn returns the positions of the newest records of the revisions that match the
// query and fit into one result. It reports whether there are more.
func (s *session) positionsIn(
	ctx context.Context, query change.Query, b bounds, revisions []int64,
) (positions []guidon.Position, more bool, err error) {
	var clauses string
	var lists [][]any
	for _, revision := range revisions {
		var args []any
		query.First, query.Last = revision, revision
		clauses, args = changeClauses(query, b)
		lists = append(lists, append(args, query.Limit+1))
	}
	sizes := map[guidon.Position]int64{}
	var at guidon.Position
	var size int64
	err = s.rowsOfEach(ctx, "SELECT revision, seq, body_size FROM changes"+clauses, lists,
		func() { sizes[at] = size }, &at.Revision, &at.Sequence, &size)
	positions = slices.SortedFunc(maps.Keys(sizes), func(a, b guidon.Position) int { return compareCursors(b, a) })
	var fits pageBudget
	for _, at := range positions[:min(len(positions), query.Limit)] {
		fits.add(sizes[at])
	}
	return positions[:fits.records], fits.records < len(positions), err
}

// scanNotes returns the newest revisions whose notes match, at most as many as the limit of
// the search, and the position before which the scan must be continued, or zero.
//
// It scans the notes, of which there is one for a revision. If the search is limited
// otherwise, an index finds the candidate records, and it scans the notes of these.
func (s *session) scanNotes(ctx context.Context, search change.Search, b bounds) (revisions []int64, next guidon.Position, err error) {
	query, args := noteQuery(search)
	if byRecord(search.Query) {
		query, args = recordNoteQuery(search, b)
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

// noteQuery returns the query for the candidate notes, newest first.
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

// recordNoteQuery returns the query for the candidate records, newest first, with their
// notes.
func recordNoteQuery(search change.Search, b bounds) (query string, args []any) {
	clauses, args := changeClauses(search.Query, b)
	message, reason := "''", "''" // unless needed
	if search.Message != "" {
		message = noteOf("message")
	}
	if search.Reason != "" {
		reason = noteOf("reason")
	}
	return "SELECT revision, seq, " + message + ", " + reason + " FROM changes c" + clauses, append(args, maxScanned)
}
