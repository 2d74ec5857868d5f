package store

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/guidonhq/guidon/internal/clock"
)

// patience limits how long a call on SQLite waits for its turn and retries, whatever
// its context says. After that, an error is of more use to the caller.
const patience = 10 * time.Second

// retryable marks an error after which the whole transaction may be run again.
type retryable struct{ cause error }

func (r *retryable) Error() string { return r.cause.Error() }
func (r *retryable) Unwrap() error { return r.cause }

// retry runs attempt until it returns something other than a *retryable, or
// d.patience has passed. The pauses in between grow and are random, so that
// transactions that collided do not collide again.
func (d *DB) retry(ctx context.Context, attempt func(ctx context.Context) error) error {
	deadline := time.Now().Add(d.patience)
	for pause := time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		err := attempt(ctx)
		again, ok := errors.AsType[*retryable](err)
		if !ok {
			return err
		}
		wait := clock.Jitter(pause)
		if time.Until(deadline) < wait {
			if d.isLost(again.cause) {
				return unavailable(messageClosed, again.cause)
			}
			return unavailable(messageBusy, again.cause)
		}
		if err := clock.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// errNothingStored ends a transaction that turned out to change nothing.
var errNothingStored = errors.New("nothing to store")

// write runs fn in a write transaction and commits it, unless fn returns an error. fn
// runs again if the transaction may be retried.
func (d *DB) write(ctx context.Context, fn func(ctx context.Context, s *session) error) error {
	err := d.retry(ctx, func(ctx context.Context) error {
		err := d.writeOnce(ctx, fn)
		if u, ok := errors.AsType[*uncertain](err); ok {
			return d.resolveOutcome(ctx, u)
		}
		return err
	})
	if errors.Is(err, errNothingStored) {
		return nil
	}
	return err
}

func (d *DB) writeOnce(ctx context.Context, fn func(ctx context.Context, s *session) error) error {
	s, err := d.begin(ctx, d.writer, d.dialect.beginWrite)
	if err != nil {
		return err
	}
	defer func() { s.end(ctx) }() // also when fn panics
	if err := s.abortError(fn(ctx, s)); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err // the caller no longer waits
	}
	return s.commit(ctx)
}

// abortError returns why the transaction must not be committed, or nil. err is the
// result of the function that ran in it, which may have ignored or replaced the error
// of a failed statement.
func (s *session) abortError(err error) error {
	if s.failed != nil && s.db.mayRetry(s.failed) {
		return &retryable{s.failed}
	}
	if err != nil {
		return err
	}
	return s.failed
}

// read runs fn in a transaction that sees one state of the database throughout.
func (d *DB) read(ctx context.Context, fn func(ctx context.Context, s *session) error) error {
	return d.retry(ctx, func(ctx context.Context) error {
		s, err := d.begin(ctx, d.reader, d.dialect.beginRead)
		if err != nil {
			return err
		}
		defer func() { s.end(ctx) }()
		err = fn(ctx, s)
		if s.failed != nil && d.mayRetry(s.failed) {
			return &retryable{s.failed}
		}
		return err
	})
}

// readValue is [DB.read] for a function that returns a value.
func readValue[T any](ctx context.Context, d *DB, fn func(ctx context.Context, s *session) (T, error)) (T, error) {
	var value, none T
	err := d.read(ctx, func(ctx context.Context, s *session) (err error) {
		value, err = fn(ctx, s)
		return err
	})
	if err != nil {
		return none, err
	}
	return value, nil
}

// readRows returns the values of all rows of a query, read in a transaction of its own.
func readRows[T any](ctx context.Context, d *DB, query string, args []any, scan func(rows *sql.Rows) (T, error)) ([]T, error) {
	return readValue(ctx, d, func(ctx context.Context, s *session) ([]T, error) { return collect(ctx, s, query, args, scan) })
}

// query runs one read statement outside a transaction.
func (d *DB) query(ctx context.Context, query string, args []any, scan func(rows *sql.Rows) error) error {
	return d.retry(ctx, func(ctx context.Context) (err error) {
		defer d.traced(ctx, nil, query)(&err)
		bounded, cancel := d.withStatementTimeout(ctx)
		defer cancel()
		if err := d.queryOnce(bounded, d.dialect.query(query), args, scan); err != nil {
			return d.markRetryable(ctx, err)
		}
		return nil
	})
}

// queryOnce is query without timeout and retries.
func (d *DB) queryOnce(ctx context.Context, query string, args []any, scan func(rows *sql.Rows) error) error {
	if d.dialect.interrupt != nil {
		return d.queryInterruptible(ctx, query, args, scan)
	}
	rows, err := d.reader.QueryContext(ctx, query, args...)
	return scanAll(rows, err, scan)
}

// markRetryable classifies the error and marks it if running again may help.
func (d *DB) markRetryable(ctx context.Context, err error) error {
	err = d.classify(ctx, err)
	if d.mayRetry(err) {
		return &retryable{err}
	}
	return err
}

// newStamp returns the random half of a [guidon.Revision].
func newStamp() int64 {
	return rand.Int64() // #nosec G404 -- distinguishes copies of a database, not a secret
}

// transactionTime returns the current time in the form that is stored.
func transactionTime() time.Time {
	return time.Now().UTC().Truncate(time.Microsecond)
}

// turns gives writers exclusive access to a key, in order of arrival. It stores only
// keys that are held or waited for.
type turns struct {
	mu     sync.Mutex
	queues map[string]*turnQueue
}

// turnQueue is the queue for a key.
type turnQueue struct {
	key     string
	turn    chan struct{} // full while a writer has the turn
	joining chan *writer  // from a waiting writer to the one that has the turn, without a buffer
	users   int           // the writers that have the turn or wait for it
}

// take waits for the turn of the key, or until the writer that has the turn has run w too: then
// it returns nil. It returns the error of the context if that ends before, and Unavailable after
// patience.
func (t *turns) take(w *writer, key string, patience time.Duration) (q *turnQueue, err error) {
	q = t.join(key)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case q.turn <- struct{}{}:
		return q, nil
	case q.joining <- w:
		<-w.ended
	case <-w.ctx.Done():
		err = w.ctx.Err()
	case <-timer.C:
		err = unavailable(messageBusy, nil)
	}
	t.leave(q)
	return nil, err
}

// end ends the turn.
func (t *turns) end(q *turnQueue) {
	<-q.turn
	t.leave(q)
}

// next takes over the writer that has waited longest, and returns it, or nil if none waits.
func (q *turnQueue) next() *writer {
	select {
	case w := <-q.joining:
		return w
	default:
		return nil
	}
}

func (t *turns) join(key string) *turnQueue {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queues[key]
	if q == nil {
		q = &turnQueue{key: key, turn: make(chan struct{}, 1), joining: make(chan *writer)}
		if t.queues == nil {
			t.queues = map[string]*turnQueue{}
		}
		t.queues[key] = q
	}
	q.users++
	return q
}

func (t *turns) leave(q *turnQueue) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if q.users--; q.users == 0 {
		delete(t.queues, q.key)
	}
}
