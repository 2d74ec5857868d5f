package server

import (
	"context"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"sync"
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
func (f *freshness) metrics() metrics.CacheStats {
	s := f.cache.Stats()
	m := metrics.CacheStats{Hits: s.Hits, Misses: s.Misses, Stale: s.Stale}
	if f.shared != nil {
		m.Outage = f.shared.Outage()
	}
	return m
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

// redisMetrics returns a function that returns the metrics of Redis, or nil if Redis
// is not used.
func (f *freshness) redisMetrics() func() metrics.RedisStats {
	if f.redis == nil {
		return nil
	}
	return func() metrics.RedisStats {
		s := f.redis.Stats()
		return metrics.RedisStats{
			Up: f.redis.Err() == nil, Errors: s.Errors,
			RevisionHits: s.Revisions.Hits, RevisionMisses: s.Revisions.Misses,
			SnapshotHits: s.Snapshots.Hits, SnapshotMisses: s.Snapshots.Misses,
		}
	}
}

// logRedis logs when Redis becomes unavailable, and when it is available again.
func (f *freshness) logRedis(logger *slog.Logger) {
	if f.redis == nil {
		return
	}
	err := f.redis.Err()
	switch {
	case err != nil && !f.redisDown:
		logger.Warn("Redis is unavailable; the database is queried instead, and a write may take two seconds longer", "error", err)
	case err == nil && f.redisDown:
		logger.Info("Redis is available again")
	}
	f.redisDown = err != nil
}

// listen subscribes to the changes of other instances and renews the changed keys in
// the cache, until the subscription ends.
func (f *freshness) listen(ctx context.Context, logger *slog.Logger) error {
	listening, cancel := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	changed := newPendingKeys()
	renewing.Go(func() {
		for keys := range changed.batches(listening.Done()) {
			_ = f.shared.Renew(listening, keys...) // the loop refresh logs outages
		}
	})
	err := f.redis.Subscribe(ctx, func(key string) {
		if key == "" && f.unsubscribed {
			f.unsubscribed = false
			logger.Info("receiving change notifications from Redis again")
		}
		changed.add(key)
	})
	cancel()
	renewing.Wait()
	if err != nil && !f.unsubscribed {
		f.unsubscribed = true
		logger.Warn("not receiving change notifications from Redis; relying on polling", "error", err)
	}
	return nil
}

// maxPendingKeys is how many keys are tracked individually; beyond that, all keys
// count as changed.
const maxPendingKeys = 100

// pendingKeys collects the keys that have changed and have not been processed yet.
// Several changes of one key count once. It is safe for concurrent use.
type pendingKeys struct {
	mu    sync.Mutex
	keys  map[string]bool
	all   bool
	ready chan struct{} // has one element if keys may be pending
}

func newPendingKeys() *pendingKeys {
	return &pendingKeys{keys: map[string]bool{}, ready: make(chan struct{}, 1)}
}

// add adds a key. The empty key stands for all keys.
func (p *pendingKeys) add(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys[key] = true
	if key == "" || len(p.keys) > maxPendingKeys {
		p.all = true
		clear(p.keys)
	}
	select {
	case p.ready <- struct{}{}:
	default:
	}
}

// batches yields the pending keys as they arrive, until done is closed. An empty batch
// stands for all keys.
func (p *pendingKeys) batches(done <-chan struct{}) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for {
			select {
			case <-done:
				return
			case <-p.ready:
			}
			if keys, ok := p.take(); ok && !yield(keys) {
				return
			}
		}
	}
}

// take removes and returns the pending keys, none for all keys. ok is false if nothing
// is pending: keys added between a signal and its take leave another signal.
func (p *pendingKeys) take() (keys []string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.all {
		keys = slices.Sorted(maps.Keys(p.keys))
	}
	ok = p.all || len(keys) > 0
	clear(p.keys)
	p.all = false
	return keys, ok
}
