// Package flags has the pages about the flags of a namespace: the list with its filters, what
// is done to several flags together, new flags, flags that may no longer be needed, and the search,
// whose results the palette shows over any page.
package flags

import "github.com/guidonhq/guidon/handler/web/page"

// Routes returns the pages.
func Routes() []page.Route {
	return []page.Route{
		{Pattern: "/namespaces/{namespace}/flags", Get: showList, Post: page.WithForm(changeSome), Unchanging: true},
		{Pattern: "/namespaces/{namespace}/new-flag", Get: showNew, Post: page.WithForm(createFlag)},
		{Pattern: "/namespaces/{namespace}/unused", Get: showUnused, Post: page.WithForm(snooze), Unchanging: true},
		{Pattern: "/search", Get: showSearch},
	}
}
