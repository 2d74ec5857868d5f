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

// RedisStats is what instances that share a Redis asked it since the start of the
// process.
type RedisStats struct {
	Up             bool // it is asked; otherwise the database is
	Errors         uint64
	RevisionHits   uint64
	RevisionMisses uint64
	SnapshotHits   uint64
	SnapshotMisses uint64
}

// cacheCollector reads the counts when it is scraped, so that a cache hit costs
// no more than the cache's own count.
type cacheCollector struct {
	caches func() []CacheStats
	redis  func() RedisStats // nil where there is none
}

var (
	cacheHits = prometheus.NewDesc("guidon_cache_hit_total",
		"Reads that the cache answered.", []string{"cache", "type"}, nil)
	cacheMisses = prometheus.NewDesc("guidon_cache_miss_total",
		"Reads that the cache could not answer.", []string{"cache", "type"}, nil)
	cacheStale = prometheus.NewDesc("guidon_cache_stale_answers_total",
		"Requests answered from the cache because the database did not answer.", []string{"cache", "type"}, nil)
	cacheStaleness = prometheus.NewDesc("guidon_cache_staleness_seconds",
		"For how long the database has not answered, 0 while it does.", []string{"cache", "type"}, nil)
	redisUp = prometheus.NewDesc("guidon_cache_redis_up",
		"1 while Redis is asked, 0 while the database is asked instead because Redis did not answer or refused.", nil, nil)
	redisErrors = prometheus.NewDesc("guidon_cache_redis_errors_total",
		"Questions to Redis that were not answered in time, or refused.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c cacheCollector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- cacheHits
	descriptions <- cacheMisses
	descriptions <- cacheStale
	descriptions <- cacheStaleness
	if c.redis != nil {
		descriptions <- redisUp
		descriptions <- redisErrors
	}
}

// Collect implements prometheus.Collector.
func (c cacheCollector) Collect(metrics chan<- prometheus.Metric) {
	for _, s := range c.caches() {
		metrics <- prometheus.MustNewConstMetric(cacheHits, prometheus.CounterValue, float64(s.Hits), s.Cache, s.Type)
		metrics <- prometheus.MustNewConstMetric(cacheMisses, prometheus.CounterValue, float64(s.Misses), s.Cache, s.Type)
		metrics <- prometheus.MustNewConstMetric(cacheStale, prometheus.CounterValue, float64(s.Stale), s.Cache, s.Type)
		metrics <- prometheus.MustNewConstMetric(cacheStaleness, prometheus.GaugeValue, s.Outage.Seconds(), s.Cache, s.Type)
	}
	if c.redis != nil {
		c.collectRedis(metrics, c.redis())
	}
}

func (cacheCollector) collectRedis(metrics chan<- prometheus.Metric, s RedisStats) {
	count := func(description *prometheus.Desc, n uint64, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(description, prometheus.CounterValue, float64(n), labels...)
	}
	count(cacheHits, s.RevisionHits, "redis", "revision")
	count(cacheMisses, s.RevisionMisses, "redis", "revision")
	count(cacheHits, s.SnapshotHits, "redis", "snapshot")
	count(cacheMisses, s.SnapshotMisses, "redis", "snapshot")
	count(redisErrors, s.Errors)
	up := 0.0
	if s.Up {
		up = 1
	}
	metrics <- prometheus.MustNewConstMetric(redisUp, prometheus.GaugeValue, up)
}
