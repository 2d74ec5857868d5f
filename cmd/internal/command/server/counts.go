package server

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/guidonhq/guidon/internal/clock"
	"github.com/guidonhq/guidon/runtimes/server"
	"github.com/guidonhq/guidon/service/count"
)

const (
	rollUpInterval = 10 * time.Minute
	flushSpread    = 10 * time.Second // so that instances do not write together
	lastFlush      = 5 * time.Second  // may the flush of a server take that stops
)

// flushCounts stores what was counted, once in each period of the clock.
func flushCounts(counter *count.Counter, period time.Duration) server.Loop {
	spread := rand.N(min(flushSpread, period/6)) // #nosec G404 -- jitter, not a secret
	return server.Loop{Name: "counts of evaluations", Interval: time.Second, Run: func(ctx context.Context) error {
		now := time.Now()
		if err := clock.Sleep(ctx, now.Truncate(period).Add(period+spread).Sub(now)); err != nil {
			return err
		}
		return counter.Flush(ctx)
	}}
}

// flushLast stores what was counted since the last flush, when no request is left.
func (p parts) flushLast(ctx context.Context, logger *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastFlush)
	defer cancel()
	if err := p.counter.Flush(ctx); err != nil {
		logger.Warn("counts of evaluations are lost", "error", err)
	}
}
