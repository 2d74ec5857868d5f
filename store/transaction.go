package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"math/rand/v2"
	"time"
)

// patience bounds how long a call waits for its turn and retries, whatever its
// context says: beyond that the caller is better served by an answer.
const patience = 10 * time.Second

// retryable marks an error after which the whole transaction may be run again.
type retryable struct{ cause error }

func (r *retryable) Error() string { return r.cause.Error() }
func (r *retryable) Unwrap() error { return r.cause }

// retry runs attempt until it returns something other than a *retryable, with
// growing pauses of random length in between, so that those who collided do not
// meet again.
func (d *DB) retry(ctx context.Context, attempt func(ctx context.Context) error) error {
	deadline := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		err := attempt(ctx)
		again, ok := errors.AsType[*retryable](err)
		if !ok {
			return err
		}
		wait := pause/2 + rand.N(pause) // #nosec G404 -- jitter, not a secret
		if time.Until(deadline) < wait {
			return unavailable(messageBusy, again.cause)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// errNothingStored ends a transaction that turned out to change nothing.
var errNothingStored = errors.New("nothing to store")

// write runs fn in a writing transaction and commits what it did, unless it
// returns an error. fn runs again when the database asks for it.
func (d *DB) write(ctx context.Context, fn func(ctx context.Context, s *session) error) error {
	err := d.retry(ctx, func(ctx context.Context) error { return d.writeOnce(ctx, fn) })
	if errors.Is(err, errNothingStored) {
		return nil
	}
	return err
}

func (d *DB) writeOnce(ctx context.Context, fn func(ctx context.Context, s *session) error) (err error) {
	conn, err := d.writerConn(ctx)
	if err != nil {
		return err
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		_ = conn.Close()
		return d.again(ctx, err)
	}
	broken := false
	defer func() { // also when fn panics
		if rollbackErr := tx.Rollback(); rollbackErr != nil && !errors.Is(rollbackErr, sql.ErrTxDone) {
			broken = true
		}
		release(conn, broken)
	}()
	s := &session{db: d, tx: tx}
	err = fn(ctx, s)
	if s.failed != nil && d.mayRetry(s.failed) {
		return &retryable{s.failed} // whatever fn made of it
	}
	if err != nil {
		return err
	}
	if s.failed != nil {
		return s.failed // fn passed over it
	}
	if err := tx.Commit(); err != nil {
		broken = true // whether it is still inside the transaction is not known
		return d.again(ctx, err)
	}
	return nil
}

// writerConn waits for the connection that writes.
func (d *DB) writerConn(ctx context.Context) (*sql.Conn, error) {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := d.writer.Conn(bounded)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		return nil, unavailable(messageBusy, err)
	}
	if err != nil {
		return nil, d.again(ctx, err)
	}
	return conn, nil
}

// release gives the connection back to its pool, or drops it.
func release(conn *sql.Conn, broken bool) {
	if broken {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
	_ = conn.Close()
}

// read runs fn in a transaction that sees one state of the database throughout.
func (d *DB) read(ctx context.Context, fn func(ctx context.Context, s *session) error) error {
	return d.retry(ctx, func(ctx context.Context) error {
		tx, err := d.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return d.again(ctx, err)
		}
		defer func() { _ = tx.Rollback() }()
		s := &session{db: d, tx: tx}
		err = fn(ctx, s)
		if s.failed != nil && d.mayRetry(s.failed) {
			return &retryable{s.failed}
		}
		return err
	})
}

// again classifies the error and marks it when running again may help.
func (d *DB) again(ctx context.Context, err error) error {
	err = d.classify(ctx, err)
	if d.mayRetry(err) {
		return &retryable{err}
	}
	return err
}

func (d *DB) mayRetry(err error) bool {
	return d.dialect.mayRetry(err) || d.dialect.isUniqueViolation(err)
}

// newStamp returns the random half of a [guidon.Revision].
func newStamp() int64 {
	return rand.Int64() // #nosec G404 -- tells copies of a database apart, keeps no secret
}

// transactionTime returns the one instant of a transaction.
func transactionTime() time.Time {
	return time.Now().UTC().Truncate(time.Microsecond)
}
