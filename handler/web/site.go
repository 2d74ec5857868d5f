package web

import (
	"slices"

	"github.com/a-h/templ"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
)

// Site renders pages. It is safe for concurrent use.
type Site struct{ *page.Site }

// New returns a site. It panics if the configuration is not valid.
func New(config page.Config) *Site { return &Site{page.NewSite(config)} }

// Mount returns the pages with their addresses. rows are those of the API, which pages run.
// It panics if an operation is missing that signing in needs.
func (s *Site) Mount(rows []exchange.Row) exchange.Mount {
	s.Use(rows, listMethods, getSelf, revokeSelf, createSession)
	routes, prefixes := s.openRoutes(), []string{page.SignInPath, page.AssetsPath}
	if !s.Interface.Disabled {
		routes = slices.Concat(routes, knownRoutes())
		prefixes = append(prefixes, "/", "/namespaces", "/settings", "/search", "/shortcuts", "/changes")
	}
	return exchange.Mount{Prefixes: prefixes, Serve: page.NewRoutes(s.Site, routes).Serve, Error: s.replyError}
}

// reply responds with a page of signing in.
func reply(v *page.Visit, status int, title string, main templ.Component) error {
	replyBare(v.Exchange, v.Site, status, title, main)
	return nil
}

func replyBare(x *exchange.Exchange, s *page.Site, status int, title string, main templ.Component) {
	x.Reply(status, "text/html; charset=utf-8", part.Render(s.Bare(page.PreferencesOf(x.Request), title, main)))
}

// run runs an operation for the session of the browser or, if there is a token, for that.
func run(v *page.Visit, name string, message proto.Message, token string) (call.Response, error) {
	request := &call.Request{Message: message, Credentials: call.Credentials{Cookie: v.Request.Header["Cookie"]}}
	if token != "" {
		request.Authorization = []string{"Bearer " + token}
	}
	return v.Site.Carry(v.Exchange, name, request)
}
