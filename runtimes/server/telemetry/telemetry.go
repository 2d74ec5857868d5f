// Package telemetry sends traces and metrics to a collector of OpenTelemetry by OTLP. It
// records requests as spans. No span has an evaluation context, a query string, a credential
// or a value of a database.
package telemetry

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/guidonhq/guidon/handler/call"
)

// Config is where something is sent. What it leaves out is as the variables OTEL_… say.
type Config struct {
	Endpoint string            // a URL, or host:port for gRPC without TLS; empty means that of the variables, or localhost
	Headers  map[string]string // sent to the collector
	Version  string            // of the service
	Logger   *slog.Logger
}

// target returns whether a signal, "traces" or "metrics", is sent over HTTP and not gRPC, and the
// URL of its endpoint, with http for gRPC without TLS. It is empty if the variables name the endpoint.
func (c Config) target(signal string) (overHTTP bool, url string) {
	overHTTP = variable(signal, "PROTOCOL") != "grpc"
	switch {
	case c.Endpoint == "" && variable(signal, "ENDPOINT") != "":
		return overHTTP, ""
	case c.Endpoint == "" && overHTTP && variable(signal, "PROTOCOL") != "":
		return true, "http://localhost:4318/v1/" + signal
	}
	scheme, address, found := strings.Cut(cmp.Or(c.Endpoint, "localhost:4317"), "://")
	switch {
	case !found:
		return false, "http://" + scheme
	case scheme == "grpc":
		return false, "http://" + address
	case scheme == "grpcs":
		return false, "https://" + address
	case !strings.Contains(address, "/"):
		address += "/v1/" + signal
	}
	return true, scheme + "://" + address
}

// options returns the options of an exporter to the URL.
func options[O any](c Config, url string, withHeaders func(map[string]string) O, withURL func(string) O) (all []O) {
	if len(c.Headers) > 0 {
		all = append(all, withHeaders(c.Headers))
	}
	if url != "" {
		all = append(all, withURL(url))
	}
	return all
}

// variable returns the value of a variable for the signal, or else of that for all signals.
func variable(signal, name string) string {
	return cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_"+strings.ToUpper(signal)+"_"+name), os.Getenv("OTEL_EXPORTER_OTLP_"+name))
}

// begin returns what says that this is a server of Guidon, and the state of sending. It logs the
// first of those errors that the SDK returns to nobody, such as that the collector has rejected a part.
func (c Config) begin(ctx context.Context, what string) (*resource.Resource, *state, error) {
	about, err := resource.New(ctx,
		resource.WithAttributes(semconv.ServiceName("guidon"), semconv.ServiceVersion(c.Version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	otel.SetErrorHandler(otel.ErrorHandlerFunc((&state{what: "everything", logger: c.Logger}).sent))
	return about, &state{what: what, logger: c.Logger}, err
}

// flushTimeout limits how long the last data may take.
const flushTimeout = 3 * time.Second

// state logs when something can no longer be sent, and when it can again, once each.
type state struct {
	what   string // that is sent
	logger *slog.Logger
	failed atomic.Bool
}

// sent notes the error of an attempt, or nil.
func (s *state) sent(err error) {
	switch failed := err != nil; {
	case s.failed.Swap(failed) == failed:
	case failed:
		s.logger.Warn("cannot send "+s.what+" to the collector; some will be lost", "error", call.Clip(err.Error()))
	default:
		s.logger.Info("the collector accepts " + s.what + " again")
	}
}

// stop calls shutdown, which sends what is left, with a time limit.
func (s *state) stop(shutdown func(ctx context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	if err := shutdown(ctx); err != nil {
		s.logger.Warn("the last "+s.what+" were not sent", "error", call.Clip(err.Error()))
	}
}

// PushMetrics sends the metrics to a collector, under the same names, once a minute or as
// OTEL_METRIC_EXPORT_INTERVAL says. stop sends them once more, and ends that.
func PushMetrics(ctx context.Context, c Config, metrics prometheus.Gatherer) (stop func(), err error) {
	to, err := newMetricExporter(ctx, c)
	if err != nil {
		return nil, err
	}
	about, state, err := c.begin(ctx, "metrics")
	if err != nil {
		return nil, err
	}
	reader := sdk.NewPeriodicReader(metricExporter{to, state},
		sdk.WithProducer(bridge.NewMetricProducer(bridge.WithGatherer(metrics))))
	provider := sdk.NewMeterProvider(sdk.WithReader(reader), sdk.WithResource(about))
	return func() { state.stop(provider.Shutdown) }, nil
}

// newMetricExporter returns what sends metrics to the configured endpoint. It does not connect.
func newMetricExporter(ctx context.Context, c Config) (sdk.Exporter, error) {
	overHTTP, url := c.target("metrics")
	if overHTTP {
		return otlpmetrichttp.New(ctx, options(c, url, otlpmetrichttp.WithHeaders, otlpmetrichttp.WithEndpointURL)...)
	}
	return otlpmetricgrpc.New(ctx, options(c, url, otlpmetricgrpc.WithHeaders, otlpmetricgrpc.WithEndpointURL)...)
}

// metricExporter reports errors once instead of returning each of them.
type metricExporter struct {
	sdk.Exporter
	state *state
}

// Export implements [sdk.Exporter].
func (e metricExporter) Export(ctx context.Context, data *metricdata.ResourceMetrics) error {
	e.state.sent(e.Exporter.Export(ctx, data))
	return nil
}
