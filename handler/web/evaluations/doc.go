// Package evaluations has the page with how often a flag was evaluated, and what it answered.
package evaluations

import "github.com/guidonhq/guidon/handler/web/page"

// Routes returns the page.
func Routes() []page.Route {
	return []page.Route{{Pattern: "/namespaces/{namespace}/flags/{flag}/evaluations", Get: show}}
}
