package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/cache"
	"github.com/guidonhq/guidon/store/cache/rediscache"
	"github.com/guidonhq/guidon/store/filelock"
)

// access is what a command does with the database.
type access uint8

const (
	reading access = iota // beside a running server; the database must be ready
	writing               // an SQLite file alone, and it is made ready; Redis is told, where there is one
	serving               // the same, and with Redis in every respect
)

// storage is an open database, with the Redis that is told of what is written.
type storage struct {
	*store.DB
	redis *rediscache.Source // nil where there is none
}

// source returns what reads and writes go through.
func (s *storage) source() cache.SharedSource {
	if s.redis != nil {
		return s.redis
	}
	return s.DB
}

// loadConfig returns the configuration, with the database of the flag --db
// where that is given.
func (p *program) loadConfig(database string) (*config.Config, error) {
	environ := p.environ
	if database != "" {
		environ = append(slices.Clone(environ), "GUIDON_DB_URL="+databaseURL(database), "GUIDON_DB_URL_FILE=")
	}
	return config.Load(p.config, environ)
}

// databaseFlag adds the flag --db to the command.
func databaseFlag(command *cobra.Command, database *string) {
	command.Flags().StringVar(database, "db", "",
		"work on this `database`, a file or a URL, instead of the configured one; GUIDON_DB_URL keeps a password out of the process list")
}

// databaseURL lets --db be a mere path. A scheme that is not known is left for
// the configuration to refuse.
func databaseURL(text string) string {
	if config.EngineOf(text) != "" || strings.Contains(text, "://") {
		return text
	}
	return "file:" + text
}

// openDatabase opens the database of the configuration. The function it returns
// gives the database back and closes it.
func openDatabase(ctx context.Context, c *config.Config, mode access) (*storage, func() error, error) {
	if mode == reading {
		if err := exists(c.DB); err != nil {
			return nil, nil, err
		}
	}
	db, err := store.Open(ctx, c.DB.URL, store.Options{
		Lambda:       os.Getenv("AWS_LAMBDA_FUNCTION_NAME") != "", // which the platform sets
		MaxOpenConns: c.DB.MaxOpenConn, MaxIdleConns: c.DB.MaxIdleConn, ConnMaxLifetime: c.DB.ConnMaxLifetime,
		ConnMaxIdleTime: c.DB.ConnMaxIdleTime, ConnectTimeout: c.DB.ConnectTimeout, StatementTimeout: c.DB.StatementTimeout,
	})
	if err != nil {
		return nil, nil, err
	}
	release := func() error { return nil }
	if mode != reading {
		release, err = lock(db)
	}
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	// The lock outlives the connections: who gets it next finds a closed database.
	end := func() error { return errors.Join(db.Close(), release()) }
	if mode == reading || c.Cache.Backend != config.BackendRedis {
		return &storage{DB: db}, end, nil
	}
	redis, err := openRedis(db, c.Cache.Redis, mode)
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return &storage{DB: db, redis: redis}, func() error { return errors.Join(redis.Close(), end()) }, nil
}

// openRedis puts Redis in front of the database. It does not connect: a Redis that
// is away keeps nobody from starting.
func openRedis(db *store.DB, c config.Redis, mode access) (*rediscache.Source, error) {
	client, err := rediscache.Open(rediscache.Connection{
		URL: c.URL, Mode: c.Mode, CAFile: c.CACertPath,
		PoolSize: c.PoolSize, MinIdleConns: c.MinIdleConn, ConnMaxIdleTime: c.ConnMaxIdleTime,
	})
	if err != nil {
		return nil, fmt.Errorf("cache.redis: %w", err)
	}
	return rediscache.New(db, client, rediscache.Options{Prefix: c.Prefix, Timeout: c.NetTimeout, OnlyWrites: mode != serving}), nil
}

// openReady opens the database with its schema up to date: a command that writes
// to an SQLite file, which it has for itself, applies pending steps; all others
// refuse.
func openReady(ctx context.Context, c *config.Config, mode access) (*storage, func() error, error) {
	db, end, err := openDatabase(ctx, c, mode)
	if err != nil {
		return nil, nil, err
	}
	if mode == writing && !db.Shared() {
		_, err = migrate.Up(ctx, db.SQL(), db.Dialect())
	} else {
		err = migrate.Check(ctx, db.SQL(), db.Dialect())
	}
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	return db, end, nil
}

// cached is a store that keeps in memory what it can.
type cached interface {
	guidon.Store
	Stats() cache.Stats
}

// newCache returns the cache that is right for the database: where others may
// write too it asks as often as the configuration demands, and otherwise never.
func newCache(db *storage, c config.Cache) cached {
	if db.Shared() {
		return cache.NewShared(db.source(), cache.Freshness{MaxAge: c.Bound(), MaxStale: c.MaxStale})
	}
	return cache.New(db.DB)
}

// waitReady waits, as long as the configuration says, for a database server that
// cannot be reached yet: it may be starting too.
func waitReady(ctx context.Context, c config.DB, db *store.DB, notify func(err error, next time.Duration)) error {
	if !db.Shared() {
		return nil
	}
	err := db.WaitReady(ctx, time.Now().Add(c.StartTimeout), notify)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("the database %s: %w", db.Path(), err)
	}
	return err
}

// exists returns an error unless the file of an SQLite database is there: looking
// must not create it.
func exists(c config.DB) error {
	if c.Shared() {
		return nil
	}
	if _, err := os.Stat(c.Path()); errors.Is(err, fs.ErrNotExist) {
		return guidon.Errorf(guidon.NotFound,
			"there is no database %q; name another with --db or db.url (GUIDON_DB_URL), a running server with --address, or create it with \"guidon migrate up\"", c.Path())
	}
	return nil
}

// heldError says that another process has the database.
type heldError struct{ error }

// lock claims the database for this process.
func lock(db *store.DB) (release func() error, err error) {
	release, err = db.Lock()
	if _, held := errors.AsType[*filelock.HeldError](err); held {
		err = heldError{errors.New(guidon.PublicMessage(err))}
	}
	return release, err
}

// adviseAddress adds what to do instead when another process has the database.
func adviseAddress(err error) error {
	if _, held := errors.AsType[heldError](err); held {
		return fmt.Errorf("%w; go through that server with --address, or stop it first", err)
	}
	return err
}
