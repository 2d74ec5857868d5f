package service

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unique"
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

// facetCounts count flags by facets.
type facetCounts struct {
	states                 [3]int
	types                  [2]int
	owners, tags, segments nameCounts
}

// nameCounts count flags by a name that they have.
type nameCounts map[unique.Handle[string]]int

func (c nameCounts) add(name unique.Handle[string], n int) {
	if c[name] += n; n < 0 && c[name] == 0 {
		delete(c, name)
	}
}

func newFacetCounts() *facetCounts {
	return &facetCounts{owners: nameCounts{}, tags: nameCounts{}, segments: nameCounts{}}
}

func (c *facetCounts) clone() *facetCounts {
	return &facetCounts{c.states, c.types, maps.Clone(c.owners), maps.Clone(c.tags), maps.Clone(c.segments)}
}

// add adds n for a flag that misses at most one facet, for which alone it then counts.
func (c *facetCounts) add(f *flagFacts, missed facet, n int) {
	counts := func(one facet) bool { return missed&^one == 0 }
	if counts(byState) {
		c.states[f.State] += n
	}
	if counts(byType) && f.flag.Type.Known() {
		c.types[f.flag.Type] += n
	}
	if counts(byOwner) {
		c.owners.add(f.metadata.owner, n)
	}
	if counts(byTag) {
		for _, tag := range f.metadata.tags {
			c.tags.add(tag, n)
		}
	}
	if counts(bySegment) {
		for _, key := range f.segments {
			c.segments.add(key, n)
		}
	}
}

func (c *facetCounts) facets() FlagFacets {
	return FlagFacets{
		States: c.states, Types: c.types,
		Owners: c.owners.mostFrequent(), Tags: c.tags.mostFrequent(), Segments: c.segments.mostFrequent(),
	}
}

// byCount orders counts, the highest first, and those that are equal in alphabetical order.
func byCount(a, b FacetCount) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Value, b.Value))
}

// mostFrequent returns the names with the highest counts.
func (c nameCounts) mostFrequent() FacetCounts {
	best := newTop(maxFacet, byCount)
	for name, n := range c {
		best.add(FacetCount{name.Value(), n})
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
