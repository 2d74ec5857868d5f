package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"

	"github.com/guidonhq/guidon"
)

const (
	messageBusy   = "the database is too busy; try again later"
	messageClosed = "the database cannot be reached"
)

func unavailable(message string, cause error) error {
	return &guidon.Error{Code: guidon.Unavailable, Message: message, Err: cause}
}

// classify turns a driver's error into what [guidon.Store] promises. The text
// of the driver, which may hold SQL or a path, stays in the cause. The context's
// error wins: a driver reports its end in words of its own.
func (d *DB) classify(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*guidon.Error](err); ok {
		return err
	}
	if ctxErr := ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	if message := d.dialect.unavailable(err); message != "" {
		return unavailable(message, err)
	}
	_, isNetwork := errors.AsType[net.Error](err)
	if isNetwork || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || isClosed(err) {
		return unavailable(messageClosed, err)
	}
	return fmt.Errorf("store: %w", err)
}

// isClosed tells whether the pool has been closed, for which package sql has no
// exported error.
func isClosed(err error) bool {
	return err.Error() == "sql: database is closed"
}
