package exchange

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/limit"
	"github.com/guidonhq/guidon/internal/clock"
	"github.com/guidonhq/guidon/service"
)

// Exchange is one HTTP request and its response, with everything they need allocated
// together. It is the ResponseWriter of the routes.
type Exchange struct {
	http.ResponseWriter
	Request *http.Request
	Event   call.Event   // logged and observed when the exchange ends
	Call    call.Request // of the operation, if the route is one

	router      *Router
	route       *route    // nil until it is found
	work        call.Work // of Call
	status      int       // of a response without an error; 0 means 200
	wroteHeader bool
	detached    bool              // the response outlasts the request; see Detach
	pooled      *buffer           // nil until it is needed
	bodies      limit.Reservation // for the encoded request
	decoded     limit.Reservation // for the decoded request
	turn        limit.Turn        // for heavy operations, until the response starts

	values [6]string // of header fields; see Set
	free   int       // index of the first unused element of values
}

// unmatched is the operation of a request that matches no route.
const unmatched = "unmatched"

// begin returns the exchange of a request that has arrived. Exchanges are not reused, because
// goroutines may keep the context of one after it has ended.
func (t *Router) begin(w http.ResponseWriter, r *http.Request) *Exchange {
	x := &Exchange{ResponseWriter: w, Request: r, router: t}
	memory := t.invoker.Budget()
	x.bodies, x.decoded = memory.Bodies.NewReservation(), memory.Messages.NewReservation()
	x.Call.Memory = memory.Responses.NewReservation()
	x.turn = memory.Heavy.NewTurn()
	x.Call.Turn = &x.turn
	x.Event.Start = clock.Tick()
	x.Event.Operation, x.Event.Transport, x.Event.Method = unmatched, "http", r.Method
	x.Event.SetRequestID(First(r.Header, "X-Request-Id"))
	x.Event.SetTrace(traceOf(r.Header))
	x.Set("X-Request-Id", x.Event.RequestID)
	return x
}

// conclude ends the exchange, unless it is detached, and emits its event. It turns a panic
// into a 500 or, if the response has started, aborts the connection.
func (t *Router) conclude(x *Exchange) {
	if x.detached {
		return
	}
	if v := recover(); t.settle(x, v) {
		panic(http.ErrAbortHandler)
	}
}

// settle ends the exchange and emits its event. v is what the handler has panicked with, or
// nil. It reports whether the connection must be aborted.
func (t *Router) settle(x *Exchange, v any) (abort bool) {
	defer x.end()
	if call.IsAbort(v) {
		return true
	}
	if v != nil {
		abort = x.wroteHeader
		x.Event.Err = call.Recovered(v)
		if !abort {
			x.ReplyError(x.Event.Err)
		}
	}
	t.invoker.Finish(x.Request.Context(), &x.Event)
	return abort
}

// end releases the memory that x has used. Only its context may still be in use.
func (x *Exchange) end() {
	x.releaseBuffer()
	x.bodies.Release()
	x.decoded.Release()
	x.Call.Memory.Release()
	x.turn.End()
	x.ResponseWriter, x.Request, x.Call, x.Event = nil, nil, call.Request{}, call.Event{}
}

// Carry runs the operation for x.Call, and sets the headers with the revision and the age
// of the response's data. It may be called once.
func (x *Exchange) Carry(ctx context.Context, o *call.Operation) (call.Response, error) {
	x.Call.Sender = x
	response, err := x.router.invoker.Carry(ctx, o, &x.Call, &x.work, &x.Event)
	x.setState(response.State)
	return response, err
}

// CarryAgain runs the operation for another request of the same exchange, in the same turn if
// it is heavy.
func (x *Exchange) CarryAgain(ctx context.Context, o *call.Operation, request *call.Request) (call.Response, error) {
	request.Turn = &x.turn
	if o.Name != x.Event.Operation {
		traced, begun := x.router.invoker.Trace(ctx, &x.Event)
		if begun {
			ctx, x.Request = traced, x.Request.WithContext(traced)
		}
	}
	response, err := x.router.invoker.Carry(ctx, o, request, new(call.Work), &x.Event)
	if !x.wroteHeader {
		x.setState(response.State)
	}
	return response, err
}

