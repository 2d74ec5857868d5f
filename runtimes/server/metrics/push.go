package metrics

import (
	"context"

	"go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/guidonhq/guidon/runtimes/server/otlp"
)

// Push sends the metrics to a collector, under the same names, once a minute or as
// OTEL_METRIC_EXPORT_INTERVAL says. stop sends them once more, and ends that.
func (m *Registry) Push(ctx context.Context, c otlp.Config) (stop func(), err error) {
	to, err := newExporter(ctx, c)
	if err != nil {
		return nil, err
	}
	about, err := c.Resource(ctx)
	if err != nil {
		return nil, err
	}
	otlp.HandleErrors(c.Logger)
	state := &otlp.State{What: "metrics", Logger: c.Logger}
	reader := sdk.NewPeriodicReader(exporter{to, state},
		sdk.WithProducer(prometheus.NewMetricProducer(prometheus.WithGatherer(m.registry))))
	provider := sdk.NewMeterProvider(sdk.WithReader(reader), sdk.WithResource(about))
	return func() { state.Stop(provider.Shutdown) }, nil
}

// newExporter returns what sends metrics to the configured endpoint. It does not connect.
func newExporter(ctx context.Context, c otlp.Config) (sdk.Exporter, error) {
	scheme, address := c.Target("metrics")
	if scheme == "http" || scheme == "https" {
		var options []otlpmetrichttp.Option
		if len(c.Headers) > 0 {
			options = append(options, otlpmetrichttp.WithHeaders(c.Headers))
		}
		if address != "" {
			options = append(options, otlpmetrichttp.WithEndpointURL(scheme+"://"+address))
		}
		return otlpmetrichttp.New(ctx, options...)
	}
	var options []otlpmetricgrpc.Option
	if len(c.Headers) > 0 {
		options = append(options, otlpmetricgrpc.WithHeaders(c.Headers))
	}
	if address != "" {
		options = append(options, otlpmetricgrpc.WithEndpointURL(map[string]string{"grpc": "http://", "grpcs": "https://"}[scheme]+address))
	}
	return otlpmetricgrpc.New(ctx, options...)
}

// exporter reports errors once instead of returning each of them.
type exporter struct {
	sdk.Exporter
	state *otlp.State
}

// Export implements [sdk.Exporter].
func (e exporter) Export(ctx context.Context, data *metricdata.ResourceMetrics) error {
	e.state.Sent(e.Exporter.Export(ctx, data))
	return nil
}
