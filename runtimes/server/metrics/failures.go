package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/guidonhq/guidon/handler/limit"
)

// failureCollector reads the number of failed credentials when it is scraped.
type failureCollector struct{ failures *limit.Failures }

var failedCredentials = prometheus.NewDesc("guidon_failed_credentials_total",
	"Requests whose credential was not valid, by whether they were within the limits.", []string{"result"}, nil)

// Describe implements prometheus.Collector.
func (failureCollector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- failedCredentials
}

// Collect implements prometheus.Collector.
func (c failureCollector) Collect(metrics chan<- prometheus.Metric) {
	s := c.failures.Stats()
	metrics <- prometheus.MustNewConstMetric(failedCredentials, prometheus.CounterValue, float64(s.Denied), "denied")
	metrics <- prometheus.MustNewConstMetric(failedCredentials, prometheus.CounterValue, float64(s.Limited), "limited")
}
