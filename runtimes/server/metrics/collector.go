package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/guidonhq/guidon/handler/limit"
	"github.com/guidonhq/guidon/handler/stream"
	"github.com/guidonhq/guidon/service/count"
)

// collector reads numbers that exist already when it is scraped.
type collector struct {
	descriptions []*prometheus.Desc
	read         func(send sendFunc)
}

type sendFunc func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string)

// Describe implements prometheus.Collector.
func (c collector) Describe(descriptions chan<- *prometheus.Desc) {
	for _, d := range c.descriptions {
		descriptions <- d
	}
}

// Collect implements prometheus.Collector.
func (c collector) Collect(metrics chan<- prometheus.Metric) {
	c.read(func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(d, kind, value, labels...)
	})
}

// counts reads how often counts of evaluations were stored.
func counts(c *count.Counter) collector {
	flushes := prometheus.NewDesc("guidon_analytics_flush_total",
		"Attempts to store counts of evaluations.", []string{"result"}, nil)
	behind := prometheus.NewDesc("guidon_analytics_behind_seconds",
		"How long counts of evaluations could not be stored, 0 while they can.", nil, nil)
	return collector{[]*prometheus.Desc{flushes, behind}, func(send sendFunc) {
		s := c.Stats()
		send(flushes, prometheus.CounterValue, float64(s.Flushed), "stored")
		send(flushes, prometheus.CounterValue, float64(s.Failed), "failed")
		send(behind, prometheus.GaugeValue, s.Behind.Seconds())
	}}
}

// unreadableObjects reads how many flags and segments are unreadable.
func unreadableObjects(count func() (flags, segments int)) collector {
	d := prometheus.NewDesc("guidon_unreadable_objects",
		"Flags that cannot be evaluated and segments that cannot be read, because they need a newer release or are damaged.",
		[]string{"kind"}, nil)
	return collector{[]*prometheus.Desc{d}, func(send sendFunc) {
		flags, segments := count()
		send(d, prometheus.GaugeValue, float64(flags), "flag")
		send(d, prometheus.GaugeValue, float64(segments), "segment")
	}}
}

// failedCredentials reads the number of failed credentials.
func failedCredentials(failures *limit.Failures) collector {
	d := prometheus.NewDesc("guidon_failed_credentials_total",
		"Requests whose credential was not valid, by whether they were within the limits.", []string{"result"}, nil)
	return collector{[]*prometheus.Desc{d}, func(send sendFunc) {
		s := failures.Stats()
		send(d, prometheus.CounterValue, float64(s.Denied), "denied")
		send(d, prometheus.CounterValue, float64(s.Limited), "limited")
	}}
}

// requestMemory reads the memory budget of requests.
func requestMemory(budget *limit.Budget) collector {
	size := prometheus.NewDesc("guidon_request_memory_limit_bytes",
		"Memory that requests and responses in progress may reserve.", []string{"kind"}, nil)
	reserved := prometheus.NewDesc("guidon_request_memory_reserved_bytes",
		"Memory that requests and responses in progress have reserved.", []string{"kind"}, nil)
	rejected := prometheus.NewDesc("guidon_request_memory_rejected_total",
		"Requests and responses for which there was no memory.", []string{"kind"}, nil)
	return collector{[]*prometheus.Desc{size, reserved, rejected}, func(send sendFunc) {
		for kind, pool := range map[string]*limit.Pool{
			"body": budget.Bodies, "message": budget.Messages, "response": budget.Responses,
		} {
			s := pool.Stats()
			send(size, prometheus.GaugeValue, float64(s.Size), kind)
			send(reserved, prometheus.GaugeValue, float64(s.Used), kind)
			send(rejected, prometheus.CounterValue, float64(s.Rejected), kind)
		}
	}}
}

// eventStreams reads the counts of the event streams.
func eventStreams(streams *stream.Hub) collector {
	open := prometheus.NewDesc("guidon_streams_open",
		"Event streams that are open.", []string{"kind"}, nil)
	refused := prometheus.NewDesc("guidon_streams_refused_total",
		"Event streams that were rejected because too many were open, or the server was stopping.", []string{"kind"}, nil)
	ended := prometheus.NewDesc("guidon_streams_ended_total",
		"Event streams that have ended, by reason.", []string{"kind", "reason"}, nil)
	return collector{[]*prometheus.Desc{open, refused, ended}, func(send sendFunc) {
		for _, s := range streams.Stats() {
			send(open, prometheus.GaugeValue, float64(s.Open), s.Kind)
			send(refused, prometheus.CounterValue, float64(s.Refused), s.Kind)
			for _, reason := range stream.Reasons {
				send(ended, prometheus.CounterValue, float64(s.Ended[string(reason)]), s.Kind, string(reason))
			}
		}
	}}
}

// Deliveries are the numbers of what is sent to receivers of changes.
type Deliveries struct {
	Succeeded, Failed int64
	Webhooks          map[string]int           // by state
	Behind            map[string]time.Duration // readers that this process delivers for
}

// deliveries reads the numbers of deliveries.
func deliveries(read func() Deliveries) collector {
	attempts := prometheus.NewDesc("guidon_webhook_deliveries_total",
		"Attempts of this server to deliver to webhooks, by result.", []string{"result"}, nil)
	webhooks := prometheus.NewDesc("guidon_webhooks",
		"Webhooks by state.", []string{"state"}, nil)
	behind := prometheus.NewDesc("guidon_reader_behind_seconds",
		"Age of the oldest change record that a reader of the change log has not passed, on the server that delivers.", []string{"reader"}, nil)
	return collector{[]*prometheus.Desc{attempts, webhooks, behind}, func(send sendFunc) {
		d := read()
		send(attempts, prometheus.CounterValue, float64(d.Succeeded), "succeeded")
		send(attempts, prometheus.CounterValue, float64(d.Failed), "failed")
		for state, n := range d.Webhooks {
			send(webhooks, prometheus.GaugeValue, float64(n), state)
		}
		for reader, age := range d.Behind { // at most service.MaxChangeReaders
			send(behind, prometheus.GaugeValue, age.Seconds(), reader)
		}
	}}
}

// CacheStats is the statistics of the cache of snapshots in memory since the start of the process.
type CacheStats struct {
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

// cacheCounts reads the counts of the cache, so that a hit costs no more than the cache's own
// counter. redis is nil without Redis.
func cacheCounts(cache func() CacheStats, redis func() RedisStats) collector {
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
		s := cache()
		send(hits, prometheus.CounterValue, float64(s.Hits), "memory", "snapshot")
		send(misses, prometheus.CounterValue, float64(s.Misses), "memory", "snapshot")
		send(stale, prometheus.CounterValue, float64(s.Stale), "memory", "snapshot")
		send(staleness, prometheus.GaugeValue, s.Outage.Seconds(), "memory", "snapshot")
		if redis == nil {
			return
		}
		r := redis()
		send(hits, prometheus.CounterValue, float64(r.RevisionHits), "redis", "revision")
		send(misses, prometheus.CounterValue, float64(r.RevisionMisses), "redis", "revision")
		send(hits, prometheus.CounterValue, float64(r.SnapshotHits), "redis", "snapshot")
		send(misses, prometheus.CounterValue, float64(r.SnapshotMisses), "redis", "snapshot")
		send(errors, prometheus.CounterValue, float64(r.Errors))
		if r.Up {
			send(up, prometheus.GaugeValue, 1)
		} else {
			send(up, prometheus.GaugeValue, 0)
		}
	}
	return c
}
