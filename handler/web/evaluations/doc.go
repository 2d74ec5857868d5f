// Package evaluations has the page with how often a flag was evaluated, and what it answered.
package evaluations

import (
	"github.com/a-h/templ"

	"github.com/guidonhq/guidon/handler/web/page"
)

// Head returns the head of the pages of a flag, of which the tab is current. It is nil if the
// flag cannot be read.
type Head func(v *page.Visit, key, tab string) templ.Component

// Routes returns the page.
func Routes(head Head) []page.Route {
	return []page.Route{{Pattern: "/namespaces/{namespace}/flags/{flag}/evaluations", Get: head.show}}
}
