package metrics

import "github.com/prometheus/client_golang/prometheus"

// unreadableCollector returns how many flags and segments are unreadable.
type unreadableCollector func() (flags, segments int)

var unreadableObjects = prometheus.NewDesc("guidon_unreadable_objects",
	"Flags that cannot be evaluated and segments that cannot be read, because they need a newer release or are damaged.",
	[]string{"kind"}, nil)

// Describe implements prometheus.Collector.
func (unreadableCollector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- unreadableObjects
}

// Collect implements prometheus.Collector.
func (c unreadableCollector) Collect(metrics chan<- prometheus.Metric) {
	flags, segments := c()
	metrics <- prometheus.MustNewConstMetric(unreadableObjects, prometheus.GaugeValue, float64(flags), "flag")
	metrics <- prometheus.MustNewConstMetric(unreadableObjects, prometheus.GaugeValue, float64(segments), "segment")
}
