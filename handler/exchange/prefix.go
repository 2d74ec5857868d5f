package exchange

import (
	"net/http"
	"strings"
)

// Prefix is a part of the path below which all responses have the same form, even if no
// route matches.
type Prefix struct {
	Path          string
	Errors        ErrorForm
	TrailingSlash bool // one slash at the end is ignored (contract 1.5)
	LeadingSlash  bool // any number of slashes at the start is ignored (OFREP 1)
	Preflight     int  // status of a preflight response; 0 means 200
	ForgetSession bool // a 401 makes the browser forget its session (contract 10.4)
}

func (p *Prefix) has(path string) bool {
	if p.LeadingSlash && strings.HasPrefix(path, "//") {
		path = "/" + strings.TrimLeft(path, "/")
	}
	return under(path, p.Path)
}

// under reports whether the path is the prefix or has more segments.
func under(path, prefix string) bool {
	rest, ok := strings.CutPrefix(path, prefix)
	return ok && (rest == "" || rest[0] == '/')
}

// prefixOf returns the longest prefix that the path is under, or nil.
func (t *Router) prefixOf(path string) (longest *Prefix) {
	for i := range t.prefixes {
		if p := &t.prefixes[i]; p.has(path) && (longest == nil || len(p.Path) > len(longest.Path)) {
			longest = p
		}
	}
	return longest
}

func (t *Router) path(path string) string {
	p := t.prefixOf(path)
	if p == nil {
		return path
	}
	if p.LeadingSlash {
		path = path[strings.Index(path, p.Path):]
	}
	if p.TrailingSlash && strings.HasSuffix(path, "/") {
		return path[:len(path)-1]
	}
	return path
}

// Path returns the path of the request as it is matched against the routes.
func (x *Exchange) Path() string { return x.router.path(x.Request.URL.Path) }

// errorsOf returns the form of the errors of an exchange: that of its route or, if there is
// none, of its path.
func (t *Router) errorsOf(x *Exchange) ErrorForm {
	if x.route != nil {
		return x.route.errors
	}
	if p := t.prefixOf(x.Request.URL.Path); p != nil {
		return p.Errors
	}
	return Messages
}

// serveNotFound responds to a path without a route: below a prefix in the form of its errors,
// and elsewhere in that of the pages, if there are any (contract 1.6).
func serveNotFound(w http.ResponseWriter, r *http.Request) {
	x := w.(*Exchange)
	if x.router.prefixOf(r.URL.Path) != nil {
		x.ReplyError(ErrNoRoute)
		return
	}
	x.Event.Err = ErrNoRoute
	x.router.elsewhere(x, ErrNoRoute)
}

// replyPlain responds to a path that is neither below a prefix nor a page.
func replyPlain(x *Exchange, _ error) {
	header := x.Header()
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-store")
	x.Reply(http.StatusNotFound, "text/plain; charset=utf-8", []byte("404 page not found\n"))
}
