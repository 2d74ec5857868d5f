package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/guidonhq/guidon/handler/stream"
)

// streamCollector reads the counts of the event streams when it is scraped.
type streamCollector struct{ streams *stream.Hub }

var (
	streamsOpen = prometheus.NewDesc("guidon_streams_open",
		"Event streams that are open.", []string{"kind"}, nil)
	streamsRefused = prometheus.NewDesc("guidon_streams_refused_total",
		"Event streams that were rejected because too many were open, or the server was stopping.", []string{"kind"}, nil)
	streamsEnded = prometheus.NewDesc("guidon_streams_ended_total",
		"Event streams that have ended, by reason.", []string{"kind", "reason"}, nil)
)

// Describe implements prometheus.Collector.
func (streamCollector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- streamsOpen
	descriptions <- streamsRefused
	descriptions <- streamsEnded
}

// Collect implements prometheus.Collector.
func (c streamCollector) Collect(metrics chan<- prometheus.Metric) {
	for _, s := range c.streams.Stats() {
		metrics <- prometheus.MustNewConstMetric(streamsOpen, prometheus.GaugeValue, float64(s.Open), s.Kind)
		metrics <- prometheus.MustNewConstMetric(streamsRefused, prometheus.CounterValue, float64(s.Refused), s.Kind)
		for _, reason := range stream.Reasons {
			n := s.Ended[string(reason)]
			metrics <- prometheus.MustNewConstMetric(streamsEnded, prometheus.CounterValue, float64(n), s.Kind, string(reason))
		}
	}
}
