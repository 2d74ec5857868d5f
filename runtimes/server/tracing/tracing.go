// Package tracing records requests as spans of OpenTelemetry, and sends them to a collector
// by OTLP. No span has an evaluation context, a query string, a credential or a value of a
// database.
package tracing

import (
	"context"
	"fmt"
	"os"

	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/evaluation"
	"github.com/guidonhq/guidon/runtimes/server/otlp"
)

// Config configures [New].
type Config struct {
	otlp.Config
	Ratio    float64 // of the traces that begin here and are recorded, unless OTEL_TRACES_SAMPLER is set
	Entities bool    // events of evaluations have the entity, which is personal data
}

// Tracer records spans. Its methods are safe for concurrent use.
type Tracer struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	entities bool
	state    *otlp.State
}

var (
	_ call.Tracer         = (*Tracer)(nil)
	_ evaluation.Observer = (*Tracer)(nil)
)

// New returns a tracer whose goroutine sends spans in batches until [Tracer.Close]. A
// collector that is slow or away delays nothing: further spans are dropped while the queue is
// full.
func New(ctx context.Context, config Config) (*Tracer, error) {
	to, err := newExporter(ctx, config.Config)
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	about, err := config.Resource(ctx)
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	state := &otlp.State{What: "spans", Logger: config.Logger}
	otlp.HandleErrors(config.Logger)
	options := []sdk.TracerProviderOption{sdk.WithBatcher(exporter{to, state}), sdk.WithResource(about)}
	if os.Getenv("OTEL_TRACES_SAMPLER") == "" {
		options = append(options, sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(config.Ratio))))
	}
	provider := sdk.NewTracerProvider(options...)
	return &Tracer{
		provider: provider, tracer: provider.Tracer("github.com/guidonhq/guidon"), entities: config.Entities, state: state,
	}, nil
}

// Close sends the spans that are queued, for a limited time, and ends the goroutine.
func (t *Tracer) Close() { t.state.Stop(t.provider.Shutdown) }

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
