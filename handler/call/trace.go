package call

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon"
)

// Tracer records requests and operations as spans of traces. It is called concurrently and
// must not block.
type Tracer interface {
	// Begin begins a span, within that of the context or, without one, within the trace that
	// the header names. The returned context is for the work that belongs to the span.
	Begin(ctx context.Context, about Traced) (context.Context, Span)
}

// Traced is what a span is about.
type Traced struct {
	Name          string // of an operation or of another route
	Method, Route string // over HTTP
	Header        TraceHeader
}

// Span is what a [Tracer] records about one operation.
type Span interface {
	// Trace returns the id of its trace, and whether the trace is recorded.
	Trace() (id string, recorded bool)
	// End ends the span. It is called once, with the code of the error or [OK], and the status
	// over HTTP.
	End(code guidon.Code, status int)
}

// TraceHeader is what the header of a request says about the trace that it is part of.
type TraceHeader struct {
	Parent, State string // traceparent and tracestate of W3C
	Amazon        string // X-Amzn-Trace-Id
}

// id returns the id of the trace in W3C's form, or "" if there is none, and whether the caller
// records it.
func (h TraceHeader) id() (id string, recorded bool) {
	// 00-<id of the trace, 32 digits>-<id of the span, 16 digits>-<flags>
	if p := h.Parent; len(p) >= 55 && isTraceID(p[3:35]) {
		flags, err := strconv.ParseUint(p[53:55], 16, 8)
		return p[3:35], err == nil && flags&1 == 1
	}
	// Root=1-<8 digits>-<24 digits>;Parent=<id of the span>;Sampled=1
	_, root, _ := strings.Cut(h.Amazon, "Root=1-")
	if len(root) < 33 || root[8] != '-' {
		return "", false
	}
	if id = root[:8] + root[9:33]; !isTraceID(id) {
		return "", false
	}
	return id, strings.Contains(h.Amazon, "Sampled=1")
}

func isTraceID(text string) bool {
	return strings.Trim(text, "0123456789abcdef") == "" && strings.Trim(text, "0") != ""
}

// SetTrace sets the trace that the header of the request names, if any.
func (e *Event) SetTrace(h TraceHeader) {
	e.TraceHeader = h
	e.trace, e.recorded = h.id()
}

// recordedTrace returns the id of the trace that has the request, or "".
func (e *Event) recordedTrace() string {
	if !e.recorded {
		return ""
	}
	return e.trace
}

// begin begins a span, if requests are traced.
func (i *Invoker) begin(ctx context.Context, name string, e *Event) (context.Context, Span) {
	if i.config.Tracer == nil {
		return ctx, nil
	}
	ctx, span := i.config.Tracer.Begin(ctx, Traced{Name: name, Method: e.Method, Route: e.Route, Header: e.TraceHeader})
	e.trace, e.recorded = span.Trace()
	return ctx, span
}

// Trace begins the span of a request that is not an operation but runs some, and reports whether
// it has done so: once, if requests are traced. The span ends with the event.
func (i *Invoker) Trace(ctx context.Context, e *Event) (_ context.Context, begun bool) {
	if e.span != nil {
		return ctx, false
	}
	ctx, e.span = i.begin(ctx, e.Operation, e)
	return ctx, e.span != nil
}

// statusOf returns the status over HTTP of the response of an operation.
func statusOf(response Response, code guidon.Code) int {
	switch {
	case code != OK:
		return HTTPStatus(code)
	case response.NotModified:
		return http.StatusNotModified
	case response.SignIn != nil && response.SignIn.Location != "":
		return http.StatusFound
	}
	return HTTPStatus(OK)
}
