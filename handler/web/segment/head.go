package segment

import (
	"github.com/a-h/templ"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// Head returns the head above the tab of a segment that is a page of another package. It is nil
// if the segment cannot be read.
func Head(v *page.Visit, g *flipt.Segment, tab string) templ.Component {
	s := &subject{Visit: v, Key: g.GetKey()}
	content, state, err := page.GetSegmentContent.RunAt(v, &guidonv1.GetSegmentContentRequest{NamespaceKey: s.reference(), Key: s.Key})
	if err != nil {
		return nil
	}
	s.Saved, s.Revision = content.GetSegment(), state.Revision
	if s.readAround() != nil {
		return nil
	}
	return s.head(tab, false)
}
