// Package code has the page with the code that asks about a flag, made from the flag itself:
// its type, its variants, and the properties that it looks at.
package code

import "github.com/guidonhq/guidon/handler/web/page"

// Routes returns the page.
func Routes() []page.Route {
	return []page.Route{{Pattern: "/namespaces/{namespace}/flags/{flag}/code", Get: show, Unchanging: true}}
}
