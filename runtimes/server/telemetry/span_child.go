package telemetry

import (
	"context"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/guidonhq/guidon"
)

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
