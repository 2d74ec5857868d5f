package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

var postgresDialect = &dialect{
	name:       "postgres",
	ping:       "SELECT 1",
	shared:     true,
	beginWrite: "BEGIN ISOLATION LEVEL READ COMMITTED",
	beginRead:  "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY",
	prepare: "SELECT set_config('enable_sort', 'off', true), set_config('jit', 'off', true), " + // jit would compile whatever must be sorted
		"set_config('idle_in_transaction_session_timeout', ?, true)",
	batch:      postgresBatch,
	batchReads: true,
	analyze:    "ANALYZE (SKIP_LOCKED) namespaces, flags, segments, changes, change_notes",
	interrupt:  postgresInterrupt,
	rebind:     numbered,
	failure:    postgresFailure,
}

// cockroachDialect is that of PostgreSQL except for the isolation level: CockroachDB
// is serializable by default and reports conflicts with 40001.
var cockroachDialect = func() *dialect {
	d := *postgresDialect
	d.name, d.beginWrite, d.beginRead = "cockroach", "BEGIN", "BEGIN READ ONLY"
	d.prepare, d.analyze = "", ""
	return &d
}()

// postgresBatch sends all statements together. If a statement fails, the server skips
// those after it.
func postgresBatch(ctx context.Context, conn *sql.Conn, statements []statement) (result batchResult, err error) {
	var batch pgx.Batch
	for _, s := range statements {
		batch.Queue(numbered(s.query), s.args...)
	}
	last := len(statements) - 1
	err = conn.Raw(func(driverConn any) error {
		results := driverConn.(*stdlib.Conn).Conn().SendBatch(ctx, &batch)
		for i, s := range statements {
			var err error
			if s.row != nil {
				var rows pgx.Rows
				if rows, err = results.Query(); err == nil {
					err = s.row.read(rows)
					rows.Close()
					err = cmp.Or(err, rows.Err())
				}
			} else {
				var tag pgconn.CommandTag
				tag, err = results.Exec()
				result.changed = tag.RowsAffected()
			}
			if err != nil {
				_ = results.Close() // it would return the same error
				result.lastSkipped = i < last && sqlState(err) != "" && !postgresFailure(err).lost
				return err
			}
		}
		return results.Close()
	})
	return result, err
}

// postgresInterrupt returns a function that sets a past deadline on the network
// connection. The driver then also requests the server to cancel the statement.
func postgresInterrupt(driverConn any) func() {
	conn := driverConn.(*stdlib.Conn).Conn().PgConn().Conn()
	return func() { _ = conn.SetDeadline(time.Unix(1, 0)) }
}

// sqlState returns the code of an error of the server, or "".
func sqlState(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// postgresFailures are the failures by the code of the error, or by its class, which is the first
// two characters.
var postgresFailures = map[string]failure{
	"23505": uniqueFailure,
	"40001": busyFailure, "40P01": busyFailure, // serialization failure, deadlock
	"53300": busyFailure,                                             // too many connections
	"55P03": {message: messageBusy},                                  // a lock is not available
	"57P01": lostFailure, "57P02": lostFailure, "57P03": lostFailure, // shutdown, crash, starting or stopping
	"57P04": lostFailure, "57P05": lostFailure, "25P03": lostFailure, // dropped, idle, idle in a transaction
	"08": lostFailure, "40003": lostFailure, // connection, statement completion unknown
	"53100": fullFailure,
	"53":    {message: "the database is out of resources"},
	"25006": readOnlyFailure,
	"57014": slowFailure,
	"28":    refusedFailure, "3D000": refusedFailure, // user or password, no such database
}

func postgresFailure(err error) failure {
	state := sqlState(err)
	f, found := postgresFailures[state]
	if !found && len(state) > 2 {
		f = postgresFailures[state[:2]]
	}
	connecting, isConnecting := errors.AsType[*pgconn.ConnectError](err)
	switch {
	case isConnecting && strings.Contains(connecting.Error(), "server refused TLS connection"): // the driver has no value for it
		return refusedFailure
	case isConnecting && f.message == "": // so no connection was lost
		return closedFailure
	case errors.Is(err, pgconn.ErrConnClosed):
		return lostFailure
	case isOutdatedPlan(err):
		return failure{retry: true}
	}
	return f
}

// isOutdatedPlan reports whether a schema step has changed the column types of a
// prepared statement, which the driver then discards. The text of the error is
// localized, so it is recognized by the routine in the server's source.
func isOutdatedPlan(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "0A000" && e.Routine == "RevalidateCachedQuery"
}

// numbered replaces the ? of a query by $1, $2, …. No query has a ? in a string
// literal.
func numbered(query string) string {
	var b strings.Builder
	b.Grow(len(query) + 16)
	for n := 1; ; n++ {
		before, after, found := strings.Cut(query, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(n))
		query = after
	}
}

// openPostgres opens a URL or a list of keywords and values.
func openPostgres(d *dialect, dsn string, options Options) (*DB, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("database URL: %s", withoutDSN(err))
	}
	options = options.forServer()
	config.ConnectTimeout = cmp.Or(config.ConnectTimeout, options.ConnectTimeout)
	config.RuntimeParams["application_name"] = cmp.Or(config.RuntimeParams["application_name"], "guidon")
	path := net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port))) + "/" + config.Database
	if options.Password != nil && !postgresEncrypts(config) {
		return nil, errUnencrypted("sslmode=verify-full")
	}
	connect := postgresConnections(d, dsn, config, options)
	return newServerDB(d, path, connect, connect, options), nil
}

