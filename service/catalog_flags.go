package service

import (
	"github.com/guidonhq/guidon"
)

// FlagSummary is what a flag is and does in short. Its lists are shared.
type FlagSummary struct {
	Flag         *guidon.Flag
	Outlook      *guidon.Outlook
	Owner        string
	Tags         []string
	Review       string // the review date, or ""
	ReviewPassed bool
	FirstSegment SegmentName // or the zero SegmentName
	Err          error       // of [guidon.CompiledFlag.Err]
	Segments     int         // different ones
}

// SegmentName names a segment.
type SegmentName struct{ Key, Name string } // Name is empty if it does not exist

// FlagList is one page of the flags that match a query.
type FlagList struct {
	Flags       []FlagSummary
	Total       int // how many match
	All         int // how many the namespace has
	Facets      FlagFacets
	Suggestions []*guidon.Flag // near the words of the query, if nothing matches
}

// FlagSummaries returns a page of the flags that match the query.
func (v View) FlagSummaries(q FlagQuery) (*FlagList, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	c, now := catalogs.Of(v.Snapshot), v.now().Unix()
	parsed := q.parse()
	m, facets := newMatcher(c, parsed, now), newFacetCounter(c)
	list := &FlagList{All: len(c.rows)}
	order := c.orders[q.Sort]()
	for i := range order {
		at := order[i]
		if q.Descending {
			at = order[len(order)-1-i]
		}
		row := &c.rows[at]
		missed, rest := m.misses(row)
		if !rest {
			continue
		}
		facets.add(row, missed)
		if missed != 0 {
			continue
		}
		if q.Window.has(list.Total) {
			list.Flags = append(list.Flags, v.summaryOf(c, row, now))
		}
		list.Total++
	}
	list.Facets = facets.facets()
	if list.Total == 0 {
		list.Suggestions = c.similar(parsed.words)
	}
	return list, nil
}

// summaryOf returns the summary of a row.
func (v View) summaryOf(c *catalog, r *catalogRow, now int64) FlagSummary {
	s := FlagSummary{
		Flag: r.flag, Outlook: &r.Outlook, Owner: c.owners[r.owner], Tags: texts(r.metadata.tags),
		Review: r.review(), ReviewPassed: r.metadata.overdue(now), Segments: int(r.segments), Err: v.Snapshot.Compiled(r.flag.Key).Err(),
	}
	if segments := c.segmentsOf(r); len(segments) > 0 {
		s.FirstSegment = v.segmentName(c.segments[segments[0]])
	}
	return s
}

// segmentName returns the name of the segment, which need not exist.
func (v View) segmentName(key string) SegmentName {
	if g := v.Snapshot.Segment(key); g != nil {
		return SegmentName{key, g.Name}
	}
	return SegmentName{Key: key}
}

// CatalogCounts is how many objects a namespace has.
type CatalogCounts struct{ Flags, Segments, Unused int }

// CatalogCounts returns how many flags and segments there are, and how many of the flags
// may no longer be needed.
func (v View) CatalogCounts() CatalogCounts {
	c, now := catalogs.Of(v.Snapshot), v.now().Unix()
	counts := CatalogCounts{Flags: len(c.rows), Segments: len(v.Snapshot.Segments())}
	for i := range c.rows {
		if c.rows[i].unused(now) {
			counts.Unused++
		}
	}
	return counts
}

// Overdue returns how many flags have a review date that has passed: of what the catalog
// says of one state, nothing else changes with time.
func (v View) Overdue() int {
	c, now, n := catalogs.Of(v.Snapshot), v.now().Unix(), 0
	for i := range c.rows {
		if c.rows[i].metadata.overdue(now) {
			n++
		}
	}
	return n
}
