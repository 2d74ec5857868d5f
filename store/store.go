// Package store keeps the state of the service in an SQL database.
//
// There is one implementation; what differs between databases is a [dialect]
// value. All SQL keeps to the common subset: ? placeholders, no upsert, no
// RETURNING, no functions of the database for time or JSON. Rules live above, in
// package guidon: the tables are only rows.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/store/redact"
)

// Options tunes the connections. Zero fields mean what is right for the
// database.
type Options struct {
	// Lambda makes the zero of the others mean what is right for a function of AWS
	// Lambda on a shared database: two connections, kept for a shorter time.
	Lambda bool
	// Exclusive gives an SQLite file to this process alone, until [DB.Close] or its
	// end, however it ends: a cache that learns only of its own writes relies on it.
	// A database that is shared ignores it.
	Exclusive bool
	// MaxOpenConns bounds the connections. On a shared database a third of them,
	// and one at least, is for reading and the rest, one at least, for writing:
	// readers do not stand in line behind writers. On SQLite all are for reading,
	// and there is one more, which writes.
	MaxOpenConns int
	// MaxIdleConns bounds those that are kept while nobody needs them.
	MaxIdleConns    int
	ConnMaxLifetime time.Duration // SQLite: for ever; others: 30 minutes
	ConnMaxIdleTime time.Duration // SQLite: for ever; others: 5 minutes
	ConnectTimeout  time.Duration // 10 seconds; not for SQLite
	// StatementTimeout bounds each statement, and each wait for a turn, so that a
	// server that hangs is told from one that works: SQLite: none; others: 5
	// seconds. A shorter bound of the context holds, too.
	StatementTimeout time.Duration
	// Password, which may be nil, is asked for the password of every connection
	// that is made to a server, in place of the one in the URL: for those that are
	// good for some minutes only. The connections must then be encrypted.
	Password func(ctx context.Context, address, user string) (string, error)
}

// tune sets the bounds of a pool of so many connections.
func (o Options) tune(pool *sql.DB, open int) {
	pool.SetMaxOpenConns(open)
	pool.SetMaxIdleConns(min(cmp.Or(o.MaxIdleConns, open), open))
	pool.SetConnMaxLifetime(o.ConnMaxLifetime)
	pool.SetConnMaxIdleTime(o.ConnMaxIdleTime)
}

// DB is a [guidon.Store] without a cache: every read asks the database. Its
// methods may be called concurrently.
type DB struct {
	dialect *dialect
	path    string
	file    *sqliteFile // nil unless the database is SQLite
	writer  *sql.DB
	reader  *sql.DB

	turns            turns
	groups           groupCommit
	patience         time.Duration
	statementTimeout time.Duration
}

var _ guidon.Store = (*DB)(nil)

// Open opens the database that url names. It starts no goroutine and leaves the
// schema alone, which is package migrate's. No error shows a password, and a URL that
// cannot be divided into its parts for certain is rejected; see [redact.Check].
//
// SQLite is "sqlite:path", "sqlite://path" or "file:path"; everything after is
// the path, taken literally. Symbolic links are followed. Missing folders and the
// file are created, for the owner only, and the file is opened. Open refuses a
// file with several hard links, one of another program, and, with
// [Options.Exclusive], one that another process has exclusively: the last is an
// *[guidon.Error] with code Unavailable that wraps a *filelock.HeldError. A
// database in memory is refused: it would be lost on a restart. So is every file by
// a program that does not import the driver, modernc.org/sqlite.
//
// The others are servers, which are not connected to before the first use; see
// [DB.WaitReady]. PostgreSQL is "postgres://user:password@host:port/database" or
// "host=… user=… dbname=…", with the parameters of libpq, such as sslmode.
// CockroachDB is the same with "cockroachdb://". MySQL and MariaDB are
// "mysql://user:password@host:port/database" or
// "user:password@tcp(host:port)/database", with the parameters of the Go driver,
// such as tls, and ssl-mode, ssl-ca, ssl-cert and ssl-key as MySQL's own clients
// have them.
func Open(ctx context.Context, url string, options Options) (*DB, error) {
	if err := redact.Check(url); err != nil {
		return nil, fmt.Errorf("database URL %w", err)
	}
	switch scheme, rest, _ := strings.Cut(url, ":"); strings.ToLower(scheme) {
	case "sqlite", "file":
		return openSQLite(ctx, rest, options)
	case "postgres", "postgresql":
		return openPostgres(postgresDialect, "postgres:"+rest, options)
	case "cockroach", "cockroachdb", "crdb":
		return openPostgres(cockroachDialect, "postgres:"+rest, options)
	case "mysql", "mariadb":
		return openMySQLURL("mysql:"+rest, options)
	}
	// What people paste. The text is in no error, as it may hold a password.
	switch {
	case redact.IsKeywords(url):
		return openPostgres(postgresDialect, url, options)
	case redact.IsDriver(url):
		return openMySQLDSN(url, options)
	}
	if scheme, _, found := strings.Cut(url, "://"); found && schemeName.MatchString(scheme) {
		return nil, fmt.Errorf("database URL has the unknown scheme %q: use %s", scheme, schemes)
	}
	return nil, fmt.Errorf("database URL has no scheme that is known: use %s", schemes)
}

const schemes = "sqlite:path, postgres://…, cockroachdb://… or mysql://…"

var schemeName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*$`)

// Close closes all connections. The methods return Unavailable afterwards.
func (d *DB) Close() error {
	// The reader first: the last connection to close folds the write-ahead log
	// into the file, which the reader may not do.
	err := d.reader.Close()
	if d.file == nil {
		return errors.Join(err, d.writer.Close())
	}
	if d.file.replaced() {
		err = errors.Join(err, d.checkpointLog())
	}
	return errors.Join(err, d.writer.Close(), d.file.release())
}

// Ping returns nil when the database answers.
func (d *DB) Ping(ctx context.Context) error {
	return d.query(ctx, d.dialect.ping, nil, func(rows *sql.Rows) error {
		var ignored int64
		return rows.Scan(&ignored)
	})
}

// SQL returns the pool that may write, for the schema steps.
func (d *DB) SQL() *sql.DB { return d.writer }

// Reader returns the pool that may not write, for a look at the schema by those
// who have no other use for a connection that may.
func (d *DB) Reader() *sql.DB { return d.reader }

// Dialect returns the name of the dialect: "sqlite", "postgres", "cockroach" or
// "mysql", which is MariaDB's, too.
func (d *DB) Dialect() string { return d.dialect.name }

// Shared tells whether other processes may write to the database, which is so
// for everything but SQLite.
func (d *DB) Shared() bool { return d.dialect.shared }

// Path returns where the database is, for messages: the file, or host, port and
// database. It holds no credentials.
func (d *DB) Path() string { return d.path }
