package segment

import (
	"github.com/guidonhq/guidon/change"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// differences returns what saving the draft changes in the segment.
func (d *draft) differences(saved *guidonv1.DocumentSegment) []change.Difference {
	return review.SegmentDifferences(saved, d.document())
}

// differs reports whether saving the draft would change the segment.
func (d *draft) differs(saved *guidonv1.DocumentSegment) bool { return len(d.differences(saved)) > 0 }

// edited reports whether the constraint with the index differs from the saved one.
func (d *draft) edited(i int, saved *guidonv1.DocumentSegment) bool {
	c := &d.Constraints[i]
	return c.From < 0 || c.From >= len(saved.GetConstraints()) || !proto.Equal(c.document(), saved.GetConstraints()[c.From])
}

// insert inserts a constraint at the index.
func (d *draft) insert(i int, c constraint) { d.Constraints = slices.Insert(d.Constraints, i, c) }
