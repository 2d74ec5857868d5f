package server

import (
	"log/slog"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"google.golang.org/grpc/codes"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/budget"
)

// maxScrapes bounds how many scrapes are answered at a time.
const maxScrapes = 4

// MetricsConfig is what metrics are made of. Zero values are right.
type MetricsConfig struct {
	Info    handler.Info        // of the build
	Caches  func() []CacheStats // asked at each scrape; nil = no cache metrics
	Redis   func() RedisStats   // the same, with Caches; nil where there is none
	Streams *handler.Streams    // nil = no metrics of streams
	Memory  *budget.Budget      // of the handler; nil = no metrics of it
	Logger  *slog.Logger        // for failed scrapes; nil = slog.Default
}

// Metrics counts what the server does, under the names of contract 11 with the
// prefix guidon_, in a registry of its own. It implements [handler.Observer];
// its methods may be called concurrently.
//
// Every label has a bounded number of values, whatever callers send. A flag
// that does not exist is counted under empty labels, and after [MaxSeries]
// combinations of flag and result further ones are counted under the flag
// [OtherFlag].
type Metrics struct {
	registry     *prometheus.Registry
	logger       *slog.Logger
	serverErrors prometheus.Counter
	operations   *operationMetrics
	evaluations  *evaluationMetrics
}

var _ handler.Observer = (*Metrics)(nil)

// NewMetrics returns metrics that have counted nothing yet. It starts nothing.
func NewMetrics(config MetricsConfig) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		logger:   config.Logger,
		serverErrors: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "guidon_server_errors_total",
			Help: "Requests answered with an internal error or as unavailable.",
		}),
	}
	if m.logger == nil {
		m.logger = slog.Default()
	}
	m.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.serverErrors,
		buildInfo(config.Info),
	)
	if config.Caches != nil {
		m.registry.MustRegister(cacheCollector{caches: config.Caches, redis: config.Redis})
	}
	if config.Streams != nil {
		m.registry.MustRegister(streamCollector{config.Streams})
	}
	if config.Memory != nil {
		m.registry.MustRegister(memoryCollector{config.Memory})
	}
	m.operations = newOperationMetrics(m.registry, handler.Operations())
	m.evaluations = newEvaluationMetrics(m.registry, MaxSeries)
	return m
}

// Handler serves the metrics as Prometheus text (contract 11).
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(m.logger.Handler(), slog.LevelWarn),
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: maxScrapes,
	})
}

func buildInfo(info handler.Info) prometheus.Collector {
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "guidon_build_info",
		Help: "Always 1; the labels say what is running.",
		ConstLabels: prometheus.Labels{
			"version": info.Version, "commit": info.Commit, "goversion": runtime.Version(),
		},
	})
	gauge.Set(1)
	return gauge
}

// Finished counts one call of an operation.
func (m *Metrics) Finished(operation, _ string, code guidon.Code, duration time.Duration) {
	if code == guidon.Internal || code == guidon.Unavailable {
		m.serverErrors.Inc()
	}
	m.operations.count(operation, codes.Code(handler.GRPCCode(code)), duration)
}
