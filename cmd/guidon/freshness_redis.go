package main

import (
	"context"
	"log/slog"
	"sync"

	"github.com/guidonhq/guidon/runtimes/server"
)

// redisMetrics returns what tells the metrics of Redis, nil where there is none.
func (f *freshness) redisMetrics() func() server.RedisStats {
	if f.redis == nil {
		return nil
	}
	return func() server.RedisStats {
		s := f.redis.Stats()
		return server.RedisStats{
			Up: f.redis.Err() == nil, Errors: s.Errors,
			RevisionHits: s.Revisions.Hits, RevisionMisses: s.Revisions.Misses,
			SnapshotHits: s.Snapshots.Hits, SnapshotMisses: s.Snapshots.Misses,
		}
	}
}

// logRedis says when Redis is no longer asked, and when it is again.
func (f *freshness) logRedis(logger *slog.Logger) {
	if f.redis == nil {
		return
	}
	err := f.redis.Err()
	switch {
	case err != nil && !f.redisDown:
		logger.Warn("Redis cannot be used; the database is asked instead, and a write may take two seconds longer", "error", err)
	case err == nil && f.redisDown:
		logger.Info("Redis can be used again")
	}
	f.redisDown = err != nil
}

// listen renews what others change, until the subscription ends.
func (f *freshness) listen(ctx context.Context, logger *slog.Logger) error {
	listening, cancel := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	changed := newPendingKeys()
	renewing.Go(func() {
		for keys := range changed.batches(listening.Done()) {
			_ = f.shared.Renew(listening, keys...) // the loop refresh tells what an error means
		}
	})
	err := f.redis.Subscribe(ctx, func(key string) {
		if key == "" && f.unsubscribed {
			f.unsubscribed = false
			logger.Info("Redis tells of changes again")
		}
		changed.add(key)
	})
	cancel()
	renewing.Wait()
	if err != nil && !f.unsubscribed {
		f.unsubscribed = true
		logger.Warn("Redis does not tell of changes; they are seen when the next question is due", "error", err)
	}
	return nil
}
