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

// cacheCounts reads the counts of the caches, so that a hit costs no more than the cache's own
// counter. redis is nil without Redis.
func cacheCounts(caches func() []CacheStats, redis func() RedisStats) collector {
	hits := prometheus.NewDesc("guidon_cache_hit_total",
		"Reads served from the cache.", []string{"cache", "type"}, nil)
	misses := prometheus.NewDesc("guidon_cache_miss_total",
		"Reads that could not be served from the cache.", []string{"cache", "type"}, nil)
	stale := prometheus.NewDesc("guidon_cache_stale_answers_total",
		"Requests served from the cache because the database did not respond.", []string{"cache", "type"}, nil)
	staleness := prometheus.NewDesc("guidon_cache_staleness_seconds",
		"How long the database has not responded, 0 while it does.", []string{"cache", "type"}, nil)
	up := prometheus.NewDesc("guidon_cache_redis_up",
		"1 while Redis is queried, 0 while the database is queried instead because Redis did not respond or returned an error.", nil, nil)
	errors := prometheus.NewDesc("guidon_cache_redis_errors_total",
		"Redis queries that timed out or failed.", nil, nil)
	c := collector{descriptions: []*prometheus.Desc{hits, misses, stale, staleness}}
	if redis != nil {
		c.descriptions = append(c.descriptions, up, errors)
	}
	c.read = func(send sendFunc) {
		for _, s := range caches() {
			send(hits, prometheus.CounterValue, float64(s.Hits), s.Cache, s.Type)
			send(misses, prometheus.CounterValue, float64(s.Misses), s.Cache, s.Type)
			send(stale, prometheus.CounterValue, float64(s.Stale), s.Cache, s.Type)
			send(staleness, prometheus.GaugeValue, s.Outage.Seconds(), s.Cache, s.Type)
		}
		if redis == nil {
			return
		}
		s := redis()
		send(hits, prometheus.CounterValue, float64(s.RevisionHits), "redis", "revision")
		send(misses, prometheus.CounterValue, float64(s.RevisionMisses), "redis", "revision")
		send(hits, prometheus.CounterValue, float64(s.SnapshotHits), "redis", "snapshot")
		send(misses, prometheus.CounterValue, float64(s.SnapshotMisses), "redis", "snapshot")
		send(errors, prometheus.CounterValue, float64(s.Errors))
		if s.Up {
			send(up, prometheus.GaugeValue, 1)
		} else {
			send(up, prometheus.GaugeValue, 0)
		}
	}
	return c
}
