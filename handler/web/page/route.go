package page

import (
	"net/http"
	"strings"
	"sync"

	"github.com/guidonhq/guidon/handler/exchange"
)

// Route is a page: its addresses, and what responds to requests for them. A pattern has
// variables, such as "/namespaces/{namespace}/flags/{flag}"; the one called namespace makes
// that the namespace of the visit. Get and Post may be nil. They return the error of a
// request that failed, after which the visitor gets a page about it.
type Route struct {
	Pattern   string
	Get, Post func(v *Visit) error
	// Unchanging marks a page that depends on nothing but the revision of its namespace,
	// its address, and the visitor with their favorites. Browsers get 304 for it without rendering.
	Unchanging bool
}

// Routes are the pages of a site. It is safe for concurrent use.
type Routes struct {
	site *Site
	root *node
}

// node is a segment of the paths of routes.
type node struct {
	fixed    map[string]*node
	variable *node
	name     string // of the variable, if this node is one
	route    *Route
}

// NewRoutes returns the routes of a site. It panics if two have the same pattern.
func NewRoutes(site *Site, all ...[]Route) *Routes {
	routes := &Routes{site: site, root: new(node)}
	for _, some := range all {
		for _, r := range some {
			routes.add(r)
		}
	}
	return routes
}

func (t *Routes) add(r Route) {
	at := t.root
	for segment := range strings.SplitSeq(strings.TrimPrefix(r.Pattern, "/"), "/") {
		at = at.child(segment)
	}
	if at.route != nil {
		panic("page: two pages at " + r.Pattern)
	}
	at.route = &r
}

// child returns the node below n for the segment of a pattern.
func (n *node) child(segment string) *node {
	if name, ok := strings.CutPrefix(segment, "{"); ok {
		name = strings.TrimSuffix(name, "}")
		if n.variable == nil {
			n.variable = &node{name: name}
		}
		if n.variable.name != name {
			panic("page: two variables at one place: " + n.variable.name + ", " + name)
		}
		return n.variable
	}
	if n.fixed == nil {
		n.fixed = make(map[string]*node)
	}
	if n.fixed[segment] == nil {
		n.fixed[segment] = new(node)
	}
	return n.fixed[segment]
}

// find returns the route of a path, and the variables in it.
func (t *Routes) find(path string) (*Route, map[string]string) {
	at, variables := t.root, make(map[string]string)
	for segment := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		next := at.fixed[segment]
		if next == nil && at.variable != nil && segment != "" {
			next = at.variable
			variables[next.name] = segment
		}
		if next == nil {
			return nil, nil
		}
		at = next
	}
	return at.route, variables
}

// Serve responds to the request if its path has a route, and reports whether it has.
func (t *Routes) Serve(x *exchange.Exchange) bool {
	route, variables := t.find(x.Request.URL.Path)
	if route == nil {
		return false
	}
	v := &Visit{Exchange: x, Site: t.site.For(x.Request), variables: variables}
	v.favorites = sync.OnceValues(v.readFavorites)
	serve, other, allowed := route.Get, route.Post, http.MethodPost
	if x.Request.Method == http.MethodPost {
		serve, other, allowed = route.Post, route.Get, "GET, HEAD"
	}
	if serve == nil {
		if other != nil {
			x.Header().Set("Allow", allowed)
			x.ReplyError(exchange.ErrNoMethod)
			return true
		}
		x.ReplyError(exchange.ErrNoRoute)
		return true
	}
	v.serve(serve, route.Unchanging)
	return true
}

// serve begins the visit and responds to it.
func (v *Visit) serve(serve func(v *Visit) error, unchanging bool) {
	Protect(v.Exchange)
	err := v.begin()
	if err == nil && unchanging && v.Request.Method != http.MethodPost && v.notModified() {
		return
	}
	if err == nil {
		err = serve(v)
	}
	if err != nil {
		v.Fail(err)
	}
}
