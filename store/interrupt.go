package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
)

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
