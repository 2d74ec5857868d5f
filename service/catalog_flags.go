package service

import (
	"iter"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
)

// FlagSummary summarizes a flag and its behavior. Its lists are shared.
type FlagSummary struct {
	Flag         *guidon.Flag
	Summary      *analysis.Summary
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
	list := &FlagList{All: c.byKey.Len()}
	if parsed.all() { // need not be searched
		list.Total, list.Facets = list.All, c.totals.facets()
		for _, row := range c.window(q) {
			list.Flags = append(list.Flags, v.summaryOf(row, now))
		}
	} else {
		v.search(c, parsed, now, list)
	}
	if list.Total == 0 {
		list.Suggestions = c.similar(parsed.words)
	}
	return list, nil
}

// window returns the flags of the window among all.
func (c *catalog) window(q FlagQuery) []*flagFacts {
	order, offset, n := c.order(q.Sort), int(q.Window.Offset), q.Window.size()
	if !q.Descending {
		return order.Part(offset, n)
	}
	end := max(order.Len()-offset, 0)
	rows := order.Part(max(end-n, 0), min(end, n))
	slices.Reverse(rows)
	return rows
}

// search fills in the flags that match the query.
func (v View) search(c *catalog, q *parsedQuery, now int64, list *FlagList) {
	m, facets := newMatcher(c, q, now), newFacetCounts()
	for row := range c.candidates(q) {
		missed, rest := m.misses(row)
		if !rest {
			continue
		}
		facets.add(row, missed, 1)
		if missed != 0 {
			continue
		}
		if q.Window.has(list.Total) {
			list.Flags = append(list.Flags, v.summaryOf(row, now))
		}
		list.Total++
	}
	list.Facets = facets.facets()
}

// candidates returns the flags that may match the query, in its order.
func (c *catalog) candidates(q *parsedQuery) iter.Seq[*flagFacts] {
	var order guidon.Sorted[*flagFacts]
	if len(q.Keys) > 0 {
		order = guidon.NewSorted(flagOrders[q.Sort], c.flagsOf(q.Keys))
	} else {
		order = c.order(q.Sort)
	}
	if q.Descending {
		return order.Backward()
	}
	return order.All()
}

// flagsOf returns the flags that exist, each once.
func (c *catalog) flagsOf(keys []string) (flags []*flagFacts) {
	for _, key := range slices.Compact(slices.Sorted(slices.Values(keys))) {
		if f := c.flag(key); f != nil {
			flags = append(flags, f)
		}
	}
	return flags
}

// summaryOf returns the summary of a flag.
func (v View) summaryOf(f *flagFacts, now int64) FlagSummary {
	s := FlagSummary{
		Flag: f.flag, Summary: &f.Summary, Owner: f.metadata.owner.Value(), Tags: f.metadata.tagTexts(),
		Review: f.review(), ReviewPassed: f.metadata.overdue(now), Segments: len(f.segments),
		Err: v.Snapshot.Compiled(f.flag.Key).Err(),
	}
	for key := range f.flag.SegmentKeys() {
		s.FirstSegment = v.segmentName(key)
		break
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
	counts := CatalogCounts{Flags: c.byKey.Len(), Segments: len(v.Snapshot.Segments())}
	for row := range c.byKey.All() {
		if row.unused(now) {
			counts.Unused++
		}
	}
	return counts
}

// Overdue returns how many flags have a review date that has passed. Nothing else that the
// catalog says of one state changes with time.
func (v View) Overdue() int {
	c, now, n := catalogs.Of(v.Snapshot), v.now().Unix(), 0
	for row := range c.byKey.All() {
		if row.metadata.overdue(now) {
			n++
		}
	}
	return n
}
