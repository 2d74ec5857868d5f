package service

import (
	"slices"
	"strings"
	"sync"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
)

// The catalog indexes the flags of a namespace for lists, filters and searches. It is
// computed at the first use of a snapshot, from that of an earlier one if there is one.

// flagFacts are the facts of the catalog that depend on one flag alone.
type flagFacts struct {
	flag      *guidon.Flag
	lowerName string
	analysis.Summary
	metadata     *flagMetadata
	additions    bool  // of the flag or its segments
	lastBoundary int64 // of it and the flags that it requires, in Unix seconds; 0 if there are none
}

var factsOf = guidon.NewFlagDerivation(func(c *guidon.CompiledFlag) *flagFacts {
	f := c.Flag()
	return &flagFacts{
		flag: f, lowerName: strings.ToLower(f.Name), Summary: analysis.Summarize(c), metadata: metadataOf(f),
		additions: hasAdditions(c), lastBoundary: c.LastBoundary(),
	}
})

func hasAdditions(c *guidon.CompiledFlag) bool {
	if c.Flag().Additions() {
		return true
	}
	for _, step := range c.Steps() {
		if step.Audience != nil && slices.ContainsFunc(step.Audience.Segments(), func(g *guidon.CompiledSegment) bool { return g.Segment().Additions() }) {
			return true
		}
	}
	return false
}

// catalog has the facts about the flags of a snapshot, one row for each of them.
type catalog struct {
	*catalogNames
	byKey  guidon.Sorted[*catalogRow]
	totals *facetCounts // of all rows
	uses   int          // of names in all rows
	mu     sync.Mutex
	orders [flagSorts]*guidon.Sorted[*catalogRow] // those that have been requested
}

// catalogNames are the numbers of names in rows. Catalogs of successive snapshots share them.
type catalogNames struct {
	owners, tags nameNumbers
	segments     nameNumbers // keys, of segments that need not exist
}

// catalogRow is a flag with the numbers of its owner, tags and segments. Facets count these,
// state and type for each request, so they are in the row: pointers would be slow.
type catalogRow struct {
	*flagFacts
	state analysis.FlagState
	kind  guidon.FlagType
	owner uint32
	tags  int       // how many of terms
	terms []uint32  // the tags, then the segments
	few   [4]uint32 // has the terms, unless there are more
}

func (r *catalogRow) tagNumbers() []uint32     { return r.terms[:r.tags] }
func (r *catalogRow) segmentNumbers() []uint32 { return r.terms[r.tags:] }

var catalogs = guidon.NewFlagsDerivation(nil, (*catalog).update)

func newCatalog() *catalog {
	return &catalog{catalogNames: &catalogNames{}, byKey: guidon.NewSorted(flagOrders[FlagsByKey], nil), totals: &facetCounts{}}
}

// update returns the catalog after the changes. c may be nil.
func (c *catalog) update(changes []guidon.FlagChange) *catalog {
	if c == nil {
		c = newCatalog()
	}
	before, after := guidon.SplitChanges(changes)
	var removed, added []*catalogRow
	for _, f := range before {
		removed = append(removed, c.row(f.Flag().Key))
	}
	for _, f := range after {
		added = append(added, c.newRow(factsOf.Of(f)))
	}
	next := c.with(removed, added)
	if next.catalogNames.len() > 2*next.uses+maxUnusedNames {
		return next.renumbered()
	}
	return next
}

