package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"

	"github.com/guidonhq/guidon"
)

// session runs the statements of one transaction. The first failed statement ends it:
// some databases then roll back by themselves, and later statements would be
// committed one by one.
//
// It sends BEGIN and COMMIT itself. Those of database/sql do not end with the context
// in every driver, and a server that hangs must not block callers.
type session struct {
	db       *DB
	conn     *sql.Conn
	open     bool // a transaction is open
	canQueue bool // statements can wait to be sent together with others
	queued   []statement
	failed   error
	proof    *proof // identifies the state that a commit would store

	committed func()                     // called after the commit; may be nil
	tips      map[string]guidon.Revision // after the parts of the group so far, by key; nil outside a group
}

// onCommit registers committed, which is called after the commit. The key is then at
// the revision. known says whether a copy can be advanced to that revision, and so
// from there by later parts of the group.
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

// statement is a statement that is sent together with others.
type statement struct {
	query string
	args  []any
	row   *row // of a query; nil for other statements
	count bool // the number of changed rows is needed
}

// row receives the rows of a query.
type row struct {
	dest  []any
	each  func() // called for each row, which is in dest; if nil, only the first is read
	found bool
	ended bool // the result has been read, to its end unless each is nil
}

// cursor is a result that is read row by row.
type cursor interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
}

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

// maxQueued limits the queued statements.
const maxQueued = 8

// begin takes a connection from the pool and begins a transaction on it. If
// statements can be queued, so is the one that begins the transaction.
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
		if d.dialect.prepare != "" {
			s.queued = append(s.queued, statement{query: d.dialect.prepare, args: []any{d.abandonment}})
		}
		return s, nil
	}
	if _, err := s.exec(ctx, query); err != nil {
		s.drop()
		return nil, d.markRetryable(ctx, err)
	}
	return s, nil
}

// connection waits for a connection, at most for d.patience.
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

// silence is for how long a server may not respond until its idle connections are no longer
// trusted either. A caller that is in more of a hurry says nothing about the server.
const silence = 2 * time.Second

// withStatementTimeout returns the context for one statement. The function must be called
// when the statement has ended.
func (d *DB) withStatementTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if d.statementTimeout <= 0 {
		return ctx, func() {}
	}
	began := time.Now()
	bounded, cancel := context.WithTimeout(ctx, d.statementTimeout)
	return bounded, func() {
		if d.dialect.shared && bounded.Err() == context.DeadlineExceeded && time.Since(began) >= min(silence, d.statementTimeout) {
			d.closeIdle()
		}
		cancel()
	}
}

// closeIdle closes the idle connections. After a failover, or if a firewall has forgotten them,
// a server may never respond on any of them, and each would cost a caller the timeout.
func (d *DB) closeIdle() {
	for _, pool := range []*sql.DB{d.reader, d.writer} {
		pool.SetMaxIdleConns(0)
		pool.SetMaxIdleConns(d.maxIdle)
	}
}

// traced begins to trace the statements, see [Options.Trace]. The returned function must be
// called when they have ended.
func (d *DB) traced(ctx context.Context, queued []statement, last string) func(*error) {
	if d.trace == nil {
		return ignoreError
	}
	ended := d.trace(ctx, d.dialect.name)
	if ended == nil {
		return ignoreError
	}
	text := ""
	for _, st := range queued {
		text += st.query + "; "
	}
	return func(err *error) { ended(text+last, *err) }
}

func ignoreError(*error) {}

// exec runs a statement and returns the number of rows that it changed.
func (s *session) exec(ctx context.Context, query string, args ...any) (int64, error) {
	result, err := s.run(ctx, statement{query: query, args: args, count: true})
	return result.changed, err
}

// row scans the only row of a query and reports whether there was one.
func (s *session) row(ctx context.Context, query string, args []any, dest ...any) (bool, error) {
	r := &row{dest: dest}
	_, err := s.run(ctx, statement{query: query, args: args, row: r})
	return r.found, err
}

// later runs a statement whose result is not needed, together with the next one if
// the database supports it: over a network, the cost of a write is the number of
// round trips.
func (s *session) later(ctx context.Context, query string, args ...any) error {
	return s.queue(ctx, statement{query: query, args: args})
}

// rowLater is later for a query of one row. Its destinations are filled when flush,
// or any other call that sends a statement, has returned.
func (s *session) rowLater(ctx context.Context, query string, args []any, dest ...any) (*row, error) {
	return s.rowsLater(ctx, query, args, nil, dest...)
}

// rowsLater is rowLater for a query of any number of rows. It calls each for every
// row, which is then in the destinations. The result is incomplete until row.ended is
// set: a batch may take effect although its response is lost.
func (s *session) rowsLater(ctx context.Context, query string, args []any, each func(), dest ...any) (*row, error) {
	r := &row{dest: dest, each: each}
	return r, s.queue(ctx, statement{query: query, args: args, row: r})
}

