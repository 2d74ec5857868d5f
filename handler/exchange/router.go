package exchange

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/guidonhq/guidon/handler/call"
)

// Config configures a [Router].
type Config struct {
	Invoker      *call.Invoker
	CORS         *CORSConfig // nil disables CORS
	AllowedHosts []string    // public host names under which requests without credentials are accepted; "*" allows every name
	Prefixes     []Prefix    // those of the routes

	// PublicOrigin is the origin at which people reach the service, such as
	// https://flags.example, or "" if it is not known. Its host is an allowed one.
	PublicOrigin string
	// TrustedOrigins are the origins of other pages that may use the sessions of their
	// visitors, as far as CORS allows them to send requests at all.
	TrustedOrigins []string
}

// Router serves the HTTP requests of the service. It logs and observes each once. It is
// safe for concurrent use.
type Router struct {
	invoker   *call.Invoker
	cors      *cors
	origins   *originChecks
	prefixes  []Prefix
	mux       *chi.Mux
	exact     map[call.Route]serveFunc     // the routes without variables
	tails     []tail                       // the routes whose variable is the rest of the path
	elsewhere func(x *Exchange, err error) // responds to paths that nothing owns
	revisions revisionTexts
}

// serveFunc serves a request.
type serveFunc func(x *Exchange)

// tail is a route whose variable is the rest of the path.
type tail struct {
	method, before string
	serve          serveFunc
}

// route is the route of a request, as far as the exchange needs it.
type route struct {
	call.Route
	variables      []string
	errors         ErrorForm
	forgetsSession bool // if the request is not authenticated
}

// NewRouter returns the router for the operations that are enabled, the other routes and
// the mounts. It panics if two of them claim the same path, if an operation does not state
// which role it needs and its cost, or if an origin is not valid; see [ParseOrigin].
func NewRouter(rows []Row, plain []Plain, mounts []Mount, config Config) *Router {
	t := &Router{
		invoker: config.Invoker, prefixes: slices.Clone(config.Prefixes),
		mux: chi.NewMux(), exact: make(map[call.Route]serveFunc), elsewhere: replyPlain,
	}
	own := newOwnOrigins(config)
	if config.CORS != nil {
		t.cors = newCORS(*config.CORS, own.trusted)
	}
	t.origins = newOriginChecks(config, own)
	checkOverlaps(rows, plain, mounts)
	t.mux.Use(t.routing)
	// These come first: chi goes through all routes that exist when they are set.
	t.mux.NotFound(serveNotFound)
	t.mux.MethodNotAllowed(func(w http.ResponseWriter, _ *http.Request) { w.(*Exchange).ReplyError(ErrNoMethod) })
	for _, row := range rows {
		if _, _, stated := row.Needs(); !stated {
			panic(row.Name + " does not state which role it needs")
		}
		if _, stated := row.Costs(); !stated {
			panic(row.Name + " does not state whether it is light or heavy")
		}
		if row.Enabled() {
			for _, r := range row.Routes {
				t.addRow(row, r)
			}
		}
	}
	for _, p := range plain {
		t.addPlain(p)
	}
	for _, m := range mounts {
		t.addMount(m)
	}
	return t
}

// addRow registers a route of an operation. chi allows an empty variable between two
// slashes but not at the end of a path. A path that ends in a variable is therefore
// also registered without it (contract 1.5).
func (t *Router) addRow(row Row, r call.Route) {
	if row.Form == nil {
		row.Form = Messages
	}
	to := &route{Route: r, variables: r.Variables(), errors: row.Form}
	if p := t.prefixOf(r.Pattern); p != nil {
		to.forgetsSession = p.ForgetSession && !row.Has(call.KeepsSession)
	}
	enter := t.entry(row.Name, to, t.exposureOf(row.Operation), func(x *Exchange) { row.Form.Serve(x, row.Operation) })
	if len(to.variables) == 0 {
		t.exact[r] = enter
	}
	before, variable := splitAtLast(r.Pattern, "{")
	switch last := strings.HasSuffix(variable, "}"); {
	case last && row.Rest:
		t.handle(r.Method, before+"*", enter)
		t.tails = append(t.tails, tail{r.Method, before, enter})
	case last:
		t.handle(r.Method, before, enter)
		fallthrough
	default:
		t.handle(r.Method, r.Pattern, enter)
	}
}

