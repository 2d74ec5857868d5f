package instance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/secrets"
	"github.com/guidonhq/guidon/internal/clock"
	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/cache"
	"github.com/guidonhq/guidon/store/cache/rediscache"
)

// lambdaRedisConns is sufficient for a process that handles one request at a time.
const lambdaRedisConns = 2

// onLambda reports whether the process runs on AWS Lambda, which sets this variable.
func onLambda() bool { return os.Getenv("AWS_LAMBDA_FUNCTION_NAME") != "" }

// OpenDatabase opens the configured database, with passwords from AWS if configured. It
// does not connect to a database server before the first use. If exclusive is set, no
// other process can write to an SQLite file. trace may be nil.
func OpenDatabase(ctx context.Context, c config.DB, aws *secrets.AWS, exclusive bool, trace store.Trace) (*store.DB, error) {
	options := store.Options{
		Lambda: onLambda(), Exclusive: exclusive,
		MaxOpenConns: c.MaxOpenConn, MaxIdleConns: c.MaxIdleConn, ConnMaxLifetime: c.ConnMaxLifetime,
		ConnMaxIdleTime: c.ConnMaxIdleTime, ConnectTimeout: c.ConnectTimeout, StatementTimeout: c.StatementTimeout,
		Trace: trace,
	}
	if c.Auth == config.AuthAWS {
		options.Password = aws.DatabaseToken
	}
	return store.Open(ctx, c.URL, options)
}

// WaitReady waits up to the configured time for a database server that cannot be reached
// yet, which may be starting too. It does not wait for one that rejects the connection.
func WaitReady(ctx context.Context, c config.DB, db *store.DB, notify func(err error, next time.Duration)) error {
	if !db.Shared() {
		return nil
	}
	err := db.WaitReady(ctx, time.Now().Add(c.StartTimeout), notify)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("cannot use database %s: %w", db.Path(), err)
	}
	return err
}

// Prepare waits for the database. It applies the pending schema steps and returns them if the caller
// migrates, and otherwise returns an error if there are any.
func Prepare(ctx context.Context, c config.DB, db *store.DB, migrates bool, logger *slog.Logger) ([]migrate.Step, error) {
	err := WaitReady(ctx, c, db, func(err error, next time.Duration) {
		logger.Warn("cannot reach the database yet", "path", db.Path(), "error", err, "next_attempt_in", clock.Text(next.Round(time.Millisecond)))
	})
	if err != nil {
		return nil, err
	}
	if !migrates {
		return nil, migrate.Check(ctx, db.SQL(), db.Dialect())
	}
	applied, err := migrate.Up(ctx, db.SQL(), db.Dialect())
	for _, step := range applied {
		logger.Info("schema step applied", "step", step.Version, "name", step.Name)
	}
	return applied, err
}

// Storage is an open database and the Redis in front of it, if any.
type Storage struct {
	*store.DB
	Redis *rediscache.Source // or nil
}

// WithRedis puts the configured Redis, if any, in front of the database. If onlyWrites
// is set, writes are announced to Redis, but nothing is read from it. WithRedis does not
// connect, so that the program also starts while Redis is unavailable. trace may be nil.
func WithRedis(db *store.DB, c config.Cache, onlyWrites bool, trace store.Trace) (*Storage, error) {
	if c.Backend != config.BackendRedis {
		return &Storage{DB: db}, nil
	}
	pool := c.Redis.PoolSize
	if pool == 0 && onLambda() {
		pool = lambdaRedisConns
	}
	client, err := rediscache.Open(rediscache.Connection{
		URL: c.Redis.URL, Mode: c.Redis.Mode, CAFile: c.Redis.CACertPath,
		PoolSize: pool, MinIdleConns: c.Redis.MinIdleConn, ConnMaxIdleTime: c.Redis.ConnMaxIdleTime,
	})
	if err != nil {
		return nil, fmt.Errorf("cache.redis: %w", err)
	}
	options := rediscache.Options{Prefix: c.Redis.Prefix, Timeout: c.Redis.NetTimeout, OnlyWrites: onlyWrites, Trace: trace}
	return &Storage{DB: db, Redis: rediscache.New(db, client, options)}, nil
}

// Close closes the connections to Redis, if any, and the database.
func (s *Storage) Close() error {
	if s.Redis == nil {
		return s.DB.Close()
	}
	return errors.Join(s.Redis.Close(), s.DB.Close())
}

// Source returns Redis if it is configured, or else the database.
func (s *Storage) Source() cache.SharedSource {
	if s.Redis != nil {
		return s.Redis
	}
	return s.DB
}

// Cached is a store with a cache in memory.
type Cached interface {
	service.Store
	Stats() cache.Stats
	Subscribe(namespace string) (changed func() <-chan struct{}, cancel func())
}

// NewCache returns the cache for the database. If other processes may write to it, the
// cache queries it as configured; otherwise it never does.
func NewCache(s *Storage, c config.Cache) Cached {
	if s.Shared() {
		return cache.NewShared(s.Source(), cache.Freshness{MaxAge: c.Bound(), MaxStale: c.MaxStale, ColdWrites: onLambda()})
	}
	return cache.New(s.DB)
}
