// Package tracing records requests as spans of OpenTelemetry, and sends them to a collector
// by OTLP. No span has an evaluation context, a query string, a credential or a value of a
// database.
package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/evaluation"
)

// Config configures [New]. What it leaves out is as the variables OTEL_… say.
type Config struct {
	Endpoint string            // a URL, or host:port for gRPC without TLS; empty means that of the variables, or localhost
	Headers  map[string]string // sent to the collector
	Ratio    float64           // of the traces that begin here and are recorded, unless OTEL_TRACES_SAMPLER is set
	Entities bool              // events of evaluations have the entity, which is personal data
	Version  string            // of the service
	Logger   *slog.Logger
}

// Tracer records spans. Its methods are safe for concurrent use.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	entities bool
	logger   *slog.Logger
}

var (
	_ call.Tracer         = (*Tracer)(nil)
	_ evaluation.Observer = (*Tracer)(nil)
)

// New returns a tracer whose goroutine sends spans in batches until [Tracer.Close]. A
// collector that is slow or away delays nothing: further spans are dropped while the queue is
// full.
func New(ctx context.Context, config Config) (*Tracer, error) {
	client, err := newExporter(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(semconv.ServiceName("guidon"), semconv.ServiceVersion(config.Version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	quiet := &exporter{SpanExporter: client, logger: config.Logger}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(quiet.report))
	options := []sdk.TracerProviderOption{sdk.WithBatcher(quiet), sdk.WithResource(about)}
	if os.Getenv("OTEL_TRACES_SAMPLER") == "" {
		options = append(options, sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(config.Ratio))))
	}
	provider := sdk.NewTracerProvider(options...)
	return &Tracer{
		provider: provider, tracer: provider.Tracer("github.com/guidonhq/guidon"), entities: config.Entities, logger: config.Logger,
	}, nil
}

// flushTimeout limits how long the last spans may take.
const flushTimeout = 3 * time.Second

// Close sends the spans that are queued, for a limited time, and ends the goroutine.
func (t *Tracer) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		t.logger.Warn("the last spans were not sent", "error", call.Clip(err.Error()))
	}
}

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
