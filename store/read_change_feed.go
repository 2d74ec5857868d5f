package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// Feeds read ranges of an index by time: one for each event, one for an actor, or one for each of a
// few namespaces. Each range is cut at a limit, and what is older than the end of a range that was
// cut is left to the next page. So a page reads at most maxScanned rows, whatever is filtered out.
var (
	placeColumns   = []string{"happened_at", "namespace_key", "revision", "seq"}
	selectByEvent  = selectPlaces("event", "''", "changes_by_event", placeColumns...) // needs nothing but the index
	selectByAuthor = selectPlaces("actor", "actor", "changes_by_author", placeColumns...)
	selectByMoment = selectPlaces("namespace_key", "actor", "changes_by_moment", "happened_at", "revision", "seq")
)

// selectPlaces returns the query for a range of an index: the first column has a value, and the
// others, by which the rows are ordered, are before a place. The comment is for MySQL and MariaDB,
// as that of byObject is.
func selectPlaces(first, actor, index string, columns ...string) string {
	return "SELECT " + first + ", happened_at, namespace_key, revision, seq, event, " + actor +
		` FROM changes /*! FORCE INDEX (` + index + `) */ WHERE ` + first + " = ? AND happened_at >= ? AND " + compareColumns("<", columns...) +
		" ORDER BY " + strings.Join(columns, " DESC, ") + " DESC LIMIT ?"
}

// AllChanges implements [service.Store]. Like [DB.Changes], it returns at most 8 MiB of bodies, but
// at least one record if it has found any.
func (d *DB) AllChanges(ctx context.Context, feed change.Feed) (found []*change.Record, next change.Place, err error) {
	if feed.Limit <= 0 {
		return nil, change.Place{}, errors.New("store: invalid feed: limit must be positive")
	}
	if !mayMatch(change.Query{Namespace: feed.In, Actor: feed.Actor}) {
		return nil, change.Place{}, nil
	}
	if feed.Before == (change.Place{}) {
		feed.Before = change.Newest
	}
	if feed.Until != nil && ceilMicro(*feed.Until) <= feed.Before.At {
		feed.Before = change.Place{At: ceilMicro(*feed.Until)}
	}
	err = d.read(ctx, func(ctx context.Context, s *session) (err error) {
		found, next, err = s.feed(ctx, feed)
		return err
	})
	return found, next, err
}

// feedRow is a record as it is found in a range.
type feedRow struct {
	change.Place
	event change.Event
	actor string
}

const selectSize = `SELECT namespace_key, revision, seq, body_size FROM changes` + atPosition

func (s *session) feed(ctx context.Context, feed change.Feed) ([]*change.Record, change.Place, error) {
	ranges, err := s.feedRanges(ctx, feed)
	if err != nil {
		return nil, change.Place{}, err
	}
	rows, end, err := s.feedRows(ctx, feed, ranges)
	if err != nil {
		return nil, change.Place{}, err
	}
	var lists [][]any
	for _, r := range rows[:min(len(rows), feed.Limit)] {
		lists = append(lists, atPositionArgs(r.Namespace, r.Position))
	}
	sizes, at, size := map[change.Place]int64{}, change.Place{}, int64(0)
	err = s.rowsOfEach(ctx, selectSize, lists, func() { sizes[at] = size }, &at.Namespace, &at.Revision, &at.Sequence, &size)
	if err != nil {
		return nil, change.Place{}, err
	}
	var fits pageBudget
	for _, r := range rows[:len(lists)] {
		fits.add(sizes[change.Place{Namespace: r.Namespace, Position: r.Position}])
	}
	if fits.records < len(rows) {
		end = rows[fits.records-1].Place
	} else if end, err = s.visiblePlace(ctx, feed, end); err != nil {
		return nil, change.Place{}, err
	}
	records, err := s.recordsOf(ctx, selectRecords+atPosition, lists[:fits.records])
	slices.SortFunc(records, func(a, b *change.Record) int { return comparePlaces(b.Place(), a.Place()) })
	return records, end, err
}

// feedRanges are ranges of one index.
type feedRanges struct {
	query string
	lists [][]any // the arguments of each range
	limit int     // of each range
}

