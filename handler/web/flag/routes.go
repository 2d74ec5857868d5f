package flag

import "github.com/guidonhq/guidon/handler/web/page"

const pattern = "/namespaces/{namespace}/flags/{flag}"

// Routes returns the pages of one flag.
func Routes() []page.Route {
	return []page.Route{
		{Pattern: pattern, Get: page.With(readAt, getTargeting), Post: post(targetingTab)},
		{Pattern: pattern + "/variants", Get: page.With(read, getVariants), Post: post(variantsTab), Unchanging: true},
		{Pattern: pattern + "/details", Get: page.With(read, getDetails), Post: post(detailsTab), Unchanging: true},
		{Pattern: pattern + "/namespaces", Get: page.With(read, getNamespaces)},
		{Pattern: pattern + "/evaluations", Get: page.With(read, getEvaluations)},
		{Pattern: pattern + "/review", Get: getReview, Post: page.WithForm(postReview)},
		{Pattern: pattern + "/turn-off", Get: page.With(readToEdit, getSwitch), Post: page.WithForm(postSwitch)},
		{Pattern: pattern + "/favorite", Post: page.WithForm(postFavorite)},
		{Pattern: pattern + "/ramp", Get: getRamp, Post: page.WithForm(postRamp)},
		{Pattern: pattern + "/copy", Get: page.With(readCopy, getCopy), Post: page.WithForm(postCopy)},
		{Pattern: pattern + "/delete", Get: page.With(readToEdit, getDelete), Post: page.WithForm(postDelete)},
	}
}
