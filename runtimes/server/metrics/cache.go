package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// CacheStats is the statistics of a cache since the start of the process.
type CacheStats struct {
	Cache  string // where the entries are stored, such as "memory"
	Type   string // the type of the entries, such as "snapshot"
	Hits   uint64
	Misses uint64
	Stale  uint64        // requests served from an old entry because the database did not respond
	Outage time.Duration // how long the database has not responded; zero while it does
}

// RedisStats is the statistics of this instance's Redis queries since the start of the
// process.
type RedisStats struct {
	Up             bool // Redis is queried; otherwise the database is
	Errors         uint64
	RevisionHits   uint64
	RevisionMisses uint64
	SnapshotHits   uint64
	SnapshotMisses uint64
}

// cacheCollector reads the counts when it is scraped, so that a cache hit costs no more
// than the cache's own counter.
type cacheCollector struct {
	caches func() []CacheStats
	redis  func() RedisStats // nil without Redis
}

var (
	cacheHits = prometheus.NewDesc("guidon_cache_hit_total",
		"Reads served from the cache.", []string{"cache", "type"}, nil)
	cacheMisses = prometheus.NewDesc("guidon_cache_miss_total",
		"Reads that could not be served from the cache.", []string{"cache", "type"}, nil)
	cacheStale = prometheus.NewDesc("guidon_cache_stale_answers_total",
		"Requests served from the cache because the database did not respond.", []string{"cache", "type"}, nil)
	cacheStaleness = prometheus.NewDesc("guidon_cache_staleness_seconds",
		"How long the database has not responded, 0 while it does.", []string{"cache", "type"}, nil)
	redisUp = prometheus.NewDesc("guidon_cache_redis_up",
		"1 while Redis is queried, 0 while the database is queried instead because Redis did not respond or returned an error.", nil, nil)
	redisErrors = prometheus.NewDesc("guidon_cache_redis_errors_total",
		"Redis queries that timed out or failed.", nil, nil)
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
