package server

import "github.com/prometheus/client_golang/prometheus"

// CacheStats is what a cache counted since the start of the process.
type CacheStats struct {
	Cache  string // where it keeps its entries, such as "memory"
	Type   string // what they are, such as "snapshot"
	Hits   uint64
	Misses uint64
}

// cacheCollector reads the counts when it is scraped, so that a cache hit costs
// no more than the cache's own count.
type cacheCollector func() []CacheStats

var (
	cacheHits = prometheus.NewDesc("guidon_cache_hit_total",
		"Reads that the cache answered.", []string{"cache", "type"}, nil)
	cacheMisses = prometheus.NewDesc("guidon_cache_miss_total",
		"Reads that the cache could not answer.", []string{"cache", "type"}, nil)
)

// Describe implements prometheus.Collector.
func (cacheCollector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- cacheHits
	descriptions <- cacheMisses
}

// Collect implements prometheus.Collector.
func (c cacheCollector) Collect(metrics chan<- prometheus.Metric) {
	for _, s := range c() {
		metrics <- prometheus.MustNewConstMetric(cacheHits, prometheus.CounterValue, float64(s.Hits), s.Cache, s.Type)
		metrics <- prometheus.MustNewConstMetric(cacheMisses, prometheus.CounterValue, float64(s.Misses), s.Cache, s.Type)
	}
}
