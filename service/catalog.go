package service

import (
	"slices"
	"strings"
	"sync"
	"unique"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/lists"
)

// The catalog indexes the flags of a namespace for lists, filters and searches. It is
// computed at the first use of a snapshot, from that of an earlier one if there is one.

// flagFacts are the facts of the catalog that depend on one flag alone.
type flagFacts struct {
	flag      *guidon.Flag
	lowerName string
	analysis.Summary
	metadata     *flagMetadata
	segments     []unique.Handle[string] // keys, of segments that need not exist
	additions    bool                    // of the flag or its segments
	lastBoundary int64                   // of it and the flags that it requires, in Unix seconds; 0 if there are none
}

var factsOf = guidon.NewFlagDerivation(func(c *guidon.CompiledFlag) *flagFacts {
	f := c.Flag()
	return &flagFacts{
		flag: f, lowerName: strings.ToLower(f.Name), Summary: analysis.Summarize(c), metadata: metadataOf(f),
		segments:  lists.Distinct(lists.Map(slices.Collect(f.SegmentKeys()), unique.Make)),
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

// catalog has the facts about the flags of a snapshot.
type catalog struct {
	byKey  guidon.Sorted[*flagFacts]
	totals *facetCounts // of all flags
	mu     sync.Mutex
	orders [flagSorts]*guidon.Sorted[*flagFacts] // those that have been requested
}

var catalogs = guidon.NewFlagsDerivation(nil, (*catalog).update)

// update returns the catalog after the changes. c may be nil.
func (c *catalog) update(changes []guidon.FlagChange) *catalog {
	if c == nil {
		c = &catalog{byKey: guidon.NewSorted(flagOrders[FlagsByKey], nil), totals: newFacetCounts()}
	}
	before, after := guidon.SplitChanges(changes)
	removed := lists.Map(before, func(f *guidon.CompiledFlag) *flagFacts { return c.flag(f.Flag().Key) })
	added := lists.Map(after, factsOf.Of)
	next := &catalog{byKey: c.byKey.With(removed, added), totals: c.totals.clone()}
	for _, f := range removed {
		next.totals.add(f, 0, -1)
	}
	for _, f := range added {
		next.totals.add(f, 0, 1)
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

// flag returns the facts of the flag with the key, or nil.
func (c *catalog) flag(key string) *flagFacts {
	f, _ := c.byKey.Find(func(f *flagFacts) int { return strings.Compare(f.flag.Key, key) })
	return f
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

// flagOrders are the comparisons of flags.
var flagOrders = [flagSorts]func(a, b *flagFacts) int{
	FlagsByName:     thenByKey(func(a, b *flagFacts) int { return strings.Compare(a.lowerName, b.lowerName) }),
	FlagsByKey:      thenByKey(func(a, b *flagFacts) int { return 0 }),
	FlagsByChange:   thenByKey(func(a, b *flagFacts) int { return a.flag.UpdatedAt.Compare(b.flag.UpdatedAt) }),
	FlagsByCreation: thenByKey(func(a, b *flagFacts) int { return a.flag.CreatedAt.Compare(b.flag.CreatedAt) }),
}

func thenByKey(compare func(a, b *flagFacts) int) func(a, b *flagFacts) int {
	return func(a, b *flagFacts) int {
		if order := compare(a, b); order != 0 {
			return order
		}
		return strings.Compare(a.flag.Key, b.flag.Key)
	}
}

// order returns the flags in the order.
func (c *catalog) order(sort FlagSort) guidon.Sorted[*flagFacts] {
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
