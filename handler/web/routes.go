package web

import (
	"net/http"

	"github.com/guidonhq/guidon/handler/web/changes"
	"github.com/guidonhq/guidon/handler/web/code"
	"github.com/guidonhq/guidon/handler/web/flag"
	"github.com/guidonhq/guidon/handler/web/flags"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/playground"
	"github.com/guidonhq/guidon/handler/web/segment"
	"github.com/guidonhq/guidon/handler/web/settings"
	"github.com/guidonhq/guidon/handler/web/transfer"
)

// routes returns the pages of a site, besides those of signing in.
func routes(s *page.Site) *page.Routes {
	return page.NewRoutes(s,
		[]page.Route{{Pattern: "/", Get: start}},
		flags.Routes(),
		flag.Routes(),
		segment.Routes(),
		changes.Routes(),
		settings.Routes(),
		playground.Routes(),
		code.Routes(),
		transfer.Routes(),
	)
}

// start sends the visitor to the flags of a namespace.
func start(v *page.Visit) error {
	if current := v.Current(); current != nil {
		return v.Redirect(page.Below("namespaces", current.GetKey(), "flags"))
	}
	return v.Reply(http.StatusOK, page.Page{Title: "No namespaces", Main: noNamespaces(v)})
}
