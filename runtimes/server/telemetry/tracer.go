package telemetry

import (
	"context"
	"fmt"
	"os"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

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
