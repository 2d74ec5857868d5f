package server

import (
	"context"
	"log/slog"
	"sync"

	"github.com/guidonhq/guidon/runtimes/server/metrics"
)

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
