package segment

import (
	"github.com/guidonhq/guidon/change"

	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// differences returns what saving the draft changes in the segment.
func (d *draft) differences(saved *guidonv1.DocumentSegment) []change.Difference {
	return review.SegmentDifferences(saved, d.document())
}

// differs reports whether saving the draft would change the segment.
func (d *draft) differs(saved *guidonv1.DocumentSegment) bool { return len(d.differences(saved)) > 0 }
