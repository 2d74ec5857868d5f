package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"

	"github.com/guidonhq/guidon"
)

// session runs the statements of one transaction. The first failed statement
// ends it: some databases roll back by themselves then, and what came after
// would be committed one by one.
//
// It speaks BEGIN and COMMIT itself, since those of package sql do not end with
// a context in every driver, and a server that hangs must not hold its callers.
type session struct {
	db       *DB
	conn     *sql.Conn
	open     bool // a transaction is under way
	canQueue bool // statements can wait to be sent along with others
	queued   []statement
	failed   error
	proof    *proof // of what a commit would store

	committed func()                     // called after the commit; may be nil
	tips      map[string]guidon.Revision // by key, of the parts of the group so far
}

// onCommit has committed called after the commit. The state of the key is then at the
// revision; if known, a copy can be brought there, and further on from there.
func (s *session) onCommit(key string, revision guidon.Revision, known bool, committed func()) {
	s.committed = committed
	switch {
	case s.tips == nil:
	case known:
		s.tips[key] = revision
	default:
		delete(s.tips, key)
	}
}

// statement is one that is sent along with others.
type statement struct {
	query string
	args  []any
	row   *row // of a query; nil: it is none
	count bool // how many rows it changed is asked
}

// row is where the rows of a query go.
type row struct {
	dest  []any
	each  func() // called with each row in dest; nil: only the first one counts
	found bool
	ended bool // the result has been read to its end, or to its first row if that counts
}

// cursor is an answer that is read row by row.
type cursor interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
}

// read takes the rows.
func (r *row) read(rows cursor) error {
	for rows.Next() {
		if err := rows.Scan(r.dest...); err != nil {
			return err
		}
		r.found = true
		if r.each == nil {
			break
		}
		r.each()
	}
	err := rows.Err()
	r.ended = err == nil
	return err
}

// maxQueued bounds what waits.
const maxQueued = 8

// begin takes a connection of the pool and begins a transaction on it.
func (d *DB) begin(ctx context.Context, pool *sql.DB, query string) (*session, error) {
	if d.file != nil && pool == d.writer {
		if err := d.file.verify(); err != nil {
			return nil, err
		}
	}
	conn, err := d.connection(ctx, pool)
	if err != nil {
		return nil, err
	}
	s := &session{db: d, conn: conn}
	if d.dialect.batch != nil && (pool == d.writer || d.dialect.batchReads) {
		s.canQueue, s.queued = true, []statement{{query: query}}
		return s, nil
	}
	if _, err := s.exec(ctx, query); err != nil {
		s.drop()
		return nil, d.markRetryable(ctx, err)
	}
	s.open = true
	return s, nil
}

// connection waits for a connection, but not for ever.
func (d *DB) connection(ctx context.Context, pool *sql.DB) (*sql.Conn, error) {
	bounded, cancel := context.WithTimeout(ctx, d.patience)
	defer cancel()
	conn, err := pool.Conn(bounded)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		return nil, unavailable(messageBusy, err)
	}
	if err != nil {
		return nil, d.markRetryable(ctx, err)
	}
	return conn, nil
}

// withStatementTimeout returns the context of one statement.
func (d *DB) withStatementTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if d.statementTimeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d.statementTimeout)
}

// exec runs a statement and returns how many rows it changed.
func (s *session) exec(ctx context.Context, query string, args ...any) (int64, error) {
	if s.failed != nil {
		return 0, s.failed
	}
	bounded, cancel := s.db.withStatementTimeout(ctx)
	defer cancel()
	if len(s.queued) > 0 {
		result, err := s.send(bounded, statement{query: query, args: args, count: true})
		return result.changed, s.fail(ctx, err)
	}
	result, err := s.conn.ExecContext(bounded, s.db.dialect.query(query), args...)
	if err != nil {
		return 0, s.fail(ctx, err)
	}
	n, err := result.RowsAffected()
	return n, s.fail(ctx, err)
}

// later runs a statement of which nothing but success is expected, along with
// the next one where the database can: what a write costs over a network is the
// number of round trips.
func (s *session) later(ctx context.Context, query string, args ...any) error {
	if s.queue(statement{query: query, args: args}) {
		return nil
	}
	_, err := s.exec(ctx, query, args...)
	return err
}

// rowLater is later for a query of one row, whose destinations are filled when
// flush, or anything else that asks the database, has returned.
func (s *session) rowLater(ctx context.Context, query string, args []any, dest ...any) (*row, error) {
	r := &row{dest: dest}
	if s.queue(statement{query: query, args: args, row: r}) {
		return r, nil
	}
	var err error
	r.found, err = s.row(ctx, query, args, dest...)
	return r, err
}