// postgresConnections returns the connector. The DSN may set how statements are sent;
// otherwise the best way for the server is used.
func postgresConnections(d *dialect, dsn string, config *pgx.ConnConfig, options Options) driver.Connector {
	var each []stdlib.OptionOpenDB
	if options.Password != nil {
		each = append(each, stdlib.OptionBeforeConnect(func(ctx context.Context, c *pgx.ConnConfig) (err error) {
			c.Password, err = options.password(ctx, net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))), c.User)
			return err
		}))
	}
	switch {
	case strings.Contains(dsn, "default_query_exec_mode"):
		return stdlib.GetConnector(*config, each...)
	case d == cockroachDialect, // its sessions cannot be distinguished from a pooler's
		options.Lambda: // its connections rarely send a statement twice
		config.DefaultQueryExecMode = pgx.QueryExecModeExec
		return stdlib.GetConnector(*config, each...)
	}
	return newPostgresConnector(*config, each...)
}

// postgresEncrypts reports whether every connection is encrypted.
func postgresEncrypts(config *pgx.ConnConfig) bool {
	return config.TLSConfig != nil && !slices.ContainsFunc(config.Fallbacks, func(f *pgconn.FallbackConfig) bool { return f.TLSConfig == nil })
}

// withoutDSN returns the text of err without the DSN, whose password the driver hides
// only if it recognizes it.
func withoutDSN(err error) string {
	text := err.Error()
	if e, ok := errors.AsType[*pgconn.ParseConfigError](err); ok {
		if i := strings.LastIndex(text, "`: "); i >= 0 {
			text = text[i+len("`: "):]
		}
		if cause := e.Unwrap(); cause != nil {
			// The cause may quote what it could not parse.
			text = strings.TrimSuffix(text, " ("+cause.Error()+")")
		}
	}
	return text
}

// queryInterruptible runs one read query on a connection of its own, for a driver
// whose statements can be interrupted from outside. Otherwise database/sql and the
// driver would each start a goroutine per query to watch the context, a quarter of
// the cost of a small query.
func (d *DB) queryInterruptible(ctx context.Context, query string, args []any, scan func(rows *sql.Rows) error) error {
	conn, err := d.reader.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	var interrupt func()
	if err := conn.Raw(func(c any) error { interrupt = d.dialect.interrupt(c); return nil }); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, interrupt)
	rows, err := conn.QueryContext(context.WithoutCancel(ctx), query, args...)
	err = scanAll(rows, err, scan)
	if stop() {
		return err
	}
	_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // the connection is no longer usable
	if err != nil {
		err = ctx.Err()
	}
	return err
}
