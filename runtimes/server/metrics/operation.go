package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
)

// operationMetrics counts operations under the usual names for gRPC servers, for both
// transports. HTTP has the same operations (contract 1.1), and dashboards made for the
// reference expect these names. The operations table determines the set of series, so
// that no caller input becomes a label.
type operationMetrics struct {
	started *prometheus.CounterVec
	seconds *prometheus.HistogramVec
	handled *prometheus.CounterVec
	byName  map[string]*operationSeries // read-only after construction
	other   *operationSeries            // for operations that are not in the table
}

// operationSeries is the metrics of one operation. The counters exist from the start, so
// that alerts see the first failure as an increase. The histogram, which has a dozen
// series, is created when it is first needed, because most operations are rarely called.
type operationSeries struct {
	service, method string
	started         prometheus.Counter
	byCode          [codes.Unauthenticated + 1]prometheus.Counter // nil for codes that the service does not have
	once            sync.Once
	seconds         prometheus.Observer
}

const unary = "unary" // every operation is

func newOperationMetrics(registry prometheus.Registerer, operations []*call.Operation) *operationMetrics {
	labels := []string{"grpc_service", "grpc_method", "grpc_type"}
	m := &operationMetrics{
		started: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "grpc_server_started_total",
			Help: "Calls of an operation over either transport. A call is counted when it has ended.",
		}, labels),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "grpc_server_handling_seconds",
			Help:    "Time that calls of an operation took, over either transport.",
			Buckets: []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30},
		}, labels),
		handled: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "grpc_server_handled_total",
			Help: "Calls of an operation over either transport, by the gRPC code of the response.",
		}, append(labels, "grpc_code")),
		byName: make(map[string]*operationSeries, len(operations)),
	}
	registry.MustRegister(m.started, m.seconds, m.handled)
	for _, o := range operations {
		m.byName[o.Name] = m.newSeries(o.Service(), o.Method())
	}
	m.other = m.newSeries("", "_other")
	return m
}

func (m *operationMetrics) newSeries(service, method string) *operationSeries {
	s := &operationSeries{service: service, method: method, started: m.started.WithLabelValues(service, method, unary)}
	for _, code := range call.Codes() {
		grpc := codes.Code(call.GRPCCode(code))
		s.byCode[grpc] = m.handled.WithLabelValues(service, method, unary, grpc.String())
	}
	return s
}

// count counts one call that has ended. The trace, unless it is "", is an example of its duration.
func (m *operationMetrics) count(operation string, code guidon.Code, duration time.Duration, trace string) {
	s := m.byName[operation]
	if s == nil {
		s = m.other
	}
	s.once.Do(func() { s.seconds = m.seconds.WithLabelValues(s.service, s.method, unary) })
	s.started.Inc()
	if trace == "" {
		s.seconds.Observe(duration.Seconds())
	} else {
		s.seconds.(prometheus.ExemplarObserver).ObserveWithExemplar(duration.Seconds(), prometheus.Labels{"trace_id": trace})
	}
	s.byCode[call.GRPCCode(code)].Inc()
}
