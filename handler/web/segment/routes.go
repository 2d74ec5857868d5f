package segment

import "github.com/guidonhq/guidon/handler/web/page"

// kindSegment is the kind of segments in change records.
const kindSegment = "segment"

// Routes returns the pages of segments.
func Routes() []page.Route {
	const one = "/namespaces/{namespace}/segments/{segment}"
	return []page.Route{
		{Pattern: "/namespaces/{namespace}/segments", Get: showList, Unchanging: true},
		{Pattern: "/namespaces/{namespace}/new-segment", Get: showNew, Post: postNew, Unchanging: true},
		{Pattern: one, Get: page.With(readAll, showSegment), Post: postSegment, Unchanging: true},
		{Pattern: one + "/used-by", Get: page.With(readAll, showUses), Unchanging: true},
		{Pattern: one + "/delete", Get: page.With(readAll, askDelete), Post: page.With(readAll, postDelete), Unchanging: true},
	}
}
