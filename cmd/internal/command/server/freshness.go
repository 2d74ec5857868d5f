package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/instance"
	"github.com/guidonhq/guidon/runtimes/server"
	"github.com/guidonhq/guidon/runtimes/server/metrics"
	"github.com/guidonhq/guidon/store/cache"
	"github.com/guidonhq/guidon/store/cache/rediscache"
)

// freshness reports on the server's cache and keeps it fresh.
type freshness struct {
	cache  instance.Cached
	shared *cache.Shared      // cache, or nil for SQLite, which is never stale
	redis  *rediscache.Source // or nil
	maxAge time.Duration

	// What the log last said. The loop refresh uses the first two, the loop listen
	// the third.
	databaseDown bool
	redisDown    bool
	unsubscribed bool // no change notifications arrive from Redis
}

func newFreshness(c instance.Cached, redis *rediscache.Source, bound time.Duration) *freshness {
	shared, _ := c.(*cache.Shared)
	return &freshness{cache: c, shared: shared, redis: redis, maxAge: bound}
}

// outage returns a function that returns how long the database has been unavailable,
// or nil for SQLite.
func (f *freshness) outage() func() time.Duration {
	if f.shared == nil {
		return nil
	}
	return f.shared.Outage
}

// metrics returns the cache statistics for the metrics.
func (f *freshness) metrics() []metrics.CacheStats {
	stats := f.cache.Stats()
	s := metrics.CacheStats{Cache: "memory", Type: "snapshot", Hits: stats.Hits, Misses: stats.Misses, Stale: stats.Stale}
	if f.shared != nil {
		s.Outage = f.shared.Outage()
	}
	return []metrics.CacheStats{s}
}

// maxRefreshInterval limits the time until the end of an outage is noticed.
const maxRefreshInterval = time.Second

// loops returns the loops that keep the cache fresh. The interval of refresh leaves a
// third of maxAge for the jitter of the loop, for queries and for loading, so that
// requests need not wait for them.
func (f *freshness) loops(logger *slog.Logger) []server.Loop {
	if f.shared == nil {
		return nil
	}
	interval := maxRefreshInterval
	if f.maxAge > 0 {
		interval = min(f.maxAge*2/3, interval)
	}
	ahead := interval + interval/10 + f.maxAge/10 // the longest time to the next run, plus some for its query
	loops := []server.Loop{{
		Name: "freshness", Interval: interval,
		Run: func(ctx context.Context) error { return f.refresh(ctx, ahead, logger) },
	}}
	if f.redis != nil {
		loops = append(loops, server.Loop{
			Name: "change notifications from Redis", Interval: time.Second,
			Run: func(ctx context.Context) error { return f.listen(ctx, logger) },
		})
	}
	return loops
}

// refresh is one iteration of the loop. It logs the start and the end of an outage.
func (f *freshness) refresh(ctx context.Context, ahead time.Duration, logger *slog.Logger) error {
	err := f.shared.Refresh(ctx, ahead)
	down := f.shared.Outage() > 0
	switch {
	case down && !f.databaseDown:
		logger.Warn("the database is unavailable; evaluations are served from memory within cache.max_stale", "error", err)
	case !down && f.databaseDown:
		logger.Info("the database is available again")
	}
	f.databaseDown = down
	f.logRedis(logger)
	if guidon.CodeOf(err) == guidon.Unavailable {
		return nil
	}
	return err
}
