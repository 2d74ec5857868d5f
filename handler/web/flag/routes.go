package flag

import "github.com/guidonhq/guidon/handler/web/page"

const pattern = "/namespaces/{namespace}/flags/{flag}"

// pages are the pages of one flag.
type pages struct{}

// Routes returns the pages of one flag.
func Routes() []page.Route {
	p := pages{}
	return []page.Route{
		{Pattern: pattern, Get: p.getTargeting, Post: p.post(targetingTab)},
		{Pattern: pattern + "/variants", Get: p.getVariants, Post: p.post(variantsTab), Unchanging: true},
		{Pattern: pattern + "/details", Get: p.getDetails, Post: p.post(detailsTab), Unchanging: true},
		{Pattern: pattern + "/namespaces", Get: p.getNamespaces},
		{Pattern: pattern + "/review", Get: p.getReview, Post: page.WithForm(p.postReview)},
		{Pattern: pattern + "/turn-off", Get: p.getSwitch, Post: page.WithForm(p.postSwitch)},
		{Pattern: pattern + "/favorite", Post: page.WithForm(p.postFavorite)},
		{Pattern: pattern + "/ramp", Get: p.getRamp, Post: page.WithForm(p.postRamp)},
		{Pattern: pattern + "/copy", Get: p.getCopy, Post: page.WithForm(p.postCopy)},
		{Pattern: pattern + "/delete", Get: p.getDelete, Post: page.WithForm(p.postDelete)},
	}
}
