package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
)

// queryInterruptible runs one query that reads on a connection of its own, for a driver
// whose statements can be interrupted from outside. Left to watch the context
// themselves, package sql and the driver start a goroutine each for every query,
// which takes a quarter of the time of a small one.
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
	_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // it is of no use any more
	if err != nil {
		err = ctx.Err()
	}
	return err
}