// rowsLater is rowLater for a query of any number of rows, with each of which in the
// destinations the function is called. The result is incomplete until row.ended is set: a
// batch may take effect, and its response be lost.
func (s *session) rowsLater(ctx context.Context, query string, args []any, each func(), dest ...any) (*row, error) {
	r := &row{dest: dest, each: each}
	if s.queue(statement{query: query, args: args, row: r}) {
		return r, nil
	}
	err := s.rows(ctx, query, args, func(rows *sql.Rows) error {
		err := rows.Scan(dest...)
		if err == nil {
			each()
		}
		return err
	})
	r.ended = err == nil
	return r, err
}

// queue keeps the statement for later and tells whether it could.
func (s *session) queue(st statement) bool {
	can := s.failed == nil && s.canQueue && len(s.queued) < maxQueued
	if can {
		s.queued = append(s.queued, st)
	}
	return can
}

// send sends what is queued and the last statement.
func (s *session) send(ctx context.Context, last statement) (batchResult, error) {
	all := append(s.queued, last)
	s.queued, s.open = nil, true
	return s.db.dialect.batch(ctx, s.conn, all)
}

// flush sends what is queued.
func (s *session) flush(ctx context.Context) error {
	if s.failed != nil || len(s.queued) == 0 {
		return s.failed
	}
	bounded, cancel := s.db.withStatementTimeout(ctx)
	defer cancel()
	last := len(s.queued) - 1
	st := s.queued[last]
	s.queued = s.queued[:last]
	_, err := s.send(bounded, st)
	return s.fail(ctx, err)
}

// row scans the one row of a query and tells whether there was one.
func (s *session) row(ctx context.Context, query string, args []any, dest ...any) (bool, error) {
	if s.failed != nil {
		return false, s.failed
	}
	bounded, cancel := s.db.withStatementTimeout(ctx)
	defer cancel()
	if len(s.queued) > 0 {
		r := &row{dest: dest}
		_, err := s.send(bounded, statement{query: query, args: args, row: r})
		return r.found, s.fail(ctx, err)
	}
	err := s.conn.QueryRowContext(bounded, s.db.dialect.query(query), args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, s.fail(ctx, err)
}

// rows calls scan for every row of a query.
func (s *session) rows(ctx context.Context, query string, args []any, scan func(rows *sql.Rows) error) error {
	if err := s.flush(ctx); err != nil {
		return err
	}
	bounded, cancel := s.db.withStatementTimeout(ctx)
	defer cancel()
	rows, err := s.conn.QueryContext(bounded, s.db.dialect.query(query), args...)
	return s.fail(ctx, scanAll(rows, err, scan))
}

// scanAll reads the answer of a query to its end.
func scanAll(rows *sql.Rows, err error, scan func(rows *sql.Rows) error) error {
	if err != nil {
		return err
	}
	for rows.Next() {
		if err := scan(rows); err != nil {
			_ = rows.Close()
			return err
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

func (s *session) fail(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	s.failed = s.db.classify(ctx, err)
	return s.failed
}

// commit makes what the transaction did last. An error says whether it did; see
// uncertain. A caller who goes away does not interrupt it, which would only
// leave the outcome open, but the bounds hold.
func (s *session) commit(ctx context.Context) error {
	detached, cancel := s.db.withStatementTimeout(context.WithoutCancel(ctx))
	defer cancel()
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		detached, cancel = context.WithDeadline(detached, deadline)
		defer cancel()
	}
	var result batchResult
	var err error
	if len(s.queued) > 0 {
		result, err = s.send(detached, statement{query: "COMMIT"})
	} else {
		_, err = s.conn.ExecContext(detached, "COMMIT")
	}
	if err == nil {
		s.open = false
		s.notifyCommitted()
		return nil
	}
	if result.lastSkipped {
		return s.db.markRetryable(ctx, err)
	}
	s.drop() // whether it is still inside the transaction is not known
	if s.db.wasRolledBack(err) {
		return s.db.markRetryable(ctx, err)
	}
	return &uncertain{proof: s.proof, cause: err, committed: s.notifyCommitted}
}

// notifyCommitted calls committed.
func (s *session) notifyCommitted() {
	if s.committed != nil {
		s.committed()
	}
}

// rollbackTimeout bounds an attempt to keep a connection.
const rollbackTimeout = time.Second

// end rolls back what is not committed and gives the connection back.
func (s *session) end(ctx context.Context) {
	if s.conn == nil {
		return
	}
	if s.open {
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
		defer cancel()
		if _, err := s.conn.ExecContext(detached, "ROLLBACK"); err != nil {
			s.drop()
			return
		}
	}
	_ = s.conn.Close()
	s.conn = nil
}

// drop closes the connection, which ends its transaction, too.
func (s *session) drop() {
	_ = s.conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = s.conn.Close()
	s.conn = nil
}
