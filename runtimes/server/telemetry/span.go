package telemetry

import (
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	grpccodes "google.golang.org/grpc/codes"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/evaluation"
)

// span is the span of an operation or a page.
type span struct {
	trace.Span
	about  call.Traced
	serves bool // it is that of the whole request
	many   bool // it has evaluated several flags
}

// Trace implements [call.Span].
func (s *span) Trace() (id string, recorded bool) {
	c := s.SpanContext()
	return c.TraceID().String(), c.IsSampled()
}

// End implements [call.Span].
func (s *span) End(code guidon.Code, status int) {
	if s.IsRecording() {
		s.describe(code, status)
	}
	s.Span.End()
}

// describe sets the attributes that the conventions name. Errors of callers are not those of a
// server.
func (s *span) describe(code guidon.Code, status int) {
	grpc := grpccodes.Code(call.GRPCCode(code)).String()
	switch {
	case s.serves && s.about.Method != "":
		method := s.about.Method
		if !call.KnownMethod(method) {
			method = "_OTHER"
		}
		s.SetAttributes(semconv.HTTPRequestMethodKey.String(method), semconv.HTTPRoute(s.about.Route), semconv.HTTPResponseStatusCode(status))
	case s.serves:
		s.SetAttributes(semconv.RPCSystemNameGRPC, semconv.RPCMethod(strings.TrimPrefix(s.about.Name, "/")), semconv.RPCResponseStatusCode(grpc))
	}
	if code != call.OK {
		s.SetAttributes(semconv.ErrorTypeKey.String(code.Error()))
	}
	if call.HTTPStatus(code) >= 500 {
		s.SetStatus(codes.Error, "") // a message might quote what must not be here
	}
}

// Evaluated implements [evaluation.Observer]: it adds an event to the span of an operation that
// evaluates one flag.
func (t *Tracer) Evaluated(events []evaluation.Event) {
	s, ok := events[0].Span.(*span)
	if !ok || !s.IsRecording() {
		return
	}
	if s.many = s.many || len(events) > 1; s.many {
		return
	}
	var attributes []attribute.KeyValue
	for _, a := range events[0].Attributes(nil, t.entities) {
		attributes = append(attributes, attribute.String(a.Key, a.Value.String()))
	}
	s.AddEvent("feature_flag.evaluation", trace.WithAttributes(attributes...))
}

// SnapshotRequested implements [evaluation.Observer]. It records nothing.
func (t *Tracer) SnapshotRequested(string, int) {}
