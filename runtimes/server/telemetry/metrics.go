package telemetry

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

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
