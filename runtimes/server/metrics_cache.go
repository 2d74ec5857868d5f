package server

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// CacheStats is what a cache counted since the start of the process.
type CacheStats struct {
	Cache  string // where it keeps its entries, such as "memory"
	Type   string // what they are, such as "snapshot"
	Hits   uint64
	Misses uint64
	Stale  uint64        // requests answered with an old entry, because the database did not answer
	Outage time.Duration // for how long the database has not answered; zero while it does
}

// cacheCollector reads the counts when it is scraped, so that a cache hit costs
// no more than the cache's own count.
type cacheCollector func() []CacheStats

var (
	cacheHits = prometheus.NewDesc("guidon_cache_hit_total",
		"Reads that the cache answered.", []string{"cache", "type"}, nil)
	cacheMisses = prometheus.NewDesc("guidon_cache_miss_total",
		"Reads that the cache could not answer.", []string{"cache", "type"}, nil)
	cacheStale = prometheus.NewDesc("guidon_cache_stale_answers_total",
		"Requests answered from the cache because the database did not answer.", []string{"cache", "type"}, nil)
	cacheStaleness = prometheus.NewDesc("guidon_cache_staleness_seconds",
		"For how long the database has not answered, 0 while it does.", []string{"cache", "type"}, nil)
)

// Describe implements prometheus.Collector.
func (cacheCollector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- cacheHits
	descriptions <- cacheMisses
	descriptions <- cacheStale
	descriptions <- cacheStaleness
}

// Collect implements prometheus.Collector.
func (c cacheCollector) Collect(metrics chan<- prometheus.Metric) {
	for _, s := range c() {
		metrics <- prometheus.MustNewConstMetric(cacheHits, prometheus.CounterValue, float64(s.Hits), s.Cache, s.Type)
		metrics <- prometheus.MustNewConstMetric(cacheMisses, prometheus.CounterValue, float64(s.Misses), s.Cache, s.Type)
		metrics <- prometheus.MustNewConstMetric(cacheStale, prometheus.CounterValue, float64(s.Stale), s.Cache, s.Type)
		metrics <- prometheus.MustNewConstMetric(cacheStaleness, prometheus.GaugeValue, s.Outage.Seconds(), s.Cache, s.Type)
	}
}