// splitAtLast returns the text before and after the last separator, or all of it and "".
func splitAtLast(text, separator string) (before, after string) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, ""
	}
	return text[:i], text[i+len(separator):]
}

func (t *Router) addPlain(p Plain) {
	to := &route{Route: call.Route{Method: p.Method, Pattern: p.Pattern}, errors: Messages}
	exposed := exposure{secret: p.Secret, tokens: p.Secret && t.invoker.Required(), anyHost: p.AnyHost}
	t.handle(p.Method, p.Pattern, t.entry(p.Pattern, to, exposed, p.Serve))
}

// mountMethods are the methods that pages use.
var mountMethods = []string{http.MethodGet, http.MethodHead, http.MethodPost}

func (t *Router) addMount(m Mount) {
	for _, prefix := range m.Prefixes {
		if prefix == "/" {
			t.elsewhere = m.Error
		}
		t.prefixes = append(t.prefixes, Prefix{Path: prefix, Errors: mountErrors{m}})
		for _, method := range mountMethods {
			to := &route{Route: call.Route{Method: method, Pattern: prefix}, errors: mountErrors{m}}
			enter := t.entry(prefix, to, t.exposureOfPages(), m.Serve)
			t.handle(method, prefix, enter)
			if prefix != "/" {
				t.handle(method, prefix+"/*", enter)
			}
		}
	}
}

// handle registers a function with chi.
func (t *Router) handle(method, pattern string, enter serveFunc) {
	t.mux.MethodFunc(method, pattern, func(w http.ResponseWriter, _ *http.Request) { enter(w.(*Exchange)) })
}

// entry returns serve with the first steps of every route before it: it sets the
// operation and route of the exchange, and checks the origin of browser requests.
func (t *Router) entry(operation string, to *route, e exposure, serve serveFunc) serveFunc {
	return func(x *Exchange) {
		x.Event.Operation, x.Event.Route = operation, to.Pattern
		x.route = to
		if err := t.origins.check(x.Request, e); err != nil {
			x.ReplyError(err)
			return
		}
		serve(x)
	}
}

// ServeHTTP implements [http.Handler].
func (t *Router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := t.begin(w, r)
	defer t.conclude(x)
	if t.cors != nil && t.cors.serve(x, r) {
		return
	}
	if serve := t.find(r); serve != nil {
		serve(x)
		return
	}
	t.mux.ServeHTTP(x, r)
}

// find returns the route of the request if it needs no search by chi, or nil. chi has
// these routes too, and matches all other spellings of a path (contract 1.5).
func (t *Router) find(r *http.Request) serveFunc {
	if serve := t.exact[call.Route{Method: r.Method, Pattern: r.URL.Path}]; serve != nil {
		return serve
	}
	for i := range t.tails {
		end := &t.tails[i]
		rest, ok := strings.CutPrefix(r.URL.Path, end.before)
		if ok && r.Method == end.method && rest != "" && !strings.Contains(rest, "/") {
			return end.serve
		}
	}
	return nil
}

// routing makes chi match the path as contract 1.5 defines: decoded but not cleaned, so
// that an empty segment is an empty variable.
func (t *Router) routing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		route := chi.RouteContext(r.Context())
		route.RoutePath = t.path(r.URL.Path)
		if !call.KnownMethod(r.Method) {
			// chi rejects an unknown method without matching the path. No route has
			// TRACE.
			route.RouteMethod = http.MethodTrace
		}
		w.(*Exchange).Request = r // the one with chi's context, for the variables
		next.ServeHTTP(w, r)
	})
}
