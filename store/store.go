// Package store implements [service.Store] with an SQL database: SQLite, PostgreSQL,
// CockroachDB, MySQL or MariaDB.
//
// There is one implementation. A dialect value holds the differences between the
// databases. All SQL is in the common subset: ? placeholders, no upsert, no
// RETURNING, no database functions for time or JSON. The rules of the service are in
// package guidon, and the schema is in package migrate.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/redact"
)

// Options configures a [DB]. The zero value of every field is a usable default, which
// depends on the database.
type Options struct {
	// Lambda adapts the defaults of the other fields to an AWS Lambda function on a
	// shared database. On PostgreSQL it also disables prepared statements.
	Lambda bool
	// Exclusive locks an SQLite file for this process, until [DB.Close] or until the
	// process ends, however it ends. A cache that sees only the writes of its own
	// process relies on it. Shared databases ignore it.
	Exclusive bool
	// MaxOpenConns limits the connections. On a shared database, a third of them are
	// for reading and the rest for writing, at least one each, so that readers do not
	// wait behind writers. The default is 24, or 2 with Lambda. On SQLite, all of them
	// are for reading, and there is one more for writing. The default there is twice
	// GOMAXPROCS, but at least 4.
	MaxOpenConns int
	// MaxIdleConns limits the idle connections of each of the two pools. The default
	// is not to close idle connections before ConnMaxIdleTime.
	MaxIdleConns int
	// ConnMaxLifetime limits the age of a connection. The default is no limit on
	// SQLite and otherwise 30 minutes, or 10 minutes with Lambda.
	ConnMaxLifetime time.Duration
	// ConnMaxIdleTime limits how long a connection may be idle. The default is no
	// limit on SQLite and otherwise 5 minutes, or 1 minute with Lambda.
	ConnMaxIdleTime time.Duration
	// ConnectTimeout limits how long connecting may take. The default is 10 seconds.
	// SQLite ignores it.
	ConnectTimeout time.Duration
	// StatementTimeout limits each statement, so that a server that hangs is detected.
	// On a shared database it also limits each wait for a connection or for other
	// writers, and all attempts at a transaction. The default is no limit on SQLite
	// and otherwise 5 seconds. A shorter deadline of the context still applies.
	StatementTimeout time.Duration
	// Password, if not nil, returns the password for each new connection to a server,
	// instead of the one in the URL. It is meant for passwords that are valid for
	// minutes only. It must be safe for concurrent use. [Open] then requires TLS. If
	// Password fails, the operation fails with Unavailable.
	Password func(ctx context.Context, address, user string) (string, error)
	// Trace, if not nil, traces all statements except those that check the file, copy it and
	// roll back. Its argument is the name of the dialect.
	Trace Trace
}

// Trace is called before something is sent to a database. The result, unless it is nil, is
// called after that, with the text of the statements or the name of the first command, which
// has no values, and the error.
type Trace func(ctx context.Context, system string) func(text string, err error)

// tune sets the limits of a pool of at most open connections.
func (o Options) tune(pool *sql.DB, open int) {
	pool.SetMaxOpenConns(open)
	pool.SetMaxIdleConns(min(cmp.Or(o.MaxIdleConns, open), open))
	pool.SetConnMaxLifetime(o.ConnMaxLifetime)
	pool.SetConnMaxIdleTime(o.ConnMaxIdleTime)
}

// DB is a [service.Store] without a cache: every read queries the database. Its
// methods are safe for concurrent use.
type DB struct {
	dialect *dialect
	path    string
	file    *sqliteFile // nil unless the database is SQLite
	writer  *sql.DB
	reader  *sql.DB

	turns            turns
	additions        atomic.Bool   // the database is known to permit them
	patience         time.Duration // how long a call may wait for its turn and retry
	statementTimeout time.Duration
	maxIdle          int    // of each pool, if the database is a server
	abandonment      string // see [Options.abandonment]; in milliseconds
	trace            Trace  // or nil
}

var _ service.Store = (*DB)(nil)

