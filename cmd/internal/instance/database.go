package instance

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/secrets"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/cache"
	"github.com/guidonhq/guidon/store/cache/rediscache"
)

// lambdaRedisConns is enough for a process that answers one request at a time.
const lambdaRedisConns = 2

// onLambda tells whether this is a function of AWS Lambda: the platform sets the
// variable.
func onLambda() bool { return os.Getenv("AWS_LAMBDA_FUNCTION_NAME") != "" }

// OpenDatabase opens the database of the configuration, with passwords from AWS
// where that says so. A database server is not connected to before the first use.
// An SQLite file is opened for this process alone if exclusive is set.
func OpenDatabase(ctx context.Context, c config.DB, aws *secrets.AWS, exclusive bool) (*store.DB, error) {
	options := store.Options{
		Lambda: onLambda(), Exclusive: exclusive,
		MaxOpenConns: c.MaxOpenConn, MaxIdleConns: c.MaxIdleConn, ConnMaxLifetime: c.ConnMaxLifetime,
		ConnMaxIdleTime: c.ConnMaxIdleTime, ConnectTimeout: c.ConnectTimeout, StatementTimeout: c.StatementTimeout,
	}
	if c.Auth == config.AuthAWS {
		options.Password = aws.DatabaseToken
	}
	return store.Open(ctx, c.URL, options)
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

// Storage is an open database, with the Redis that is told of what is written.
type Storage struct {
	*store.DB
	Redis *rediscache.Source // nil where there is none
}

// WithRedis puts the Redis of the configuration, if any, in front of the database:
// only to tell it of writes, or in every respect. It does not connect: a Redis
// that is away keeps nobody from starting.
func WithRedis(db *store.DB, c config.Cache, onlyWrites bool) (*Storage, error) {
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
	options := rediscache.Options{Prefix: c.Redis.Prefix, Timeout: c.Redis.NetTimeout, OnlyWrites: onlyWrites}
	return &Storage{DB: db, Redis: rediscache.New(db, client, options)}, nil
}

// CloseRedis closes the connections to Redis, if any.
func (s *Storage) CloseRedis() error {
	if s.Redis == nil {
		return nil
	}
	return s.Redis.Close()
}

// Source returns what reads and writes go through.
func (s *Storage) Source() cache.SharedSource {
	if s.Redis != nil {
		return s.Redis
	}
	return s.DB
}

// Cached is a store that keeps in memory what it can.
type Cached interface {
	guidon.Store
	Stats() cache.Stats
	Subscribe(namespace string) (changed func() <-chan struct{}, cancel func())
}

// NewCache returns the cache that is right for the database: where others may
// write too it asks as often as the configuration demands, and otherwise never.
func NewCache(s *Storage, c config.Cache) Cached {
	if s.Shared() {
		return cache.NewShared(s.Source(), cache.Freshness{MaxAge: c.Bound(), MaxStale: c.MaxStale, ColdWrites: onLambda()})
	}
	return cache.New(s.DB)
}
