package service

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unique"

	"github.com/guidonhq/guidon"
)

// The catalog is what lists, filters and searches of the flags of a namespace use. It is
// computed at the first use of a snapshot and lives as long. What depends on a single flag
// is shared with the other snapshots that have the flag.

// flagFacts are what the catalog knows about a flag by itself.
type flagFacts struct {
	flag *guidon.Flag
	guidon.Outlook
	metadata *flagMetadata
}

var factsOf = guidon.NewCompiledDerivation(func(f *guidon.CompiledFlag) *flagFacts {
	return &flagFacts{flag: f.Flag(), Outlook: f.Outlook(), metadata: metadataOf(f.Flag())}
})

// catalog is what is known about the flags of a snapshot. It has a row for each of them, in
// creation order.
type catalog struct {
	rows   []catalogRow
	terms  []uint32 // of the tags and segments of all rows
	owners []string // by number; the first one is ""
	tags   []string
	// segments are the keys of the segments that flags refer to, which need not exist.
	segments []string
	orders   [flagSorts]func() []uint32 // the rows in each order
}

// catalogRow is a flag with the numbers of its owner, tags and segments. Facets
// count state and type for each request, so these are in the row: a pointer would be slow.
type catalogRow struct {
	*flagFacts
	state          guidon.FlagState
	kind           guidon.FlagType
	owner          uint32
	first          uint32 // of its terms
	tags, segments uint32 // how many
}

var catalogs = guidon.NewDerivation(newCatalog)

func newCatalog(s *guidon.Snapshot) *catalog {
	flags := s.Flags()
	c := &catalog{rows: make([]catalogRow, 0, len(flags))}
	owners, tags, segments := newNumbering[unique.Handle[string]](), newNumbering[unique.Handle[string]](), newNumbering[string]()
	owners.of(noMetadata.owner) // has the number 0
	for _, f := range flags {
		facts := factsOf.Of(s.Compiled(f.Key))
		row := catalogRow{flagFacts: facts, state: facts.State, kind: f.Type, owner: owners.of(facts.metadata.owner), first: count32(len(c.terms))}
		for _, tag := range facts.metadata.tags {
			c.terms = append(c.terms, tags.of(tag))
		}
		row.tags = count32(len(facts.metadata.tags))
		begin := len(c.terms)
		for key := range f.SegmentKeys() {
			if n := segments.of(key); !slices.Contains(c.terms[begin:], n) {
				c.terms = append(c.terms, n)
			}
		}
		row.segments = count32(len(c.terms) - begin)
		c.rows = append(c.rows, row)
	}
	c.terms = slices.Clip(c.terms)
	c.owners, c.tags, c.segments = texts(owners.names), texts(tags.names), segments.names
	for sort := range c.orders {
		c.orders[sort] = sync.OnceValue(func() []uint32 { return c.order(FlagSort(sort)) }) // #nosec G115 -- few
	}
	return c
}

// count32 returns a number of things in memory, which are fewer than 2^32.
func count32(n int) uint32 { return uint32(n) } // #nosec G115 -- see above

// numbering gives names their numbers.
type numbering[T comparable] struct {
	names   []T
	numbers map[T]uint32
}

func newNumbering[T comparable]() *numbering[T] { return &numbering[T]{numbers: map[T]uint32{}} }

func (n *numbering[T]) of(name T) uint32 {
	number, known := n.numbers[name]
	if !known {
		number = count32(len(n.names))
		n.names = append(n.names, name)
		n.numbers[name] = number
	}
	return number
}

func texts(handles []unique.Handle[string]) []string {
	list := make([]string, len(handles))
	for i, h := range handles {
		list[i] = h.Value()
	}
	return list
}

func (c *catalog) tagsOf(r *catalogRow) []uint32 { return c.terms[r.first:][:r.tags] }

func (c *catalog) segmentsOf(r *catalogRow) []uint32 { return c.terms[r.first+r.tags:][:r.segments] }

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

// order returns the numbers of the rows in the order.
func (c *catalog) order(sort FlagSort) []uint32 {
	compare := func(i, j uint32) int { return 0 }
	switch sort {
	case FlagsByName:
		compare = byName(c.rows, func(r catalogRow) string { return r.flag.Name })
	case FlagsByChange:
		compare = func(i, j uint32) int { return c.rows[i].flag.UpdatedAt.Compare(c.rows[j].flag.UpdatedAt) }
	case FlagsByCreation:
		compare = func(i, j uint32) int { return c.rows[i].flag.CreatedAt.Compare(c.rows[j].flag.CreatedAt) }
	}
	return ordered(len(c.rows), func(i, j uint32) int {
		return cmp.Or(compare(i, j), strings.Compare(c.rows[i].flag.Key, c.rows[j].flag.Key))
	})
}

// byName returns a comparison of items by number, by their names without regard to case.
func byName[T any](items []T, name func(T) string) func(i, j uint32) int {
	names := make([]string, len(items))
	for i, item := range items {
		names[i] = strings.ToLower(name(item))
	}
	return func(i, j uint32) int { return strings.Compare(names[i], names[j]) }
}
