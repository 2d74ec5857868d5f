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
	name:              "postgres",
	ping:              "SELECT 1",
	shared:            true,
	beginWrite:        "BEGIN ISOLATION LEVEL READ COMMITTED",
	beginRead:         "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY",
	prepare:           "SELECT set_config('enable_sort', 'off', true), set_config('jit', 'off', true)", // it would compile whatever must be sorted
	batch:             postgresBatch,
	batchReads:        true,
	analyze:           "ANALYZE (SKIP_LOCKED) namespaces, flags, segments, changes, change_notes",
	interrupt:         postgresInterrupt,
	rebind:            numbered,
	isUniqueViolation: func(err error) bool { return sqlState(err) == "23505" },
	mayRetry:          postgresMayRetry,
	isLost:            postgresIsLost,
	unavailable:       postgresUnavailable,
	refuses:           postgresRefuses,
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
				result.lastSkipped = i < last && sqlState(err) != "" && !postgresIsLost(err)
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

func postgresMayRetry(err error) bool {
	switch sqlState(err) {
	case "40001", "40P01": // serialization failure, deadlock
		return true
	case "53300": // too many connections
		return true
	}
	return isOutdatedPlan(err)
}

// isOutdatedPlan reports whether a schema step has changed the column types of a
// prepared statement, which the driver then discards. The text of the error is
// localized, so it is recognized by the routine in the server's source.
func isOutdatedPlan(err error) bool {
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && e.Code == "0A000" && e.Routine == "RevalidateCachedQuery"
}

// postgresIsLost reports whether the server has ended the connection.
func postgresIsLost(err error) bool {
	if _, connecting := errors.AsType[*pgconn.ConnectError](err); connecting {
		return false
	}
	state := sqlState(err)
	switch state {
	case "57P01", "57P02", "57P03", "57P04", "57P05": // shutdown, crash, dropped, idle
		return true
	case "25P03", "40003": // idle in a transaction, statement completion unknown
		return true
	}
	return strings.HasPrefix(state, "08") || errors.Is(err, pgconn.ErrConnClosed)
}

func postgresUnavailable(err error) string {
	state := sqlState(err)
	switch {
	case state == "53300", state == "40001", state == "40P01", state == "55P03":
		return messageBusy
	case state == "53100":
		return "the database's disk is full"
	case state == "25006":
		return "the database cannot be written to"
	case strings.HasPrefix(state, "53"):
		return "the database is out of resources"
	case state == "57014":
		return messageSlow
	case postgresRefuses(err):
		return messageRejects
	}
	if _, connecting := errors.AsType[*pgconn.ConnectError](err); connecting {
		return messageClosed
	}
	return ""
}

// postgresRefuses reports whether the server rejects the user, the password, the database or
// TLS. The driver has no value for the last.
func postgresRefuses(err error) bool {
	state := sqlState(err)
	if strings.HasPrefix(state, "28") || state == "3D000" {
		return true
	}
	connecting, ok := errors.AsType[*pgconn.ConnectError](err)
	return ok && strings.Contains(connecting.Error(), "server refused TLS connection")
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
