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
	messageRejects = "the database rejects the connection"
	messageSlow    = "the database did not answer in time"
	messageUnknown = "the outcome of the write is unknown: the database became unreachable during the commit; check before repeating it"
)

func unavailable(message string, cause error) error {
	return &guidon.Error{Code: guidon.Unavailable, Message: message, Err: cause}
}

// classify converts an error of a driver into one that [service.Store] promises. The
// driver's text, which may contain SQL or a path, stays in the cause. The error of
// the context takes precedence, because drivers report its end in their own ways.
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
		return unavailable("the certificate of the database is not trusted", err)
	}
	if message := d.dialect.failure(err).message; message != "" {
		return unavailable(message, err)
	}
	if errors.Is(err, context.DeadlineExceeded) { // the timeout of one statement
		return unavailable(messageSlow, err)
	}
	_, isNetwork := errors.AsType[net.Error](err)
	if isNetwork || d.isLost(err) || isClosed(err) {
		return unavailable(messageClosed, err)
	}
	return fmt.Errorf("store: %w", err)
}

// isLost reports whether the connection ended. A failure to connect does not count:
// an immediate retry would not help.
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
	return d.dialect.failure(err).lost
}

// refuses reports whether the server will refuse connections until the configuration of this
// program or of the server is changed.
func (d *DB) refuses(err error) bool {
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, unencrypted := errors.AsType[tls.RecordHeaderError](err)
	return untrusted || unencrypted || d.dialect.failure(err).refused
}

// mayRetry reports whether the transaction that got the error left nothing behind and
// may succeed if it is run again.
func (d *DB) mayRetry(err error) bool {
	f := d.dialect.failure(err)
	return f.retry || f.unique || d.dialect.shared && d.isLost(err)
}

// wasRolledBack reports whether an error of COMMIT means for certain that nothing was
// committed.
func (d *DB) wasRolledBack(err error) bool {
	f := d.dialect.failure(err)
	return !d.dialect.shared || !d.isLost(err) && (f.retry || f.unique)
}

// isClosed reports whether the pool has been closed, for which database/sql exports
// no error.
func isClosed(err error) bool {
	return err.Error() == "sql: database is closed"
}
