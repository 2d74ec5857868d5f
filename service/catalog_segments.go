package service

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/guidonhq/guidon"
)

// SegmentQuery selects segments.
type SegmentQuery struct {
	// Text has words that must all occur in key, name, description, or a property, value or
	// description of a constraint.
	Text       string
	Sort       SegmentSort
	Descending bool
	Window     Window
}

// Validate returns InvalidArgument if the query breaks a rule, whatever the namespace.
func (q *SegmentQuery) Validate() error {
	if err := checkQuery(q.Text, maxQuery); err != nil {
		return err
	}
	if q.Sort >= segmentSorts {
		return invalidField("sort", "must be a known order")
	}
	return q.Window.Validate()
}

// SegmentSort is an order of segments. Segments that are equal in it are in order of their
// keys.
type SegmentSort uint8

// Orders of segments.
const (
	SegmentsByName SegmentSort = iota // without regard to case
	SegmentsByKey
	SegmentsByUse
	SegmentsByChange
	segmentSorts
)

// SegmentList is one page of the segments that match a query.
type SegmentList struct {
	Segments []SegmentSummary
	Total    int // how many match
	All      int // how many the namespace has
}

// SegmentSummary is what a segment is in short.
type SegmentSummary struct {
	Segment    *guidon.Segment
	Conditions string // in words
	Flags      int    // how many refer to it
}

// SegmentSummaries returns a page of the segments that match the query.
func (v View) SegmentSummaries(q SegmentQuery) (*SegmentList, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	segments := v.Snapshot.Segments()
	var words []sought
	for _, w := range wordsOf(q.Text) {
		words = append(words, newSought(w.text()))
	}
	list := &SegmentList{All: len(segments)}
	order := segmentOrders.Of(v.Snapshot)[q.Sort]()
	for i := range order {
		at := order[i]
		if q.Descending {
			at = order[len(order)-1-i]
		}
		g := segments[at]
		if !hasWords(g, words) {
			continue
		}
		if q.Window.has(list.Total) {
			list.Segments = append(list.Segments, SegmentSummary{
				Segment: g, Conditions: g.Describe(maxSummaryText), Flags: len(v.Snapshot.SegmentUses(g.Key)),
			})
		}
		list.Total++
	}
	return list, nil
}

// hasWords reports whether all words occur in the segment.
func hasWords(g *guidon.Segment, words []sought) bool {
	for i := range words {
		word := &words[i]
		found := word.occursIn(g.Key) || word.occursIn(g.Name) || word.occursIn(g.Description) ||
			slices.ContainsFunc(g.Constraints, func(c *guidon.Constraint) bool {
				return word.occursIn(c.Property) || word.occursIn(c.Value) || word.occursIn(c.Description)
			})
		if !found {
			return false
		}
	}
	return true
}

// segmentOrders are the numbers of the segments of a snapshot in each order.
var segmentOrders = guidon.NewDerivation(func(s *guidon.Snapshot) (orders [segmentSorts]func() []uint32) {
	for sort := range orders {
		orders[sort] = sync.OnceValue(func() []uint32 { return orderSegments(s, SegmentSort(sort)) }) // #nosec G115 -- few
	}
	return orders
})

func orderSegments(s *guidon.Snapshot, sort SegmentSort) []uint32 {
	segments := s.Segments()
	compare := func(i, j uint32) int { return 0 }
	switch sort {
	case SegmentsByName:
		compare = byName(segments, func(g *guidon.Segment) string { return g.Name })
	case SegmentsByUse:
		compare = func(i, j uint32) int {
			return cmp.Compare(len(s.SegmentUses(segments[i].Key)), len(s.SegmentUses(segments[j].Key)))
		}
	case SegmentsByChange:
		compare = func(i, j uint32) int { return segments[i].UpdatedAt.Compare(segments[j].UpdatedAt) }
	}
	return ordered(len(segments), func(i, j uint32) int {
		return cmp.Or(compare(i, j), strings.Compare(segments[i].Key, segments[j].Key))
	})
}

// ordered returns the numbers below n in the order.
func ordered(n int, compare func(i, j uint32) int) []uint32 {
	numbers := make([]uint32, n)
	for i := range numbers {
		numbers[i] = count32(i)
	}
	slices.SortFunc(numbers, compare)
	return numbers
}
