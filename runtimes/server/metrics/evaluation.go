package metrics

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/evaluation"
)

// MaxSeries limits the combinations of flag and result that are counted separately.
const MaxSeries = 10_000

// OtherFlag is the flag, and the namespace, that further evaluations are counted under
// when there are MaxSeries combinations.
const OtherFlag = "_other"

// maxLabel limits label values in bytes: variant keys, or the keys of the segments that
// matched.
const maxLabel = 255

// evaluationMetrics counts evaluations.
//
// The latency has no label but the type. An evaluation takes some hundred nanoseconds
// on a snapshot in memory, whatever the flag, and a histogram has a dozen series for each
// combination of labels. A histogram per flag would cost more than all other metrics
// together and be of no use.
type evaluationMetrics struct {
	requests *prometheus.CounterVec
	errors   *prometheus.CounterVec
	results  *prometheus.CounterVec
	variant  latencyObserver
	boolean  latencyObserver
	limit    int

	mu       sync.RWMutex
	series   map[seriesKey]series                 // at most limit, and those of OtherFlag
	interned map[string]string                    // the strings of the keys
	common   map[string]map[string][]commonSeries // by namespace and flag
}

// latencyObserver observes the latency of one type of flag, under its present and its former name.
type latencyObserver struct{ seconds, milliseconds prometheus.Observer }

func (o latencyObserver) observe(d time.Duration) {
	o.seconds.Observe(d.Seconds())
	o.milliseconds.Observe(float64(d) / float64(time.Millisecond))
}

// maxCommon is how many combinations of a flag are searched linearly. Most flags have
// fewer, and the search takes half as long as a lookup in the map of all.
const maxCommon = 8

// commonSeries is one of the first combinations of a flag.
type commonSeries struct {
	key    resultKey
	series series
}

// seriesKey is a combination of labels.
type seriesKey struct {
	namespace, flag string
	resultKey
}

// resultKey is the part of a seriesKey that does not identify the flag.
type resultKey struct {
	kind, value, reason, segment string
	match                        bool
	failed                       bool
}

// series is the counters of one combination.
type series struct {
	requests prometheus.Counter
	outcome  prometheus.Counter // a result or an error
}

func newEvaluationMetrics(registry prometheus.Registerer, limit int) *evaluationMetrics {
	latency := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "guidon_evaluations_latency_seconds",
		Help:    "Time of one evaluation.",
		Buckets: []float64{1e-6, 2.5e-6, 5e-6, 10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 0.001, 0.005, 0.025, 0.1, 1},
	}, []string{"type"})
	former := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "guidon_evaluations_latency_milliseconds",
		Help:    "Deprecated: guidon_evaluations_latency_seconds in milliseconds, for one more release.",
		Buckets: []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 25, 100, 1000},
	}, []string{"type"})
	m := &evaluationMetrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "guidon_evaluations_requests_total",
			Help: "Evaluations requested.",
		}, []string{"namespace", "flag"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "guidon_evaluations_errors_total",
			Help: "Evaluations that failed. The labels are empty if the flag is not known to exist.",
		}, []string{"namespace", "flag"}),
		results: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "guidon_evaluations_results_total",
			Help: "Results of evaluations. match and segment are empty for boolean flags.",
		}, []string{"namespace", "flag", "type", "match", "segment", "reason", "value"}),
		variant:  latencyObserver{latency.WithLabelValues(typeVariant), former.WithLabelValues(typeVariant)},
		boolean:  latencyObserver{latency.WithLabelValues(typeBoolean), former.WithLabelValues(typeBoolean)},
		limit:    limit,
		series:   map[seriesKey]series{},
		interned: map[string]string{},
		common:   map[string]map[string][]commonSeries{},
	}
	registry.MustRegister(m.requests, m.errors, m.results, latency, former)
	m.newSeries(seriesKey{resultKey: resultKey{failed: true}}) // evaluations of flags that are not known to exist
	return m
}

// The values of the label type.
const (
	typeVariant = "variant"
	typeBoolean = "boolean"
)

// Evaluated counts evaluations.
func (m *Registry) Evaluated(events []evaluation.Event) { m.evaluations.count(events) }

