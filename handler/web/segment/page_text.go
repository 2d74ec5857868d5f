package segment

import (
	"cmp"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// shownName returns the name of a segment, or its key if it has none.
func shownName(g *guidonv1.SegmentSummary) string { return cmp.Or(g.GetName(), g.GetKey()) }

// referencesOf returns the rules and rollouts of a flag that use the segment.
func referencesOf(u *guidonv1.SegmentUse) []*guidonv1.SegmentReference {
	return append(u.GetRules()[:len(u.GetRules()):len(u.GetRules())], u.GetRollouts()...)
}

// usesAfter returns the address of the next page of uses, for a browser.
func (s *subject) usesAfter(token string) string {
	return s.address("used-by") + page.Query("after", token, "at", s.At)
}
