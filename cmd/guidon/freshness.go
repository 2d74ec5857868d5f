package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/instance"
	"github.com/guidonhq/guidon/runtimes/server"
	"github.com/guidonhq/guidon/store/cache"
	"github.com/guidonhq/guidon/store/cache/rediscache"
)

// freshness is what the server tells about its cache, and does to keep it fresh.
type freshness struct {
	cache        instance.Cached
	shared       *cache.Shared      // the same, nil for SQLite, which is never stale
	redis        *rediscache.Source // nil where there is none
	maxAge       time.Duration
	databaseDown bool // the log says that the database does not answer; the loop's
	redisDown    bool // the log says that Redis does not answer; the loop's
	unsubscribed bool // the log says that Redis does not tell of changes; that loop's
}

func newFreshness(c instance.Cached, redis *rediscache.Source, bound time.Duration) *freshness {
	shared, _ := c.(*cache.Shared)
	return &freshness{cache: c, shared: shared, redis: redis, maxAge: bound}
}

// outage tells the handler for how long the database has not answered, nil where
// it always does.
func (f *freshness) outage() func() time.Duration {
	if f.shared == nil {
		return nil
	}
	return f.shared.Outage
}

// metrics returns what the metrics say.
func (f *freshness) metrics() []server.CacheStats {
	stats := f.cache.Stats()
	s := server.CacheStats{Cache: "memory", Type: "snapshot", Hits: stats.Hits, Misses: stats.Misses, Stale: stats.Stale}
	if f.shared != nil {
		s.Outage = f.shared.Outage()
	}
	return []server.CacheStats{s}
}

// maxRefreshInterval bounds how long it takes to notice that the database answers
// again.
const maxRefreshInterval = time.Second

// loops returns the loop that keeps the cache fresh. Its interval leaves a third
// of the bound for the jitter of the loop, for questions and for what has to be
// loaded, so that requests find all of it done.
func (f *freshness) loops(logger *slog.Logger) []server.Loop {
	if f.shared == nil {
		return nil
	}
	interval := maxRefreshInterval
	if f.maxAge > 0 {
		interval = min(f.maxAge*2/3, interval)
	}
	ahead := interval + interval/10 + f.maxAge/10 // the longest time to the next run, and some for its question
	loops := []server.Loop{{
		Name: "freshness", Interval: interval,
		Run: func(ctx context.Context) error { return f.refresh(ctx, ahead, logger) },
	}}
	if f.redis != nil {
		loops = append(loops, server.Loop{
			Name: "changes told by Redis", Interval: time.Second,
			Run: func(ctx context.Context) error { return f.listen(ctx, logger) },
		})
	}
	return loops
}

// refresh runs the loop once. Of an outage the log says when it begins and when
// it ends.
func (f *freshness) refresh(ctx context.Context, ahead time.Duration, logger *slog.Logger) error {
	err := f.shared.Refresh(ctx, ahead)
	down := f.shared.Outage() > 0
	switch {
	case down && !f.databaseDown:
		logger.Warn("the database does not answer; evaluations are answered from memory as far as cache.max_stale allows", "error", err)
	case !down && f.databaseDown:
		logger.Info("the database answers again")
	}
	f.databaseDown = down
	f.logRedis(logger)
	if guidon.CodeOf(err) == guidon.Unavailable {
		return nil
	}
	return err
}
