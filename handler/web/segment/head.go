package segment

import (
	"github.com/a-h/templ"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// Head returns the name of a segment, and the head above a tab that is a page of another package.
func Head(v *page.Visit, key, tab string) (name string, head templ.Component, err error) {
	s := &subject{Visit: v, Key: key}
	content, state, err := page.GetSegmentContent.RunAt(v, &guidonv1.GetSegmentContentRequest{NamespaceKey: s.reference(), Key: s.Key})
	if err != nil {
		return "", nil, err
	}
	s.Saved, s.Revision = content.GetSegment(), state.Revision
	err = s.readAround()
	return s.name(), s.head(tab, false), err
}
