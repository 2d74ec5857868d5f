package segment

import (
	"cmp"
	"net/url"
	"time"

	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// timeForm is the form of times in attributes.
const timeForm = time.RFC3339

// shownName returns the name of a segment, or its key if it has none.
func shownName(g *guidonv1.SegmentSummary) string { return cmp.Or(g.GetName(), g.GetKey()) }

// referencesOf returns the rules and rollouts of a flag that use the segment.
func referencesOf(u *guidonv1.SegmentUse) []*guidonv1.SegmentReference {
	return append(u.GetRules()[:len(u.GetRules()):len(u.GetRules())], u.GetRollouts()...)
}

// usesAfter returns the address of the next page of uses, for a browser.
func (s *subject) usesAfter(token string) string {
	query := url.Values{"after": {token}}
	if s.At != "" {
		query.Set("at", s.At)
	}
	return s.address("used-by") + "?" + query.Encode()
}
