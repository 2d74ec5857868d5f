// Package code has the page with the code that asks about a flag, made from the flag itself:
// its type, its variants, and the properties that it looks at.
package code

import (
	"github.com/a-h/templ"

	"github.com/guidonhq/guidon/handler/web/page"
)

// Head returns the head of the pages of a flag, of which the tab is current. It is nil if the
// flag cannot be read.
type Head func(v *page.Visit, key, tab string) templ.Component

// Routes returns the page.
func Routes(head Head) []page.Route {
	return []page.Route{{Pattern: "/namespaces/{namespace}/flags/{flag}/code", Get: head.show, Unchanging: true}}
}
