package web

import (
	"net/http"

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
	switch {
	case serve != nil:
		serve(x)
	case others != nil:
		x.Header().Set("Allow", allowed)
		x.ReplyError(exchange.ErrNoMethod)
	default:
		x.ReplyError(exchange.ErrNoRoute)
	}
}

// handlers returns the handlers of the path: for GET and HEAD, and for POST. Either may be nil.
func (p *pages) handlers(path string) (get, post func(x *exchange.Exchange)) {
	switch path {
	case signInPath:
		return p.showSignIn, p.signInWithToken
	case signOutPath:
		return nil, p.signOut
	case commandLinePath:
		if !p.Enabled(createGrant) {
			return nil, nil
		}
		return p.askForGrant, p.decideOnGrant
	}
	if page.HasAsset(path) {
		return func(x *exchange.Exchange) { page.ServeAsset(x, path) }, nil
	}
	return nil, nil
}
