package tracing

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/guidonhq/guidon/handler/call"
)

// newExporter returns what sends spans to the configured endpoint. It does not connect.
func newExporter(ctx context.Context, c Config) (sdk.SpanExporter, error) {
	protocol := variable("PROTOCOL")
	var overGRPC []otlptracegrpc.Option
	var overHTTP []otlptracehttp.Option
	if len(c.Headers) > 0 {
		overGRPC, overHTTP = append(overGRPC, otlptracegrpc.WithHeaders(c.Headers)), append(overHTTP, otlptracehttp.WithHeaders(c.Headers))
	}
	switch scheme, address := endpoint(c.Endpoint, protocol); scheme {
	case "grpc":
		overGRPC = append(overGRPC, otlptracegrpc.WithEndpoint(address), otlptracegrpc.WithInsecure())
	case "grpcs":
		overGRPC = append(overGRPC, otlptracegrpc.WithEndpointURL("https://"+address))
	case "http", "https":
		if !strings.Contains(address, "/") {
			address += "/v1/traces"
		}
		return otlptracehttp.New(ctx, append(overHTTP, otlptracehttp.WithEndpointURL(scheme+"://"+address))...)
	default: // that of the variables
		if protocol != "grpc" {
			return otlptracehttp.New(ctx, overHTTP...)
		}
	}
	return otlptracegrpc.New(ctx, overGRPC...)
}

// endpoint returns the parts of the configured endpoint, or of that of a collector on this
// machine, or nothing if the variables name one.
func endpoint(configured, protocol string) (scheme, address string) {
	switch {
	case configured == "" && variable("ENDPOINT") != "":
		return "", ""
	case configured == "" && protocol == "http/protobuf":
		return "http", "localhost:4318"
	case configured == "":
		return "grpc", "localhost:4317"
	}
	if scheme, address, found := strings.Cut(configured, "://"); found {
		return scheme, address
	}
	return "grpc", configured
}

// variable returns the value of a variable OTEL_EXPORTER_OTLP_TRACES_… or else OTEL_EXPORTER_OTLP_….
func variable(name string) string {
	return cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_"+name), os.Getenv("OTEL_EXPORTER_OTLP_"+name))
}

// exporter logs when spans can no longer be sent, and when they can again, instead of
// returning each error.
type exporter struct {
	sdk.SpanExporter
	logger *slog.Logger
	failed atomic.Bool
}

// ExportSpans implements [sdk.SpanExporter].
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if err := e.SpanExporter.ExportSpans(ctx, spans); err != nil {
		e.report(err)
	} else if e.failed.Swap(false) {
		e.logger.Info("the collector accepts spans again")
	}
	return nil
}

// report logs the first error since the last success.
func (e *exporter) report(err error) {
	if !e.failed.Swap(true) {
		e.logger.Warn("cannot send spans to the collector; some will be lost", "error", call.Clip(err.Error()))
	}
}
