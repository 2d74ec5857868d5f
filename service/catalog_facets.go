package service

import (
	"cmp"
	"slices"
	"strings"
)

// FlagFacets count the flags that match a query. Each facet counts the flags that match if
// its own list is left out.
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

// facetCounts count rows by facets.
type facetCounts struct {
	states                 [3]int
	types                  [2]int
	owners, tags, segments []int // by number
}

// grown returns a copy with room for all names.
func (c *facetCounts) grown(n *catalogNames) *facetCounts {
	grow := func(counts []int, names *nameNumbers) []int {
		return append(slices.Clone(counts), make([]int, len(names.all())-len(counts))...)
	}
	return &facetCounts{c.states, c.types, grow(c.owners, &n.owners), grow(c.tags, &n.tags), grow(c.segments, &n.segments)}
}

// add adds n for a row that misses at most one facet, for which alone it then counts.
func (c *facetCounts) add(r *catalogRow, missed facet, n int) {
	counts := func(f facet) bool { return missed&^f == 0 }
	if counts(byState) {
		c.states[r.state] += n
	}
	if counts(byType) && r.kind.Known() {
		c.types[r.kind] += n
	}
	if counts(byOwner) {
		c.owners[r.owner] += n
	}
	if counts(byTag) {
		for _, number := range r.tagNumbers() {
			c.tags[number] += n
		}
	}
	if counts(bySegment) {
		for _, number := range r.segmentNumbers() {
			c.segments[number] += n
		}
	}
}

func (c *facetCounts) facets(n *catalogNames) FlagFacets {
	return FlagFacets{
		States: c.states, Types: c.types,
		Owners:   mostFrequent(n.owners.all(), c.owners),
		Tags:     mostFrequent(n.tags.all(), c.tags),
		Segments: mostFrequent(n.segments.all(), c.segments),
	}
}

// byCount orders counts, the highest first, and those that are equal in alphabetical order.
func byCount(a, b FacetCount) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Value, b.Value))
}

// mostFrequent returns the names with the highest counts.
func mostFrequent(names []string, counts []int) (f FacetCounts) {
	best := newTop(maxFacet, byCount)
	for i, n := range counts { // there may be more names, which came later
		if n > 0 {
			best.add(FacetCount{names[i], n})
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
