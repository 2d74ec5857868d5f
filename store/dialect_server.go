package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/clock"
)

// Defaults for a database server that several instances share.
const (
	defaultMaxOpenConns     = 24
	defaultConnMaxLifetime  = 30 * time.Minute
	defaultConnMaxIdleTime  = 5 * time.Minute
	defaultConnectTimeout   = 10 * time.Second
	defaultStatementTimeout = 5 * time.Second
)

// Defaults on AWS Lambda, if they differ. A process handles one request at a time,
// and there may be hundreds of processes. Each is frozen between requests, while its
// connections go stale.
const (
	lambdaMaxOpenConns    = 2
	lambdaConnMaxLifetime = 10 * time.Minute
	lambdaConnMaxIdleTime = time.Minute
)

// forServer sets the defaults for a database server.
func (o Options) forServer() Options {
	if o.Lambda {
		o.MaxOpenConns = cmp.Or(o.MaxOpenConns, lambdaMaxOpenConns)
		o.ConnMaxLifetime = cmp.Or(o.ConnMaxLifetime, lambdaConnMaxLifetime)
		o.ConnMaxIdleTime = cmp.Or(o.ConnMaxIdleTime, lambdaConnMaxIdleTime)
	}
	o.MaxOpenConns = cmp.Or(o.MaxOpenConns, defaultMaxOpenConns)
	o.ConnMaxLifetime = cmp.Or(o.ConnMaxLifetime, defaultConnMaxLifetime)
	o.ConnMaxIdleTime = cmp.Or(o.ConnMaxIdleTime, defaultConnMaxIdleTime)
	o.ConnectTimeout = cmp.Or(o.ConnectTimeout, defaultConnectTimeout)
	o.StatementTimeout = cmp.Or(o.StatementTimeout, defaultStatementTimeout)
	return o
}

// abandonment is for how long a transaction may send nothing until the server ends it, with the
// lock that it has on a namespace; zero means for ever. If a machine or its network fails, the
// server learns nothing, and would keep the transaction for hours.
func (o Options) abandonment() time.Duration {
	return min(max(0, 6*o.StatementTimeout), 24*time.Hour)
}

// password returns the password of one connection, or Unavailable.
func (o Options) password(ctx context.Context, address, user string) (string, error) {
	password, err := o.Password(ctx, address, user)
	if err != nil {
		return "", unavailable("cannot get the password of the database", err)
	}
	return password, nil
}

// errUnencrypted is the error for a connection that would send a password from
// [Options.Password] unencrypted.
func errUnencrypted(how string) error {
	return fmt.Errorf("database URL: per-connection passwords require TLS: add %s", how)
}

// newServerDB returns a DB with two pools. It does not connect.
func newServerDB(d *dialect, path string, writer, reader driver.Connector, options Options) *DB {
	db := &DB{
		dialect: d, path: path,
		writer:           sql.OpenDB(&connector{Connector: writer, timeout: options.ConnectTimeout}),
		reader:           sql.OpenDB(&connector{Connector: reader, timeout: options.ConnectTimeout}),
		patience:         options.StatementTimeout,
		statementTimeout: options.StatementTimeout,
		maxIdle:          cmp.Or(options.MaxIdleConns, options.MaxOpenConns),
		abandonment:      strconv.FormatInt(options.abandonment().Milliseconds(), 10),
		trace:            options.Trace,
	}
	readers := max(1, options.MaxOpenConns/3)
	options.tune(db.reader, readers)
	options.tune(db.writer, max(1, options.MaxOpenConns-readers))
	return db
}

// connector limits how long connecting may take. database/sql makes some connections
// in the background without a limit, and one that hangs would take its place in the
// pool forever.
type connector struct {
	driver.Connector
	timeout time.Duration
	session string // a statement run on each new connection, or ""
}

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	conn, err := c.Connector.Connect(ctx)
	if err != nil || c.session == "" {
		return conn, err
	}
	execer, ok := conn.(driver.ExecerContext)
	if !ok {
		_ = conn.Close()
		return nil, fmt.Errorf("store: cannot prepare a session: %T has no method ExecContext", conn)
	}
	if _, err := execer.ExecContext(ctx, c.session, nil); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// Pauses between the attempts of WaitReady.
const (
	firstWait = 100 * time.Millisecond
	maxWait   = 5 * time.Second
)

// WaitReady waits until the database responds, at most until the deadline. After each
// failed attempt, it calls notify, which may be nil, with the error and the pause
// before the next attempt. If there is no time for another attempt, it returns an
// Unavailable error that wraps the last one, without calling notify. It does the same at
// once if the server rejects the user, the password, the database or TLS. If ctx ends
// first, it returns the error of ctx.
func (d *DB) WaitReady(ctx context.Context, deadline time.Time, notify func(err error, next time.Duration)) error {
	bounded, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	for pause := firstWait; ; pause = min(2*pause, maxWait) {
		err := d.Ping(bounded)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		next := clock.Jitter(pause)
		if time.Until(deadline) < next || d.refuses(err) {
			if !errors.Is(err, guidon.Unavailable) {
				err = unavailable(messageClosed, err)
			}
			return err
		}
		if notify != nil {
			notify(err, next)
		}
		if err := clock.Sleep(ctx, next); err != nil {
			return err
		}
	}
}
