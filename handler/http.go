package handler

import (
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/go-chi/chi/v5"

	"github.com/guidonhq/guidon/handler/budget"
	"github.com/guidonhq/guidon/internal/clock"
)

// exchange is one HTTP request and its response, with everything they need allocated
// together. It is the ResponseWriter of the routes, which gives them access to the event.
type exchange struct {
	http.ResponseWriter
	request     *http.Request
	event       event
	opRequest   Request // if the route is an operation
	work        work    // of opRequest
	wroteHeader bool
	pooled      *buffer            // nil until it is needed
	bodies      budget.Reservation // for the encoded request
	decoded     budget.Reservation // for the decoded request

	importMemory int64 // limit of the memory of an imported document, in bytes

	// Of an operation, for Receive.
	route     Route
	variables []string

	values [6]string // of header fields; see set
	free   int       // index of the first unused element of values
}

// exchangeBatch is how many exchanges are allocated together. A long-lived exchange, that
// of a stream, keeps the memory of its whole batch.
const exchangeBatch = 4

// exchangeStock is a batch of unused exchanges.
type exchangeStock struct{ left []exchange }

var exchangeStocks = sync.Pool{New: func() any { return new(exchangeStock) }}

// newExchange returns an unused exchange. Exchanges are not reused, because goroutines
// may keep the context of one after it has ended.
func newExchange() *exchange {
	stock := exchangeStocks.Get().(*exchangeStock)
	defer exchangeStocks.Put(stock)
	if len(stock.left) == 0 {
		stock.left = make([]exchange, exchangeBatch)
	}
	x := &stock.left[0]
	stock.left = stock.left[1:]
	return x
}

// ServeHTTP implements [http.Handler]. It logs and observes each request once.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := h.begin(w, r)
	defer h.conclude(x)
	if h.cors != nil && h.cors.serve(x, r) {
		return
	}
	if serve := h.fast.find(r); serve != nil {
		serve(x)
		return
	}
	h.mux.ServeHTTP(x, r)
}

// begin returns the exchange of a request that has arrived.
func (h *Handler) begin(w http.ResponseWriter, r *http.Request) *exchange {
	x := newExchange()
	x.ResponseWriter, x.request = w, r
	x.bodies, x.decoded = h.budget.Bodies.NewReservation(), h.budget.Messages.NewReservation()
	x.importMemory = h.config.ImportMemory
	x.opRequest.reserved = h.budget.Responses.NewReservation()
	x.event.start = clock.Tick()
	x.event.operation, x.event.transport, x.event.method = unmatched, "http", r.Method
	x.event.setRequestID(first(r.Header, "X-Request-Id"))
	x.set(w.Header(), "X-Request-Id", x.event.requestID)
	return x
}

// conclude ends the exchange and emits its event. It turns a panic into a 500 or, if the
// response has started, aborts the connection.
func (h *Handler) conclude(x *exchange) {
	defer x.end()
	cut := false
	if v := recover(); v != nil {
		if isAbort(v) {
			panic(v)
		}
		cut = x.wroteHeader
		x.event.err = newPanicError(v)
		if !cut {
			x.replyError(x.event.err)
		}
	}
	h.finish(x.request.Context(), &x.event)
	if cut {
		panic(http.ErrAbortHandler)
	}
}

// end releases the memory that x has used. Only its context may still be in use.
func (x *exchange) end() {
	x.releaseBuffer()
	x.bodies.Release()
	x.decoded.Release()
	x.opRequest.reserved.Release()
	x.ResponseWriter, x.request, x.opRequest, x.event = nil, nil, Request{}, event{}
}

// isAbort reports whether the panic value is http.ErrAbortHandler, by which a handler
// makes net/http abort the connection.
func isAbort(v any) bool {
	err, ok := v.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}

// WriteHeader implements [http.ResponseWriter] and records the status.
func (x *exchange) WriteHeader(status int) {
	if !x.wroteHeader && status >= http.StatusOK {
		x.wroteHeader, x.event.status = true, status
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter] and counts the bytes.
func (x *exchange) Write(body []byte) (int, error) {
	if !x.wroteHeader {
		x.wroteHeader, x.event.status = true, http.StatusOK
	}
	n, err := x.ResponseWriter.Write(body)
	x.event.bytes += int64(n)
	return n, err
}

// Unwrap returns the underlying writer, for [http.ResponseController].
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// entry returns serve with the first steps of every route before it: it sets the
// operation and route of the event, and checks the origin of browser requests.
func (h *Handler) entry(operation, route string, e exposure, serve serveFunc) serveFunc {
	return func(x *exchange) {
		x.event.operation, x.event.route = operation, route
		if err := h.origins.check(x.request, e); err != nil {
			x.replyError(err)
			return
		}
		serve(x)
	}
}

// handle registers a route that is not an operation.
func (h *Handler) handle(mux *chi.Mux, method, pattern string, e exposure, serve http.HandlerFunc) {
	enter := h.entry(pattern, pattern, e, func(x *exchange) { serve(x, x.request) })
	mux.MethodFunc(method, pattern, func(w http.ResponseWriter, _ *http.Request) { enter(w.(*exchange)) })
}

// routing makes chi match the path as contract 1.5 defines: decoded but not cleaned, so
// that an empty segment is an empty variable.
func routing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		route := chi.RouteContext(r.Context())
		route.RoutePath = routePath(r.URL.Path)
		if !knownMethod(r.Method) {
			// chi rejects an unknown method without matching the path. No route has
			// TRACE.
			route.RouteMethod = http.MethodTrace
		}
		w.(*exchange).request = r // the one with chi's context, for the variables
		next.ServeHTTP(w, r)
	})
}

func knownMethod(method string) bool {
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete,
		http.MethodHead, http.MethodPatch, http.MethodOptions:
		return true
	}
	return false
}

// slashPrefixes are the paths under which one trailing slash is ignored.
var slashPrefixes = []string{apiPrefix, evaluatePrefix, internalPrefix, ofrepPrefix, authPrefix, metaPrefix}

// routePath returns the path that is matched against the routes.
func routePath(path string) string {
	if strings.HasPrefix(path, "//") && isOFREP(path) {
		path = path[strings.Index(path, ofrepPrefix):] // OFREP 1
	}
	if strings.HasSuffix(path, "/") && underAny(path, slashPrefixes) {
		return path[:len(path)-1]
	}
	return path
}

// apiPrefixes are the paths under which an unknown path gets a JSON error (contract 1.6).
var apiPrefixes = []string{apiPrefix, evaluatePrefix, internalPrefix, authPrefix, metaPrefix, healthPath}

func isAPI(path string) bool { return underAny(path, apiPrefixes) || isOFREP(path) }

// ofrepPrefixes are the paths under which errors are those of OFREP, with any number of
// leading slashes.
var ofrepPrefixes = []string{ofrepPrefix}

func isOFREP(path string) bool {
	return strings.HasPrefix(path, "/") && underAny("/"+strings.TrimLeft(path, "/"), ofrepPrefixes)
}

func underAny(path string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if rest, ok := strings.CutPrefix(path, prefix); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}
