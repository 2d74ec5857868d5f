package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/guidonhq/guidon/internal/clock"
)

// What is right for a database server that several instances share.
const (
	defaultMaxOpenConns     = 24
	defaultConnMaxLifetime  = 30 * time.Minute
	defaultConnMaxIdleTime  = 5 * time.Minute
	defaultConnectTimeout   = 10 * time.Second
	defaultStatementTimeout = 5 * time.Second
)

// What is right on AWS Lambda, where it differs: a process answers one request at
// a time, there may be hundreds of them, and each is frozen between requests,
// while its connections go stale.
const (
	lambdaMaxOpenConns    = 2
	lambdaConnMaxLifetime = 10 * time.Minute
	lambdaConnMaxIdleTime = time.Minute
)

// forServer fills in what is not set.
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

// password returns the password of one connection, or Unavailable.
func (o Options) password(ctx context.Context, address, user string) (string, error) {
	password, err := o.Password(ctx, address, user)
	if err != nil {
		return "", unavailable("there is no password for the database", err)
	}
	return password, nil
}

// errUnencrypted refuses to send a password that was asked for in the clear.
func errUnencrypted(how string) error {
	return fmt.Errorf("database URL: passwords that are made for each connection need encrypted ones: add %s", how)
}

// newServerDB returns the DB over two pools. No connection is made yet.
func newServerDB(d *dialect, path string, writer, reader driver.Connector, options Options) *DB {
	db := &DB{
		dialect: d, path: path,
		writer:           sql.OpenDB(&connector{Connector: writer, timeout: options.ConnectTimeout}),
		reader:           sql.OpenDB(&connector{Connector: reader, timeout: options.ConnectTimeout}),
		patience:         options.StatementTimeout,
		statementTimeout: options.StatementTimeout,
	}
	readers := max(1, options.MaxOpenConns/3)
	options.tune(db.reader, readers)
	options.tune(db.writer, max(1, options.MaxOpenConns-readers))
	return db
}

// connector bounds how long a connection may take to be made. Package sql makes
// some on nobody's behalf, without a bound, and one that hung would take its
// place in the pool for ever.
type connector struct {
	driver.Connector
	timeout time.Duration
	session string // a statement that prepares each connection, or ""
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
		return nil, fmt.Errorf("store: the driver %T cannot prepare a session", conn)
	}
	if _, err := execer.ExecContext(ctx, c.session, nil); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// The pauses between the attempts of WaitReady.
const (
	firstWait = 100 * time.Millisecond
	maxWait   = 5 * time.Second
)

// WaitReady waits until the database answers, at most until the deadline. It
// calls notify, which may be nil, after each attempt that failed, with the pause
// before the next one, and returns the error of the last attempt, or the
// context's.
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
		if time.Until(deadline) < next {
			return unavailable(messageClosed, err)
		}
		if notify != nil {
			notify(err, next)
		}
		if err := clock.Sleep(ctx, next); err != nil {
			return err
		}
	}
}
