package web

import (
	"github.com/a-h/templ"

	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
)

// Site renders pages. It is safe for concurrent use.
type Site struct{ *page.Site }

// New returns a site. It panics if the configuration is not valid.
func New(config page.Config) *Site { return &Site{page.NewSite(config)} }

// at returns the site as the sender of the request reaches it.
func (s *Site) at(x *exchange.Exchange) *Site { return &Site{s.For(x.Request)} }

// The addresses of the pages of signing in.
const (
	signInPath      = page.SignInPath
	signOutPath     = page.SignInPath + "/out"
	commandLinePath = page.SignInPath + "/cli"
)

// pages serves the pages of a site. It is safe for concurrent use.
type pages struct {
	*Site
	routes *page.Routes
}

// Mount returns the pages with their addresses. rows are those of the API, which pages run.
// It panics if an operation is missing that signing in needs.
func (s *Site) Mount(rows []exchange.Row) exchange.Mount {
	s.Use(rows, listMethods, getSelf, revokeSelf, createSession)
	p := &pages{Site: s, routes: page.NewRoutes(s.Site)}
	prefixes := []string{page.SignInPath, page.AssetsPath}
	if !s.Interface.Disabled {
		p.routes = routes(s.Site)
		prefixes = append(prefixes, "/", "/namespaces", "/settings", "/search", "/shortcuts", "/changes")
	}
	return exchange.Mount{Prefixes: prefixes, Serve: p.serve, Error: s.replyError}
}

// document is the model of a page of signing in. Its markup is in the .templ file beside the
// code that shows it.
type document interface {
	title() string
	main(s *Site) templ.Component
}

// reply responds with a page of signing in.
func (s *Site) reply(x *exchange.Exchange, status int, d document) error {
	x.Reply(status, "text/html; charset=utf-8", part.Render(s.Bare(page.PreferencesOf(x.Request), d.title(), d.main(s))))
	return nil
}

// run runs an operation for the session of the browser or, if there is a token, for that.
func (s *Site) run(x *exchange.Exchange, name string, request *call.Request, token string) (call.Response, error) {
	request.Credentials = call.Credentials{Cookie: x.Request.Header["Cookie"]}
	if token != "" {
		request.Authorization = []string{"Bearer " + token}
	}
	return s.Carry(x, name, request)
}
