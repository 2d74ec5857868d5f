package main

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/instance"
	"github.com/guidonhq/guidon/deliver"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/storetest"
)

// TestTickRollsUp: hours and days of evaluations are computed every ten minutes, also by a tick
// whose deliveries take all of its time.
func TestTickRollsUp(t *testing.T) {
	for minute, want := range map[int]bool{0: true, 10: true, 11: false, 59: false} {
		db := storetest.NewSQLite(t)
		ctx, end := context.WithCancel(t.Context())
		begun := time.Date(2026, 5, 1, 12, minute, 59, 0, time.UTC)
		endless := func(ctx context.Context) ([]deliver.Target, error) {
			begun = begun.Add(tickTime) // it is another minute then
			end()
			return nil, ctx.Err()
		}
		j := jobs{
			config: &config.Config{Analytics: config.Analytics{Enabled: true, KeepMinutes: time.Hour, KeepHours: time.Hour, KeepDays: time.Hour}},
			db:     db, schema: &schema{}, service: service.NewService(instance.NewCache(&instance.Storage{DB: db}, config.Cache{}), time.Now),
			logger: slog.New(slog.DiscardHandler), now: func() time.Time { return begun },
			deliveries: &instance.Deliveries{Runners: []*deliver.Runner{deliver.NewRunner("endless", db, endless, slog.New(slog.DiscardHandler))}},
		}
		j.schema.compatible.Store(true)
		if _, err := j.tick(ctx); err != nil {
			t.Errorf("minute %d: %v", minute, err)
		}
		marks, err := db.Marks(t.Context())
		if got := len(marks) > 0; err != nil || got != want {
			t.Errorf("minute %d: rolled up: %t, %v, want %t", minute, got, err, want)
		}
	}
}
