package instance

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/cache"
)

// OpenDatabase opens the database of the configuration. A database server is not
// connected to before the first use.
func OpenDatabase(ctx context.Context, c config.DB) (*store.DB, error) {
	return store.Open(ctx, c.URL, store.Options{
		Lambda:       os.Getenv("AWS_LAMBDA_FUNCTION_NAME") != "", // which the platform sets
		MaxOpenConns: c.MaxOpenConn, MaxIdleConns: c.MaxIdleConn, ConnMaxLifetime: c.ConnMaxLifetime,
		ConnMaxIdleTime: c.ConnMaxIdleTime, ConnectTimeout: c.ConnectTimeout, StatementTimeout: c.StatementTimeout,
	})
}

// WaitReady waits, as long as the configuration says, for a database server that
// cannot be reached yet: it may be starting too.
func WaitReady(ctx context.Context, c config.DB, db *store.DB, notify func(err error, next time.Duration)) error {
	if !db.Shared() {
		return nil
	}
	err := db.WaitReady(ctx, time.Now().Add(c.StartTimeout), notify)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("the database %s: %w", db.Path(), err)
	}
	return err
}

// Cached is a store that keeps in memory what it can.
type Cached interface {
	guidon.Store
	Stats() cache.Stats
	Subscribe(namespace string) (changed func() <-chan struct{}, cancel func())
}

// NewCache returns the cache that is right for the database: where others may
// write too it asks as often as the configuration demands, and otherwise never.
func NewCache(db *store.DB, c config.Cache) Cached {
	if db.Shared() {
		return cache.NewShared(db, cache.Freshness{MaxAge: c.Bound(), MaxStale: c.MaxStale})
	}
	return cache.New(db)
}
