package service

import (
	"cmp"
	"slices"
	"strings"
)

// FlagFacets count the flags that match a query. Each facet counts what matches if its own
// list is left out.
type FlagFacets struct {
	States   [3]int // by state
	Types    [2]int // by type
	Owners   FacetCounts
	Tags     FacetCounts
	Segments FacetCounts
}

// FacetCounts are the most frequent values of a facet.
type FacetCounts struct {
	Counts []FacetCount // at most 20
	More   int          // other values
}

// FacetCount is how many flags have a value.
type FacetCount struct {
	Value string
	Count int
}

// maxFacet limits the values of a facet.
const maxFacet = 20

// facetCounter counts rows by facets.
type facetCounter struct {
	*catalog
	states                 [3]int
	types                  [2]int
	owners, tags, segments []uint32 // by number
}

func newFacetCounter(c *catalog) *facetCounter {
	return &facetCounter{
		catalog: c, owners: make([]uint32, len(c.owners)), tags: make([]uint32, len(c.tags)), segments: make([]uint32, len(c.segments)),
	}
}

// add counts a row that misses at most one facet, for which alone it then counts.
func (c *facetCounter) add(r *catalogRow, missed facet) {
	counts := func(f facet) bool { return missed&^f == 0 }
	if counts(byState) {
		c.states[r.state]++
	}
	if counts(byType) && r.kind.Known() {
		c.types[r.kind]++
	}
	if counts(byOwner) {
		c.owners[r.owner]++
	}
	if counts(byTag) {
		for _, n := range c.tagsOf(r) {
			c.tags[n]++
		}
	}
	if counts(bySegment) {
		for _, n := range c.segmentsOf(r) {
			c.segments[n]++
		}
	}
}

func (c *facetCounter) facets() FlagFacets {
	return FlagFacets{
		States: c.states, Types: c.types,
		Owners:   mostFrequent(c.catalog.owners, c.owners),
		Tags:     mostFrequent(c.catalog.tags, c.tags),
		Segments: mostFrequent(c.catalog.segments, c.segments),
	}
}

// mostFrequent returns the names with the highest counts, those with the same count in
// alphabetical order.
func mostFrequent(names []string, counts []uint32) (f FacetCounts) {
	best := newTop(maxFacet, func(a, b FacetCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Value, b.Value))
	})
	for i, n := range counts {
		if n > 0 {
			best.add(FacetCount{names[i], int(n)})
		}
	}
	return FacetCounts{best.items, best.total - len(best.items)}
}

// top keeps the first items in an order.
type top[T any] struct {
	items   []T
	total   int // added
	compare func(a, b T) int
}

func newTop[T any](most int, compare func(a, b T) int) *top[T] {
	return &top[T]{items: make([]T, 0, most), compare: compare}
}

func (t *top[T]) add(item T) {
	t.total++
	full := len(t.items) == cap(t.items)
	if full && (len(t.items) == 0 || t.compare(item, t.items[len(t.items)-1]) >= 0) {
		return
	}
	at, _ := slices.BinarySearchFunc(t.items, item, t.compare)
	if full {
		t.items = t.items[:len(t.items)-1]
	}
	t.items = slices.Insert(t.items, at, item)
}
