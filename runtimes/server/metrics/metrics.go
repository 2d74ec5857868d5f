// Package metrics counts operations and evaluations, for Prometheus.
package metrics

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/diagnostics"
	"github.com/guidonhq/guidon/handler/evaluation"
	"github.com/guidonhq/guidon/handler/limit"
	"github.com/guidonhq/guidon/handler/stream"
	"github.com/guidonhq/guidon/runtimes/server/telemetry"
	"github.com/guidonhq/guidon/service/count"
)

// maxScrapes limits the number of concurrent scrapes.
const maxScrapes = 4

// Config configures [New]. The zero value of every field is a usable
// default.
type Config struct {
	Info       diagnostics.Info             // of the build
	Cache      func() CacheStats            // called at each scrape; nil = no cache metrics
	Redis      func() RedisStats            // called with Cache; nil = no Redis metrics
	Unreadable func() (flags, segments int) // called at each scrape; nil = no metrics of unreadable objects
	Streams    *stream.Hub                  // nil = no stream metrics
	Counts     *count.Counter               // of evaluations; nil = no metrics of counts
	Memory     *limit.Budget                // of the handler; nil = no memory metrics
	Failures   *limit.Failures              // of the handler; nil = no metrics of failed credentials
	SignIns    *SignIns                     // nil = no metrics of signing in
	Deliveries func() Deliveries            // called at each scrape; nil = no metrics of webhooks
	Logger     *slog.Logger                 // for failed scrapes; nil = slog.Default
}

// Registry counts operations and evaluations in a registry of its own. The names are
// those of contract 11 with the prefix guidon_. It implements [call.Observer] and
// [evaluation.Observer], and its methods are safe for concurrent use.
//
// Every label has a limited number of values, whatever callers send. Flags that do not
// exist are counted under empty labels. After [MaxSeries] combinations of flag and
// result, further ones are counted under the flag [OtherFlag].
type Registry struct {
	registry     *prometheus.Registry
	logger       *slog.Logger
	serverErrors prometheus.Counter
	operations   *operationMetrics
	evaluations  *evaluationMetrics
	omitted      *omittedFlags
}

var (
	_ call.Observer       = (*Registry)(nil)
	_ evaluation.Observer = (*Registry)(nil)
)

// New returns metrics that have counted nothing yet. It starts no goroutines.
func New(config Config) *Registry {
	m := &Registry{
		registry: prometheus.NewRegistry(),
		logger:   cmp.Or(config.Logger, slog.Default()),
		serverErrors: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "guidon_server_errors_total",
			Help: "Requests that failed as internal or unavailable.",
		}),
	}
	m.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.serverErrors,
		buildInfo(config.Info),
	)
	for _, optional := range []struct {
		given bool
		prometheus.Collector
	}{
		{config.Cache != nil, cacheCounts(config.Cache, config.Redis)},
		{config.Unreadable != nil, unreadableObjects(config.Unreadable)},
		{config.Streams != nil, eventStreams(config.Streams)},
		{config.Counts != nil, counts(config.Counts)},
		{config.Memory != nil, requestMemory(config.Memory)},
		{config.Failures != nil, failedCredentials(config.Failures)},
		{config.Deliveries != nil, deliveries(config.Deliveries)},
	} {
		if optional.given {
			m.registry.MustRegister(optional.Collector)
		}
	}
	if config.SignIns != nil {
		m.registry.MustRegister(config.SignIns.attempts, config.SignIns.requests)
	}
	m.operations = newOperationMetrics(m.registry, handler.Operations())
	m.evaluations = newEvaluationMetrics(m.registry, MaxSeries)
	m.omitted = newOmittedFlags(m.registry)
	return m
}

// Push sends the metrics to a collector; see [telemetry.PushMetrics].
func (m *Registry) Push(ctx context.Context, c telemetry.Config) (stop func(), err error) {
	return telemetry.PushMetrics(ctx, c, m.registry)
}

// Handler serves the metrics as Prometheus text (contract 11).
func (m *Registry) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(m.logger.Handler(), slog.LevelWarn),
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: maxScrapes,
		EnableOpenMetrics:   true, // which has exemplars
	})
}

func buildInfo(info diagnostics.Info) prometheus.Collector {
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "guidon_build_info",
		Help: "Always 1; the labels identify the build.",
		ConstLabels: prometheus.Labels{
			"version": info.Version, "commit": info.Commit, "goversion": runtime.Version(),
		},
	})
	gauge.Set(1)
	return gauge
}

// Finished counts one call of an operation.
func (m *Registry) Finished(operation, _ string, code guidon.Code, duration time.Duration, trace string) {
	if code == guidon.Internal || code == guidon.Unavailable {
		m.serverErrors.Inc()
	}
	m.operations.count(operation, code, duration, trace)
}
