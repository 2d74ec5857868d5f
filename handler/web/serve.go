package web

import (
	"net/http"
	"net/url"

	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/web/page"
)

// serve serves all addresses of the mount.
func (p *pages) serve(x *exchange.Exchange) {
	if p.routes.Serve(x) {
		return
	}
	p = &pages{Site: p.at(x), routes: p.routes}
	page.Protect(x)
	get, post := p.handlers(x.Request.URL.Path)
	serve, others, allowed := get, post, http.MethodPost
	if x.Request.Method == http.MethodPost {
		serve, others, allowed = post, get, "GET, HEAD"
	}
	err := exchange.ErrNoRoute
	switch {
	case serve != nil:
		err = serve(x)
	case others != nil:
		x.Header().Set("Allow", allowed)
		err = exchange.ErrNoMethod
	}
	if err != nil {
		x.ReplyError(err)
	}
}

// handler answers a request, or returns the error to answer with.
type handler = func(x *exchange.Exchange) error

// handlers returns the handlers of the path: for GET and HEAD, and for POST. Either may be nil.
func (p *pages) handlers(path string) (get, post handler) {
	switch path {
	case signInPath:
		return p.ifRequired(p.showSignIn), p.ifRequired(withForm(p.signInWithToken))
	case signOutPath:
		return nil, p.ifRequired(withForm(p.signOut))
	case commandLinePath:
		if !p.Enabled(createGrant) {
			return nil, nil
		}
		return p.ifRequired(p.askForGrant), p.ifRequired(withForm(p.decideOnGrant))
	}
	if page.HasAsset(path) {
		return func(x *exchange.Exchange) error { return page.ServeAsset(x, path) }, nil
	}
	return nil, nil
}

// ifRequired returns a handler that says so if the server requires no credentials.
func (p *pages) ifRequired(serve handler) handler {
	if p.Required {
		return serve
	}
	return func(x *exchange.Exchange) error { return p.reply(x, http.StatusOK, openPage{}) }
}

// withForm returns the handler of a form.
func withForm(serve func(x *exchange.Exchange, form url.Values) error) handler {
	return func(x *exchange.Exchange) error {
		form, err := page.ReadForm(x, page.MaxSmallForm)
		if err != nil {
			return err
		}
		return serve(x, form)
	}
}
