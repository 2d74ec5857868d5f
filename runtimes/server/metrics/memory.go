package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/guidonhq/guidon/handler/limit"
)

// memoryCollector reads the memory budget of requests when it is scraped.
type memoryCollector struct{ budget *limit.Budget }

var (
	memoryLimit = prometheus.NewDesc("guidon_request_memory_limit_bytes",
		"Memory that requests and responses in progress may reserve.", []string{"kind"}, nil)
	memoryReserved = prometheus.NewDesc("guidon_request_memory_reserved_bytes",
		"Memory that requests and responses in progress have reserved.", []string{"kind"}, nil)
	memoryRejected = prometheus.NewDesc("guidon_request_memory_rejected_total",
		"Requests and responses for which there was no memory.", []string{"kind"}, nil)
)

// Describe implements prometheus.Collector.
func (memoryCollector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- memoryLimit
	descriptions <- memoryReserved
	descriptions <- memoryRejected
}

// Collect implements prometheus.Collector.
func (c memoryCollector) Collect(metrics chan<- prometheus.Metric) {
	for kind, pool := range map[string]*limit.Pool{
		"body": c.budget.Bodies, "message": c.budget.Messages, "response": c.budget.Responses,
	} {
		s := pool.Stats()
		metrics <- prometheus.MustNewConstMetric(memoryLimit, prometheus.GaugeValue, float64(s.Size), kind)
		metrics <- prometheus.MustNewConstMetric(memoryReserved, prometheus.GaugeValue, float64(s.Used), kind)
		metrics <- prometheus.MustNewConstMetric(memoryRejected, prometheus.CounterValue, float64(s.Rejected), kind)
	}
}