// queue queues the statement if it can, or else runs it.
func (s *session) queue(ctx context.Context, st statement) error {
	if s.failed == nil && s.canQueue && len(s.queued) < maxQueued {
		s.queued = append(s.queued, st)
		return nil
	}
	_, err := s.run(ctx, st)
	return err
}

// run sends the queued statements and the last one.
func (s *session) run(ctx context.Context, last statement) (result batchResult, err error) {
	if s.failed != nil {
		return result, s.failed
	}
	defer s.db.traced(ctx, s.queued, last.query)(&err)
	bounded, cancel := s.db.withStatementTimeout(ctx)
	defer cancel()
	result, err = s.send(bounded, last)
	return result, s.fail(ctx, err)
}

// send is run without the timeout, the trace and the effect of an error.
func (s *session) send(ctx context.Context, last statement) (result batchResult, err error) {
	queued := s.queued
	s.queued, s.open = nil, true
	if len(queued) > 0 {
		return s.db.dialect.batch(ctx, s.conn, append(queued, last))
	}
	last.query = s.db.dialect.query(last.query)
	result.changed, err = last.run(ctx, s.conn)
	return result, err
}

// run runs the statement by itself. It returns the number of rows that it changed.
func (st *statement) run(ctx context.Context, conn *sql.Conn) (int64, error) {
	if st.row == nil {
		done, err := conn.ExecContext(ctx, st.query, st.args...)
		if err != nil {
			return 0, err
		}
		return done.RowsAffected()
	}
	rows, err := conn.QueryContext(ctx, st.query, st.args...)
	if err != nil {
		return 0, err
	}
	err = st.row.read(rows)
	return 0, errors.Join(err, rows.Close())
}

// flush sends the queued statements.
func (s *session) flush(ctx context.Context) error {
	last := len(s.queued) - 1
	if s.failed != nil || last < 0 {
		return s.failed
	}
	st := s.queued[last]
	s.queued = s.queued[:last]
	_, err := s.run(ctx, st)
	return err
}

// rows calls scan for every row of a query.
func (s *session) rows(ctx context.Context, query string, args []any, scan func(rows *sql.Rows) error) (err error) {
	if err := s.flush(ctx); err != nil {
		return err
	}
	defer s.db.traced(ctx, nil, query)(&err)
	bounded, cancel := s.db.withStatementTimeout(ctx)
	defer cancel()
	rows, err := s.conn.QueryContext(bounded, s.db.dialect.query(query), args...)
	return s.fail(ctx, scanAll(rows, err, scan))
}

// collect returns the values of all rows of a query.
func collect[T any](
	ctx context.Context, s *session, query string, args []any, scan func(rows *sql.Rows) (T, error),
) ([]T, error) {
	var all []T
	err := s.rows(ctx, query, args, func(rows *sql.Rows) error {
		value, err := scan(rows)
		all = append(all, value)
		return err
	})
	return all, err
}

// scanText scans a row of one text.
func scanText(rows *sql.Rows) (text string, err error) {
	err = rows.Scan(&text)
	return text, err
}

// scanAll calls scan for every row and closes rows. err is the error of the query
// that returned them.
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

// commit commits the transaction. The error is an *uncertain if the outcome is
// unknown. Cancellation of ctx does not interrupt it, because the outcome would then
// be unknown. The deadline of ctx and the statement timeout still apply.
func (s *session) commit(ctx context.Context) (err error) {
	defer s.db.traced(ctx, s.queued, "COMMIT")(&err)
	detached, cancel := s.db.withStatementTimeout(context.WithoutCancel(ctx))
	defer cancel()
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		detached, cancel = context.WithDeadline(detached, deadline)
		defer cancel()
	}
	result, err := s.send(detached, statement{query: "COMMIT"})
	if err == nil {
		s.open = false
		s.notifyCommitted()
		return nil
	}
	if result.lastSkipped {
		return s.db.markRetryable(ctx, err)
	}
	s.drop() // it may still be inside the transaction
	if s.db.wasRolledBack(err) {
		return s.db.markRetryable(ctx, err)
	}
	return &uncertain{proof: s.proof, cause: err, committed: s.notifyCommitted}
}

func (s *session) notifyCommitted() {
	if s.committed != nil {
		s.committed()
	}
}

// rollbackTimeout limits a ROLLBACK, which only serves to keep the connection.
const rollbackTimeout = time.Second

// end rolls back a transaction that is open and returns the connection to its pool.
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

// drop closes the connection, which also ends its transaction.
func (s *session) drop() {
	_ = s.conn.Raw(func(any) error { return driver.ErrBadConn })
	_ = s.conn.Close()
	s.conn = nil
}
