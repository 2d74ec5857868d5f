// Package playground has the page that explains the result of an entity for a flag: as of now
// or of a moment, from the saved flag or from a draft of it. It also says what an entity gets
// from all flags of a namespace.
//
// Everything that was asked is in the form. A link carries it in the fragment of the address,
// which browsers do not send, so that it is in no log.
package playground

import "github.com/guidonhq/guidon/handler/web/page"

// Routes returns the page.
func Routes() []page.Route {
	return []page.Route{{Pattern: "/namespaces/{namespace}/playground", Get: show, Post: page.WithForm(ask)}}
}
