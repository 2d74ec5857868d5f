package service

import (
	"cmp"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/lists"
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

// SegmentSummary summarizes a segment.
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
	words := lists.Map(wordsOf(q.Text), queryWord.text)
	segments := segmentOrders[q.Sort].Of(v.Snapshot)
	list := &SegmentList{All: len(segments)}
	for i, g := range segments {
		if q.Descending {
			g = segments[len(segments)-1-i]
		}
		if !hasWords(g, words) {
			continue
		}
		if q.Window.has(list.Total) {
			list.Segments = append(list.Segments, SegmentSummary{
				Segment: g, Conditions: analysis.DescribeSegment(g, maxSummaryText), Flags: v.Snapshot.SegmentUsers(g.Key).Len(),
			})
		}
		list.Total++
	}
	return list, nil
}

// hasWords reports whether all words occur in the segment.
func hasWords(g *guidon.Segment, words []string) bool {
	return !slices.ContainsFunc(words, func(word string) bool {
		return !occursIn(word, g.Key, g.Name, g.Description) && !slices.ContainsFunc(g.Constraints, func(c *guidon.Constraint) bool {
			return occursIn(word, c.Property, c.Value, c.Description)
		})
	})
}

// segmentOrders are the segments of a snapshot in each order.
var segmentOrders = [segmentSorts]*guidon.Derivation[[]*guidon.Segment]{
	SegmentsByName: guidon.NewSegmentsDerivation(func(segments []*guidon.Segment) []*guidon.Segment {
		names := make(map[*guidon.Segment]string, len(segments))
		for _, g := range segments {
			names[g] = strings.ToLower(g.Name)
		}
		return sortSegments(segments, func(a, b *guidon.Segment) int { return strings.Compare(names[a], names[b]) })
	}),
	SegmentsByKey: guidon.NewSegmentsDerivation(func(segments []*guidon.Segment) []*guidon.Segment {
		return sortSegments(segments, func(a, b *guidon.Segment) int { return 0 })
	}),
	SegmentsByUse: guidon.NewDerivation(func(s *guidon.Snapshot) []*guidon.Segment {
		return sortSegments(s.Segments(), func(a, b *guidon.Segment) int {
			return cmp.Compare(s.SegmentUsers(a.Key).Len(), s.SegmentUsers(b.Key).Len())
		})
	}),
	SegmentsByChange: guidon.NewSegmentsDerivation(func(segments []*guidon.Segment) []*guidon.Segment {
		return sortSegments(segments, func(a, b *guidon.Segment) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
	}),
}

func sortSegments(segments []*guidon.Segment, compare func(a, b *guidon.Segment) int) []*guidon.Segment {
	return slices.SortedFunc(slices.Values(segments), func(a, b *guidon.Segment) int {
		return cmp.Or(compare(a, b), strings.Compare(a.Key, b.Key))
	})
}