// with returns the catalog without the removed rows and with the added ones.
func (c *catalog) with(removed, added []*catalogRow) *catalog {
	next := &catalog{catalogNames: c.catalogNames, byKey: c.byKey.With(removed, added), totals: c.totals.grown(c.catalogNames), uses: c.uses}
	for _, row := range removed {
		next.totals.add(row, 0, -1)
		next.uses -= row.uses()
	}
	for _, row := range added {
		next.totals.add(row, 0, 1)
		next.uses += row.uses()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for sort, order := range c.orders {
		if order != nil {
			next.orders[sort] = new(order.With(removed, added))
		}
	}
	return next
}

// maxUnusedNames limits the names that rows of earlier catalogs have left behind, besides as
// many as there are uses.
const maxUnusedNames = 1000

func (n *catalogNames) len() int {
	return len(n.owners.all()) + len(n.tags.all()) + len(n.segments.all())
}

// uses returns how many names the row has.
func (r *catalogRow) uses() int { return 1 + len(r.terms) }

// row returns the row of the flag, or nil.
func (c *catalog) row(key string) *catalogRow {
	row, _ := c.byKey.Find(func(r *catalogRow) int { return strings.Compare(r.flag.Key, key) })
	return row
}

func (n *catalogNames) newRow(facts *flagFacts) *catalogRow {
	row := &catalogRow{flagFacts: facts, state: facts.State, kind: facts.flag.Type, owner: n.owners.of(facts.metadata.owner.Value())}
	row.tags, row.terms = len(facts.metadata.tags), row.few[:0]
	for _, tag := range facts.metadata.tags {
		row.terms = append(row.terms, n.tags.of(tag.Value()))
	}
	for key := range facts.flag.SegmentKeys() {
		if number := n.segments.of(key); !slices.Contains(row.segmentNumbers(), number) {
			row.terms = append(row.terms, number)
		}
	}
	return row
}

// renumbered returns the catalog with numbers for the names that are still in use.
func (c *catalog) renumbered() *catalog {
	fresh := newCatalog()
	rows := make([]*catalogRow, 0, c.byKey.Len())
	for row := range c.byKey.All() {
		rows = append(rows, fresh.newRow(row.flagFacts))
	}
	return fresh.with(nil, rows)
}

// nameNumbers gives names their numbers. It is safe for concurrent use.
type nameNumbers struct {
	mu      sync.Mutex
	names   []string // by number
	numbers map[string]uint32
}

func (n *nameNumbers) of(name string) uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	number, known := n.numbers[name]
	if !known {
		if n.numbers == nil {
			n.numbers = map[string]uint32{}
		}
		number = uint32(len(n.names)) // #nosec G115 -- names in memory are fewer than 2^32
		n.names = append(n.names, name)
		n.numbers[name] = number
	}
	return number
}

// all returns the names by number. Those of the rows of any catalog are among them.
func (n *nameNumbers) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.names
}

// FlagSort is an order of flags. Flags that are equal in it are in order of their keys.
type FlagSort uint8

// Orders of flags.
const (
	FlagsByName FlagSort = iota // without regard to case
	FlagsByKey
	FlagsByChange
	FlagsByCreation
	flagSorts
)

// flagOrders are the comparisons of rows.
var flagOrders = [flagSorts]func(a, b *catalogRow) int{
	FlagsByName:     thenByKey(func(a, b *catalogRow) int { return strings.Compare(a.lowerName, b.lowerName) }),
	FlagsByKey:      thenByKey(func(a, b *catalogRow) int { return 0 }),
	FlagsByChange:   thenByKey(func(a, b *catalogRow) int { return a.flag.UpdatedAt.Compare(b.flag.UpdatedAt) }),
	FlagsByCreation: thenByKey(func(a, b *catalogRow) int { return a.flag.CreatedAt.Compare(b.flag.CreatedAt) }),
}

func thenByKey(compare func(a, b *catalogRow) int) func(a, b *catalogRow) int {
	return func(a, b *catalogRow) int {
		if order := compare(a, b); order != 0 {
			return order
		}
		return strings.Compare(a.flag.Key, b.flag.Key)
	}
}

// order returns the rows in the order.
func (c *catalog) order(sort FlagSort) guidon.Sorted[*catalogRow] {
	if sort == FlagsByKey {
		return c.byKey
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.orders[sort] == nil {
		c.orders[sort] = new(guidon.NewSorted(flagOrders[sort], slices.Collect(c.byKey.All())))
	}
	return *c.orders[sort]
}