func (m *evaluationMetrics) count(events []evaluation.Event) {
	for rest := events; len(rest) > 0; {
		rest = rest[m.countKnown(rest):]
		if len(rest) > 0 { // a combination that is counted for the first time
			m.get(keyOf(&rest[0])).inc()
			rest = rest[1:]
		}
	}
	for i := range events {
		if events[i].Type == typeBoolean {
			m.boolean.observe(events[i].Duration)
		} else {
			m.variant.observe(events[i].Duration)
		}
	}
}

// countKnown counts the events up to the first whose combination is not known, and
// returns their number. In the usual case these are all events. It takes only a read lock
// and does not allocate.
func (m *evaluationMetrics) countKnown(events []evaluation.Event) int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for i := range events {
		key := keyOf(&events[i])
		s, known := m.known(&key)
		if !known {
			return i
		}
		s.inc()
	}
	return len(events)
}

func (s series) inc() {
	s.requests.Inc()
	s.outcome.Inc()
}

// keyOf returns the labels of the event. They are empty, including the namespace, if it
// is not certain that the flag exists: names made up by a caller must not displace real
// ones. This applies to unknown flags and to every failure except a rejected request,
// for example if the database cannot be reached. The labels of a failure contain only the
// namespace and the flag.
func keyOf(event *evaluation.Event) (key seriesKey) {
	if event.Err != nil || !event.FlagExists {
		key.failed = true
		if event.FlagExists && errors.Is(event.Err, guidon.InvalidArgument) {
			key.namespace, key.flag = event.Namespace, event.Flag
		}
		return key
	}
	key.namespace, key.flag = event.Namespace, event.Flag
	key.kind, key.value, key.reason = event.Type, event.Value, event.Reason
	if event.Type == typeVariant {
		key.match = event.Match
		key.segment = strings.Join(event.SegmentKeys, ",")
	}
	return key
}

// get returns the counters of the combination. It creates them if there are none.
func (m *evaluationMetrics) get(key seriesKey) series {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.series) >= m.limit {
		key = seriesKey{OtherFlag, OtherFlag, resultKey{kind: key.kind, failed: key.failed}}
	}
	if s, known := m.known(&key); known {
		return s
	}
	key = m.intern(key)
	s := m.newSeries(key)
	m.series[key] = s
	flags := m.common[key.namespace]
	if flags == nil {
		flags = map[string][]commonSeries{}
		m.common[key.namespace] = flags
	}
	if common := flags[key.flag]; len(common) < maxCommon {
		flags[key.flag] = append(common, commonSeries{key.resultKey, s})
	}
	return s
}

// known returns the counters of the combination, or false if there are none. m.mu must be
// held, at least for reading.
func (m *evaluationMetrics) known(key *seriesKey) (series, bool) {
	common := m.common[key.namespace][key.flag]
	for i := range common {
		if common[i].key == key.resultKey {
			return common[i].series, true
		}
	}
	if len(common) < maxCommon {
		return series{}, false
	}
	s, known := m.series[*key]
	return s, known
}

func (m *evaluationMetrics) newSeries(key seriesKey) series {
	s := series{requests: m.requests.WithLabelValues(label(key.namespace), label(key.flag))}
	s.outcome = m.errors.WithLabelValues(label(key.namespace), label(key.flag)) // exists before the first failure
	if key.failed {
		return s
	}
	match := ""
	if key.kind == typeVariant && key.flag != OtherFlag {
		match = strconv.FormatBool(key.match)
	}
	s.outcome = m.results.WithLabelValues(label(key.namespace), label(key.flag), key.kind,
		match, label(key.segment), key.reason, label(key.value))
	return s
}

// intern returns the key with interned strings, so that it does not keep the memory of a
// request alive. Strings that keys have in common are also faster to compare if they are
// in the same memory.
func (m *evaluationMetrics) intern(key seriesKey) seriesKey {
	for _, text := range []*string{&key.namespace, &key.flag, &key.kind, &key.value, &key.reason, &key.segment} {
		own, known := m.interned[*text]
		if !known {
			own = strings.Clone(*text)
			m.interned[own] = own
		}
		*text = own
	}
	return key
}

// label returns a value that Prometheus accepts.
func label(value string) string {
	if len(value) > maxLabel {
		value = value[:maxLabel]
	}
	return strings.ToValidUTF8(value, "")
}
