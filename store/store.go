// Package store keeps the state of the service in an SQL database.
//
// There is one implementation; what differs between databases is a [dialect]
// value. All SQL keeps to the common subset: ? placeholders, no upsert, no
// RETURNING, no functions of the database for time or JSON. Rules live above, in
// package guidon: the tables are only rows.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/store/filelock"
)

// Options tunes the connection pool. Zero fields mean what is right for the
// database.
type Options struct {
	MaxOpenConns    int // connections for reading; SQLite always writes through one more
	MaxIdleConns    int
	ConnMaxLifetime time.Duration // zero is forever
}

// DB is a [guidon.Store] without a cache: every read asks the database. Its
// methods may be called concurrently.
type DB struct {
	dialect *dialect
	path    string
	writer  *sql.DB
	reader  *sql.DB
}

var _ guidon.Store = (*DB)(nil)

// Open opens the database that url names and checks that it can be reached. It
// starts no goroutine and leaves the schema alone, which is package migrate's.
//
// SQLite is "sqlite:path", "sqlite://path" or "file:path"; everything after is
// the path, taken literally. Missing folders and the file are created, for the
// owner only. A database in memory is refused: it would be lost on a restart.
func Open(ctx context.Context, url string, options Options) (*DB, error) {
	scheme, rest, found := strings.Cut(url, ":")
	if !found {
		return nil, fmt.Errorf("database URL %q has no scheme: use sqlite:path", url)
	}
	switch strings.ToLower(scheme) {
	case "sqlite", "file":
		return openSQLite(ctx, rest, options)
	}
	return nil, fmt.Errorf("database URL has the unknown scheme %q: use sqlite:path", scheme)
}

// Close closes all connections. The methods return Unavailable afterwards.
func (d *DB) Close() error {
	// The reader first: the last connection to close folds the write-ahead log
	// into the file, which the reader may not do.
	return errors.Join(d.reader.Close(), d.writer.Close())
}

// Ping returns nil when the database answers.
func (d *DB) Ping(ctx context.Context) error {
	return d.retry(ctx, func(ctx context.Context) error {
		var ignored int64
		return d.classify(ctx, d.reader.QueryRowContext(ctx, d.dialect.ping).Scan(&ignored))
	})
}

// SQL returns the pool that may write, for the schema steps.
func (d *DB) SQL() *sql.DB { return d.writer }

// Dialect returns the name of the dialect, such as "sqlite".
func (d *DB) Dialect() string { return d.dialect.name }

// Path returns the database file, for messages.
func (d *DB) Path() string { return d.path }

// Lock claims the database for one server process: the single-process cache
// relies on seeing every write. It returns an *[guidon.Error] with code
// Unavailable that names the file and the process that holds it. The lock also
// ends with the process, however it ends.
func (d *DB) Lock() (release func() error, err error) {
	release, err = filelock.Try(d.path + ".lock")
	held, isHeld := errors.AsType[*filelock.HeldError](err)
	switch {
	case err == nil:
		return release, nil
	case isHeld && held.PID != 0:
		return nil, &guidon.Error{Code: guidon.Unavailable, Err: err, Message: fmt.Sprintf(
			"the database %q is in use by the server with process id %d; an SQLite file serves one server at a time", d.path, held.PID)}
	case isHeld:
		return nil, &guidon.Error{Code: guidon.Unavailable, Err: err, Message: fmt.Sprintf(
			"the database %q is in use by another server; an SQLite file serves one server at a time", d.path)}
	}
	return nil, fmt.Errorf("lock the database %q: %w", d.path, err)
}
