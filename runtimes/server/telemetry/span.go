package telemetry

import (
	"context"
	"strings"
	"time"

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

// maxQuery limits the text of statements in a span, in bytes.
const maxQuery = 1024

// systems are the names of databases in the conventions, where those differ from ours.
var systems = map[string]string{"postgres": "postgresql", "cockroach": "cockroachdb"}

// Query begins a span for what is sent to a database. The result, which is nil if nothing is
// recorded, ends it.
func (t *Tracer) Query(ctx context.Context, system string) func(text string, err error) {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return nil
	}
	begun := time.Now()
	return func(text string, err error) {
		name, _, _ := strings.Cut(text, " ")
		if strings.Contains(text, "; ") {
			name = "BATCH"
		}
		if other, ok := systems[system]; ok {
			system = other
		}
		failure := ""
		if err != nil {
			failure = guidon.CodeOf(err).Error() // its text may have values
		}
		t.record(ctx, name, begun, failure,
			semconv.DBSystemNameKey.String(system), semconv.DBOperationName(name), semconv.DBQueryText(text[:min(len(text), maxQuery)]))
	}
}

// Provider begins a span for a request to a provider of identities. The result ends it.
func (t *Tracer) Provider(ctx context.Context, provider, kind string) (answered func(result string)) {
	begun := time.Now()
	return func(result string) {
		if result == "ok" {
			result = ""
		}
		t.record(ctx, "provider "+kind, begun, result, attribute.String("guidon.provider", provider))
	}
}

// record records a span below that of the context, if that is recorded.
func (t *Tracer) record(ctx context.Context, name string, begun time.Time, failure string, attributes ...attribute.KeyValue) {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return
	}
	_, s := t.tracer.Start(ctx, name,
		trace.WithTimestamp(begun), trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
	if failure != "" {
		s.SetAttributes(semconv.ErrorTypeKey.String(failure))
		s.SetStatus(codes.Error, "")
	}
	s.End()
}