// setState sets the headers with the revision and the age of the response's data.
func (x *Exchange) setState(state service.State) {
	if state.Revision > 0 {
		x.Set("Guidon-Revision", x.router.revisions.of(state.Revision))
	}
	if state.Age > 0 {
		x.Header().Set(call.StaleHeader, call.StaleSeconds(state.Age))
	}
}

// Identify returns the authentication of the credentials, as current as d wants it, or
// Unauthenticated or Limited.
func (x *Exchange) Identify(c call.Credentials, d service.Demand) (*service.Authentication, error) {
	return x.router.invoker.Identify(x.Request.Context(), c, d, x)
}

// From implements [call.Sender].
func (x *Exchange) From(context.Context) (connection string, forwarded []string) {
	return x.Request.RemoteAddr, x.Request.Header["X-Forwarded-For"]
}

// WriteHeader implements [http.ResponseWriter] and records the status. It ends the turn of
// heavy operations, so that others need not wait for a slow client.
func (x *Exchange) WriteHeader(status int) {
	x.turn.End()
	if !x.wroteHeader && status >= http.StatusOK {
		x.wroteHeader, x.Event.Status = true, status
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter] and counts the bytes.
func (x *Exchange) Write(body []byte) (int, error) {
	if !x.wroteHeader {
		x.wroteHeader, x.Event.Status = true, http.StatusOK
	}
	n, err := x.ResponseWriter.Write(body)
	x.Event.Bytes += int64(n)
	return n, err
}

// Unwrap returns the underlying writer, for [http.ResponseController].
func (x *Exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// Context returns the request's context with the deadline of the header Grpc-Timeout
// (contract 1.4), and the function that releases it. It records the deadline in the
// event.
func (x *Exchange) Context() (context.Context, context.CancelFunc, error) {
	ctx, header := x.Request.Context(), First(x.Request.Header, "Grpc-Timeout")
	if header == "" {
		return ctx, func() {}, nil
	}
	timeout, err := parseGRPCTimeout(header)
	if err != nil {
		return nil, nil, err
	}
	x.Event.Deadline = time.Now().Add(timeout)
	ctx, cancel := context.WithDeadline(ctx, x.Event.Deadline)
	return ctx, cancel, nil
}

// traceOf returns what the header says about the trace of the request.
func traceOf(header http.Header) call.TraceHeader {
	return call.TraceHeader{
		Parent: strings.Join(header["Traceparent"], ","), State: strings.Join(header["Tracestate"], ","),
		Amazon: First(header, "X-Amzn-Trace-Id"),
	}
}

// First is header.Get for a name in canonical form.
func First(header http.Header, name string) string {
	if values := header[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// timeoutUnits are the units of the header Grpc-Timeout.
var timeoutUnits = map[byte]time.Duration{
	'H': time.Hour, 'M': time.Minute, 'S': time.Second,
	'm': time.Millisecond, 'u': time.Microsecond, 'n': time.Nanosecond,
}

func parseGRPCTimeout(header string) (time.Duration, error) {
	invalid := guidon.Errorf(guidon.InvalidArgument,
		"invalid header Grpc-Timeout: must be a whole number of at most 8 digits and a unit of H, M, S, m, u, n")
	last := len(header) - 1
	unit, ok := timeoutUnits[header[last]]
	if !ok || last > 8 {
		return 0, invalid
	}
	count, err := strconv.ParseUint(header[:last], 10, 32)
	if err != nil {
		return 0, invalid
	}
	return min(time.Duration(count), time.Duration(1<<62)/unit) * unit, nil // #nosec G115 -- 8 digits
}
