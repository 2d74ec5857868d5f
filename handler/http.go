package handler

import (
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/go-chi/chi/v5"

	"github.com/guidonhq/guidon/handler/budget"
)

// exchange is one HTTP request and its answer, with all that takes allocated
// together. It is the ResponseWriter that the routes are given, so that each finds
// the event that it has to fill in.
type exchange struct {
	http.ResponseWriter
	request     *http.Request
	event       event
	opRequest   Request            // of an operation
	work        work               // on asked
	wroteHeader bool               // the header is out
	pooled      *buffer            // nil until it is needed
	bodies      budget.Reservation // for the encoded request
	decoded     budget.Reservation

	importMemory int64 // what the document of an import may take

	// Of an operation, for Receive.
	route     Route
	variables []string

	values [6]string // of header fields; see set
	free   int       // the first of values that is not used
}

// exchangeBatch is how many exchanges are allocated together. One that lasts, of a
// stream, keeps the memory of those beside it.
const exchangeBatch = 4

// exchangeStock is exchanges that have not been used.
type exchangeStock struct{ left []exchange }

var exchangeStocks = sync.Pool{New: func() any { return new(exchangeStock) }}

// newExchange returns an exchange that has not been used and never will be again:
// whoever was given its context may keep that.
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

// ServeHTTP answers the request and tells about it once (design 7, 8).
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
	x.event.start = tick()
	x.event.operation, x.event.transport, x.event.method = unmatched, "http", r.Method
	x.event.setRequestID(first(r.Header, "X-Request-Id"))
	x.set(w.Header(), "X-Request-Id", x.event.requestID)
	return x
}

// conclude ends the exchange: a panic becomes a 500 where an answer is still
// possible and cuts the connection where it is not.
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

// end leaves to others what x has used. Only its context may still be in use.
func (x *exchange) end() {
	x.releaseBuffer()
	x.bodies.Release()
	x.decoded.Release()
	x.opRequest.reserved.Release()
	x.ResponseWriter, x.request, x.opRequest, x.event = nil, nil, Request{}, event{}
}

// isAbort tells whether the panic is the one by which a handler asks net/http
// to cut the connection.
func isAbort(v any) bool {
	err, ok := v.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}

// WriteHeader notes the status.
func (x *exchange) WriteHeader(status int) {
	if !x.wroteHeader && status >= http.StatusOK {
		x.wroteHeader, x.event.status = true, status
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write counts the bytes.
func (x *exchange) Write(body []byte) (int, error) {
	if !x.wroteHeader {
		x.wroteHeader, x.event.status = true, http.StatusOK
	}
	n, err := x.ResponseWriter.Write(body)
	x.event.bytes += int64(n)
	return n, err
}

// Unwrap lets [http.ResponseController] reach what x wraps.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// entry returns serve behind what every route begins with: its name in the event,
// and the check of requests that browsers send, before anything else is looked at.
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

// routing makes chi look for the path as contract 1.5 has it: decoded, and not
// cleaned, so that an empty segment is an empty variable.
func routing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		route := chi.RouteContext(r.Context())
		route.RoutePath = routePath(r.URL.Path)
		if !knownMethod(r.Method) {
			// chi answers a method that it does not know without looking at the
			// path. No route has TRACE.
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

// slashPrefixes are where one trailing slash is left out of account.
var slashPrefixes = []string{apiPrefix, evaluatePrefix, internalPrefix, ofrepPrefix, authPrefix, metaPrefix}

// routePath returns the path that is looked for.
func routePath(path string) string {
	if strings.HasPrefix(path, "//") && isOFREP(path) {
		path = path[strings.Index(path, ofrepPrefix):] // OFREP 1
	}
	if strings.HasSuffix(path, "/") && underAny(path, slashPrefixes) {
		return path[:len(path)-1]
	}
	return path
}

// apiPrefixes are where an unknown path is answered in JSON (contract 1.6).
var apiPrefixes = []string{apiPrefix, evaluatePrefix, internalPrefix, authPrefix, metaPrefix, healthPath}

func isAPI(path string) bool { return underAny(path, apiPrefixes) || isOFREP(path) }

// ofrepPrefixes are where errors are those of OFREP, however many slashes come
// before it.
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
