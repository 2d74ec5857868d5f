package flag

import (
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/flipt"
)

const pattern = "/namespaces/{namespace}/flags/{flag}"

// pages are the pages of one flag.
type pages struct {
	// asks reports whether dangerous acts in a namespace take its key, typed.
	asks func(n *flipt.Namespace) bool
}

// asks is [pages].asks. It answers for the setting "ask before changes" of a namespace, which
// none has yet; tests replace it.
var asks = func(*flipt.Namespace) bool { return false }

// Routes returns the pages of one flag.
func Routes(*page.Site) []page.Route {
	p := pages{asks: asks}
	return []page.Route{
		{Pattern: pattern, Get: p.getTargeting, Post: p.post(targetingTab)},
		{Pattern: pattern + "/variants", Get: p.getVariants, Post: p.post(variantsTab), Unchanging: true},
		{Pattern: pattern + "/details", Get: p.getDetails, Post: p.post(detailsTab), Unchanging: true},
		{Pattern: pattern + "/review", Get: p.getReview, Post: p.postReview},
		{Pattern: pattern + "/turn-off", Get: p.getSwitch, Post: p.postSwitch},
		{Pattern: pattern + "/copy", Get: p.getCopy, Post: p.postCopy},
		{Pattern: pattern + "/delete", Get: p.getDelete, Post: p.postDelete},
	}
}
