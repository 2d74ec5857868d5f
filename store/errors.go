package store

import (
	"context"
	"crypto/tls"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"github.com/guidonhq/guidon"
)

const (
	messageBusy    = "the database is too busy; try again later"
	messageClosed  = "the database cannot be reached"
	messageSlow    = "the database did not answer in time"
	messageUnknown = "the outcome of the write is unknown: the database went away while committing it; check before repeating it"
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
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return unavailable("the certificate of the database is not one that is trusted", err)
	}
	if message := d.dialect.unavailable(err); message != "" {
		return unavailable(message, err)
	}
	if errors.Is(err, context.DeadlineExceeded) { // the bound of one statement
		return unavailable(messageSlow, err)
	}
	_, isNetwork := errors.AsType[net.Error](err)
	if isNetwork || d.isLost(err) || isClosed(err) {
		return unavailable(messageClosed, err)
	}
	return fmt.Errorf("store: %w", err)
}

// isLost tells whether the connection ended. A connection that could not even be
// made is not lost: nothing would be gained by trying again at once.
func (d *DB) isLost(err error) bool {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return false
	}
	for _, end := range []error{
		driver.ErrBadConn, sql.ErrConnDone, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, io.ErrClosedPipe,
		syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED,
	} {
		if errors.Is(err, end) {
			return true
		}
	}
	return d.dialect.isLost(err)
}

// mayRetry tells whether the transaction that met the error left nothing behind
// and may succeed when run again.
func (d *DB) mayRetry(err error) bool {
	return d.dialect.mayRetry(err) || d.dialect.isUniqueViolation(err) || d.dialect.shared && d.isLost(err)
}

// wasRolledBack tells whether an error of COMMIT means for certain that nothing
// was committed.
func (d *DB) wasRolledBack(err error) bool {
	return !d.dialect.shared || !d.isLost(err) && (d.dialect.mayRetry(err) || d.dialect.isUniqueViolation(err))
}

// isClosed tells whether the pool has been closed, for which package sql has no
// exported error.
func isClosed(err error) bool {
	return err.Error() == "sql: database is closed"
}
