package web

import (
	"net/http"
	"net/url"
	"slices"

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

// The addresses of the pages of signing in.
const (
	signInPath      = page.SignInPath
	signOutPath     = page.SignInPath + "/out"
	commandLinePath = page.SignInPath + "/cli"
)

// openRoutes returns the pages of signing in, and the assets.
func (s *Site) openRoutes() []page.Route {
	routes := []page.Route{
		{Pattern: page.AssetsPath + "/{build}/{name}", Get: page.ServeAsset},
		{Pattern: signInPath, Get: ifRequired(showSignIn), Post: ifRequired(withForm(signInWithToken))},
		{Pattern: signOutPath, Post: ifRequired(withForm(signOut))},
		{Pattern: commandLinePath, Get: ifRequired(askForGrant), Post: ifRequired(withForm(decideOnGrant))},
	}
	if !s.Enabled(createGrant) {
		routes = routes[:3]
	}
	for i := range routes {
		routes[i].Open = true
	}
	return routes
}

// ifRequired returns a page that says so if the server requires no credentials.
func ifRequired(serve func(v *page.Visit) error) func(v *page.Visit) error {
	return func(v *page.Visit) error {
		if v.Site.Required {
			return serve(v)
		}
		return reply(v, http.StatusOK, "No sign-in needed", openMain())
	}
}

// withForm returns the function for requests with a small form.
func withForm(fn func(v *page.Visit, form url.Values) error) func(v *page.Visit) error {
	read := func(v *page.Visit) (url.Values, error) { return page.ReadForm(v.Exchange, page.MaxSmallForm) }
	return page.With(read, fn)
}

// knownRoutes returns the pages for visitors who are known.
func knownRoutes() []page.Route {
	return slices.Concat(
		[]page.Route{{Pattern: "/", Get: start}},
		flags.Routes(), flag.Routes(), segment.Routes(), changes.Routes(), settings.Routes(), playground.Routes(), code.Routes(),
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
