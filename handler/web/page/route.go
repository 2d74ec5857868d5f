package page

import (
	"net/http"
	"slices"
	"sync"

	"github.com/go-chi/chi/v5"

	"github.com/guidonhq/guidon/handler/exchange"
)

// Route is a page: its addresses, and what responds to requests for them. A pattern has
// variables, such as "/namespaces/{namespace}/flags/{flag}"; the one called namespace makes
// that the namespace of the visit. Get or Post may be nil. They return the error of a
// request that failed, after which the visitor gets a page about it.
type Route struct {
	Pattern   string
	Get, Post func(v *Visit) error
	// Unchanging marks a page that depends on nothing but the revision of its namespace,
	// its address, and the visitor with their favorites. Browsers get 304 for it without rendering.
	Unchanging bool
	// Open marks a page for visitors who need not be known.
	Open bool
}

// Routes are the pages of a site. It is safe for concurrent use.
type Routes struct {
	site  *Site
	mux   *chi.Mux          // finds the pattern of a path
	pages map[string]*Route // by pattern
}

// NewRoutes returns the routes of a site. It panics if two have the same pattern.
func NewRoutes(site *Site, all ...[]Route) *Routes {
	t := &Routes{site, chi.NewMux(), make(map[string]*Route)}
	for _, r := range slices.Concat(all...) {
		if t.pages[r.Pattern] != nil {
			panic("page: two pages at " + r.Pattern)
		}
		t.pages[r.Pattern] = &r
		t.mux.Get(r.Pattern, http.NotFound) // never called
	}
	return t
}

// Serve responds to the request.
func (t *Routes) Serve(x *exchange.Exchange) {
	v := &Visit{Exchange: x, Site: t.site.For(x.Request), variables: chi.NewRouteContext()}
	v.favorites = sync.OnceValues(v.readFavorites)
	route := t.pages[t.mux.Find(v.variables, http.MethodGet, x.Request.URL.Path)]
	if route == nil || slices.Contains(v.variables.URLParams.Values, "") { // chi allows empty variables
		x.ReplyError(exchange.ErrNoRoute)
		return
	}
	serve, allowed := route.Get, http.MethodPost
	if v.sends() {
		serve, allowed = route.Post, "GET, HEAD"
	}
	if serve == nil {
		x.Header().Set("Allow", allowed)
		x.ReplyError(exchange.ErrNoMethod)
		return
	}
	v.serve(serve, route)
}

// serve begins the visit and responds to it.
func (v *Visit) serve(serve func(v *Visit) error, route *Route) {
	Protect(v.Exchange)
	if route.Open {
		if err := serve(v); err != nil {
			v.ReplyError(err)
		}
		return
	}
	err := v.begin()
	if err == nil && route.Unchanging && v.Request.Method != http.MethodPost && v.notModified() {
		return
	}
	if err == nil {
		err = serve(v)
	}
	if err != nil {
		v.Fail(err)
	}
}