func (s *session) feedRanges(ctx context.Context, feed change.Feed) (feedRanges, error) {
	namespaces, err := s.fewNamespaces(ctx, feed)
	r, at, since := feedRanges{query: selectByEvent, limit: feed.Limit + 1}, feed.Before, int64(math.MinInt64)
	if feed.Since != nil {
		since = ceilMicro(*feed.Since)
	}
	add := func(first string, before ...any) {
		r.lists = append(r.lists, append([]any{first, since}, compareArgs(before...)...))
	}
	switch filtered := feed.Actor != "" || len(feed.Events) > 0; {
	case err != nil:
		return r, err
	case namespaces != nil:
		r.query = selectByMoment
		for _, namespace := range namespaces {
			// Records of one time are in order of their namespaces.
			position := guidon.Position{}
			switch c := strings.Compare(namespace, at.Namespace); {
			case c < 0:
				position = change.After(math.MaxInt64)
			case c == 0:
				position = at.Position
			}
			add(namespace, at.At, position.Revision, position.Sequence)
		}
		if filtered {
			r.limit = maxScanned / max(len(namespaces), 1)
		}
	case feed.Actor != "":
		r.query, r.limit = selectByAuthor, 2*r.limit // with some of authentications
		if len(feed.Events) > 0 || feed.Visible != nil {
			r.limit = maxScanned
		}
		add(feed.Actor, at.At, at.Namespace, at.Revision, at.Sequence)
	default:
		events := feed.Events
		if len(events) == 0 {
			events = append([]change.Event{""}, change.Events...)
		}
		for _, event := range events {
			add(string(event), at.At, at.Namespace, at.Revision, at.Sequence)
		}
		if feed.Visible != nil {
			r.limit = maxScanned / len(events)
		}
	}
	for i := range r.lists {
		r.lists[i] = append(r.lists[i], r.limit)
	}
	return r, nil
}

// fewNamespaces returns the namespaces of the feed, including deleted ones, or nil if they are too
// many to read each.
func (s *session) fewNamespaces(ctx context.Context, feed change.Feed) ([]string, error) {
	if feed.In != "" {
		return []string{feed.In}, nil
	}
	if feed.Visible == nil || feed.Actor != "" {
		return nil, nil
	}
	few, err := s.visibleNamespaces(ctx, feed)
	if len(few) > maxScanned/(feed.Limit+1) {
		return nil, err
	}
	return few, err
}

// visibleNamespaces returns the namespaces that the feed shows, including deleted ones. It is not nil.
func (s *session) visibleNamespaces(ctx context.Context, feed change.Feed) ([]string, error) {
	visible := []string{}
	err := s.rows(ctx, selectNamespacesEver, nil, func(rows *sql.Rows) error {
		var key string
		err := rows.Scan(&key)
		if key != service.AuthenticationsKey && feed.Visible(key) {
			visible = append(visible, key)
		}
		return err
	})
	return visible, err
}

// visiblePlace returns the place or, if it is in a namespace that the feed does not show, the last
// one before it that is not: callers get it with the page, and must not learn of other namespaces.
func (s *session) visiblePlace(ctx context.Context, feed change.Feed, p change.Place) (change.Place, error) {
	if feed.Visible == nil || p.Namespace == "" || feed.Visible(p.Namespace) {
		return p, nil
	}
	visible, err := s.visibleNamespaces(ctx, feed)
	before := change.Place{At: p.At}
	for _, key := range visible {
		if key < p.Namespace && key > before.Namespace {
			before.Namespace, before.Position = key, change.After(math.MaxInt64)
		}
	}
	return before, err
}

// feedRows returns the rows of the ranges that the feed selects, the newest first, and the place
// before which there may be more, or zero.
func (s *session) feedRows(ctx context.Context, feed change.Feed, ranges feedRanges) (rows []feedRow, end change.Place, err error) {
	type read struct {
		rows int
		last change.Place
	}
	reads := map[string]*read{} // by the first column
	var first string
	var r feedRow
	err = s.rowsOfEach(ctx, ranges.query, ranges.lists, func() {
		of := reads[first]
		if of == nil {
			of = &read{last: change.Newest}
			reads[first] = of
		}
		of.rows++
		if comparePlaces(r.Place, of.last) < 0 {
			of.last = r.Place
		}
		if r.selected(feed) {
			rows = append(rows, r)
		}
	}, &first, &r.At, &r.Namespace, &r.Revision, &r.Sequence, &r.event, &r.actor)
	for _, of := range reads {
		if of.rows == ranges.limit && comparePlaces(of.last, end) > 0 {
			end = of.last
		}
	}
	rows = slices.DeleteFunc(rows, func(r feedRow) bool { return comparePlaces(r.Place, end) < 0 })
	slices.SortFunc(rows, func(a, b feedRow) int { return comparePlaces(b.Place, a.Place) })
	return rows, end, err
}

// selected reports whether the feed has the record.
func (r *feedRow) selected(feed change.Feed) bool {
	return r.Namespace != service.AuthenticationsKey &&
		(feed.Actor == "" || r.actor == feed.Actor) &&
		(len(feed.Events) == 0 || slices.Contains(feed.Events, r.event)) &&
		(feed.Visible == nil || feed.Visible(r.Namespace))
}

func comparePlaces(a, b change.Place) int {
	return cmp.Or(cmp.Compare(a.At, b.At), strings.Compare(a.Namespace, b.Namespace), compareCursors(a.Position, b.Position))
}
