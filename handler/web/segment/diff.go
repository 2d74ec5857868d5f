package segment

import (
	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// maxDiff limits the segments whose documents are compared, in bytes of their texts.
const maxDiff = 1 << 20

// difference returns the difference between the documents of two segments in unified format,
// and whether they are small enough. A nil segment does not exist.
func difference(before, after *guidonv1.DocumentSegment) (text string, ok bool) {
	if size(before)+size(after) > maxDiff {
		return "", false
	}
	text, err := document.DiffObjects("saved", documentOf(before), "edited", documentOf(after))
	return text, err == nil
}

func size(g *guidonv1.DocumentSegment) int {
	n := len(g.GetName()) + len(g.GetDescription())
	for _, c := range g.GetConstraints() {
		n += len(c.GetProperty()) + len(c.GetValue()) + len(c.GetDescription())
	}
	return n
}

// documentOf returns a document with only the segment.
func documentOf(g *guidonv1.DocumentSegment) *service.Document {
	if g == nil {
		return nil
	}
	out := &service.DocumentSegment{Key: g.GetKey(), Name: g.GetName(), Description: g.GetDescription(), MatchType: guidon.MatchType(g.GetMatchType())} // #nosec G115 -- few
	for _, c := range g.GetConstraints() {
		out.Constraints = append(out.Constraints, &service.DocumentConstraint{
			Type: guidon.ComparisonType(c.GetType()), Property: c.GetProperty(), Operator: c.GetOperator(), Value: c.GetValue(), Description: c.GetDescription(), // #nosec G115 -- as stored
		})
	}
	return &service.Document{Namespace: service.DocumentNamespace{Key: guidon.DefaultNamespace}, Segments: []*service.DocumentSegment{out}}
}