// Open opens the database that url names. The caller must close the DB. Open does not
// create or check the schema, which is the task of package migrate. No error shows a
// password. A URL that cannot be divided into its parts unambiguously is rejected;
// see [redact.Check].
//
// SQLite is "sqlite:path", "sqlite://path" or "file:path". The rest of the URL is the
// path, taken literally. Symbolic links are followed. Missing directories and the
// file are created, for the owner only, and the file is opened. Open rejects a file
// with several hard links, a file of another program with FailedPrecondition, and an
// in-memory database, which would be lost on a restart. With [Options.Exclusive], a
// file that is locked already is an *[guidon.Error] with code Unavailable that wraps
// a *filelock.HeldError. A program that does not import the driver,
// modernc.org/sqlite, cannot open SQLite files.
//
// The other databases are servers. Open does not connect to them; see [DB.WaitReady].
// PostgreSQL is "postgres://user:password@host:port/database" or "host=… user=…
// dbname=…", with the parameters of libpq, such as sslmode. CockroachDB is the same
// with "cockroachdb://"; it is expected to work, not tested. MySQL and MariaDB are
// "mysql://user:password@host:port/database" or
// "user:password@tcp(host:port)/database", with the parameters of the Go driver, such
// as tls, and those of MySQL's own clients, ssl-mode, ssl-ca, ssl-cert and ssl-key.
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
	// Other forms of DSN. No error shows them, because they may contain a password.
	switch {
	case redact.IsKeywords(url):
		return openPostgres(postgresDialect, url, options)
	case redact.IsDriver(url):
		return openMySQLDSN(url, options)
	}
	if scheme, _, found := strings.Cut(url, "://"); found && schemeName.MatchString(scheme) {
		return nil, fmt.Errorf("database URL has the unknown scheme %q; use %s", scheme, schemes)
	}
	return nil, fmt.Errorf("database URL has no known scheme; use %s", schemes)
}

const schemes = "sqlite:path, postgres://…, cockroachdb://… or mysql://…"

var schemeName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*$`)

// Close closes all connections and unlocks an SQLite file. Methods that use the
// database return Unavailable afterwards.
func (d *DB) Close() error {
	// The reader is closed first: the last connection to close moves the write-ahead
	// log into the file, which the reader may not do.
	err := d.reader.Close()
	if d.file == nil {
		return errors.Join(err, d.writer.Close())
	}
	if d.file.replaced() {
		err = errors.Join(err, d.checkpointLog())
	}
	return errors.Join(err, d.writer.Close(), d.file.release())
}

// Ping returns nil if the database responds to a query. The errors are those of
// [service.Store].
func (d *DB) Ping(ctx context.Context) error {
	return d.query(ctx, d.dialect.ping, nil, func(rows *sql.Rows) error {
		var ignored int64
		return rows.Scan(&ignored)
	})
}

// SQL returns the pool for writing, for package migrate. The caller must not close it.
func (d *DB) SQL() *sql.DB { return d.writer }

// Reader returns the pool for reading, for callers that check the schema and need no
// connection that may write. The caller must not close it.
func (d *DB) Reader() *sql.DB { return d.reader }

// Bind returns the query with the placeholders of the database in place of each ?, for
// package migrate.
func (d *DB) Bind(query string) string { return d.dialect.query(query) }

// Dialect returns the name of the dialect: "sqlite", "postgres", "cockroach" or
// "mysql", which is also that of MariaDB.
func (d *DB) Dialect() string { return d.dialect.name }

// Shared reports whether the database is one that several instances may share, which
// is true for all but SQLite.
func (d *DB) Shared() bool { return d.dialect.shared }

// Path returns the location of the database for messages: the file, or host, port and
// database. It contains no credentials.
func (d *DB) Path() string { return d.path }

// analyzeMin is the number of objects from which on a write is followed by
// [DB.Analyze].
const analyzeMin = 1000

// analyzeTimeout limits [DB.Analyze].
const analyzeTimeout = 5 * time.Second

// Analyze updates the statistics by which the database plans queries, as is useful after
// many rows were written. PostgreSQL would do so by itself only after a minute or more; the
// other databases need no call. It reads a sample of at most 30,000 rows of each table and
// takes at most 5 seconds. Only the owner of the tables may analyze them, and queries do
// not depend on it, so errors are ignored.
func (d *DB) Analyze(ctx context.Context) {
	if d.dialect.analyze == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, analyzeTimeout)
	defer cancel()
	_, _ = d.writer.ExecContext(ctx, d.dialect.analyze)
}
