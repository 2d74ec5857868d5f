package telemetry

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	grpccodes "google.golang.org/grpc/codes"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/evaluation"
)

// TracerConfig configures [NewTracer].
type TracerConfig struct {
	Config
	Ratio    float64 // of the traces that begin here and are recorded, unless OTEL_TRACES_SAMPLER is set
	Entities bool    // events of evaluations have the entity, which is personal data
}

// Tracer records spans. Its methods are safe for concurrent use.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	entities bool
	state    *state
}

var (
	_ call.Tracer         = (*Tracer)(nil)
	_ evaluation.Observer = (*Tracer)(nil)
)

// NewTracer returns a tracer whose goroutine sends spans in batches until [Tracer.Close]. A
// collector that is slow or away delays nothing: further spans are dropped while the queue is
// full.
func NewTracer(ctx context.Context, config TracerConfig) (*Tracer, error) {
	to, err := newSpanExporter(ctx, config.Config)
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	about, state, err := config.begin(ctx, "spans")
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	options := []sdk.TracerProviderOption{sdk.WithBatcher(spanExporter{to, state}), sdk.WithResource(about)}
	if os.Getenv("OTEL_TRACES_SAMPLER") == "" {
		options = append(options, sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(config.Ratio))))
	}
	provider := sdk.NewTracerProvider(options...)
	return &Tracer{
		provider: provider, tracer: provider.Tracer("github.com/guidonhq/guidon"), entities: config.Entities, state: state,
	}, nil
}

// Close sends the spans that are queued, for a limited time, and ends the goroutine.
func (t *Tracer) Close() { t.state.stop(t.provider.Shutdown) }

// Begin implements [call.Tracer].
func (t *Tracer) Begin(ctx context.Context, about call.Traced) (context.Context, call.Span) {
	kind := trace.SpanKindInternal
	if !trace.SpanContextFromContext(ctx).IsValid() {
		kind = trace.SpanKindServer
		ctx = within(ctx, about.Header)
	}
	ctx, s := t.tracer.Start(ctx, about.Name, trace.WithSpanKind(kind))
	return ctx, &span{Span: s, about: about, serves: kind == trace.SpanKindServer}
}

// within returns the context of the trace that the header names, if any.
func within(ctx context.Context, h call.TraceHeader) context.Context {
	if h.Parent == "" {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": h.Parent, "tracestate": h.State})
}

// newSpanExporter returns what sends spans to the configured endpoint. It does not connect.
func newSpanExporter(ctx context.Context, c Config) (sdk.SpanExporter, error) {
	overHTTP, url := c.target("traces")
	if overHTTP {
		return otlptracehttp.New(ctx, options(c, url, otlptracehttp.WithHeaders, otlptracehttp.WithEndpointURL)...)
	}
	return otlptracegrpc.New(ctx, options(c, url, otlptracegrpc.WithHeaders, otlptracegrpc.WithEndpointURL)...)
}

// spanExporter reports errors once instead of returning each of them.
type spanExporter struct {
	sdk.SpanExporter
	state *state
}

// ExportSpans implements [sdk.SpanExporter].
func (e spanExporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	e.state.sent(e.SpanExporter.ExportSpans(ctx, spans))
	return nil
}

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
