package tracing

import (
	"context"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/guidonhq/guidon/runtimes/server/otlp"
)

// newExporter returns what sends spans to the configured endpoint. It does not connect.
func newExporter(ctx context.Context, c otlp.Config) (sdk.SpanExporter, error) {
	scheme, address := c.Target("traces")
	if scheme == "http" || scheme == "https" {
		var options []otlptracehttp.Option
		if len(c.Headers) > 0 {
			options = append(options, otlptracehttp.WithHeaders(c.Headers))
		}
		if address != "" {
			options = append(options, otlptracehttp.WithEndpointURL(scheme+"://"+address))
		}
		return otlptracehttp.New(ctx, options...)
	}
	var options []otlptracegrpc.Option
	if len(c.Headers) > 0 {
		options = append(options, otlptracegrpc.WithHeaders(c.Headers))
	}
	if address != "" {
		options = append(options, otlptracegrpc.WithEndpointURL(map[string]string{"grpc": "http://", "grpcs": "https://"}[scheme]+address))
	}
	return otlptracegrpc.New(ctx, options...)
}

// exporter reports errors once instead of returning each of them.
type exporter struct {
	sdk.SpanExporter
	state *otlp.State
}

// ExportSpans implements [sdk.SpanExporter].
func (e exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	e.state.Sent(e.SpanExporter.ExportSpans(ctx, spans))
	return nil
}
