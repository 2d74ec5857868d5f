package store

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/guidonhq/guidon"
)

// Limits of a group: its first writers wait until all of it is committed.
const (
	maxGroup     = 32
	maxGroupTime = 10 * time.Millisecond
)

// writer is a pending write.
type writer struct {
	ctx     context.Context
	fn      func(ctx context.Context, s *session) error
	ended   chan struct{} // closed once it has its outcome
	outcome outcome

	committed func() // called after the commit of its part
}

// outcome is the outcome of a write. The zero value means that it is committed.
type outcome struct {
	err        error
	panicked   any
	retryAlone bool // nothing of it is stored, and it must be run by itself
}

// writeTo is write for a transaction that begins by locking the row of the namespace. The
// writers of one process queue here, where waiting costs nothing. In a database on a server,
// each writer of a namespace would hold a connection meanwhile and, if the database is
// serializable, also have to run again after the one before. A file has a single connection
// for writing, so all of its writers queue for that, and share commits.
func (d *DB) writeTo(ctx context.Context, namespace string, fn func(ctx context.Context, s *session) error) error {
	w := &writer{ctx: ctx, fn: fn, ended: make(chan struct{})}
	if !d.dialect.shared {
		namespace = ""
	}
	q, err := d.turns.take(w, namespace, d.patience)
	switch {
	case err != nil:
		return err
	case q == nil: // the leader of a group has run it
	case d.dialect.shared:
		defer d.turns.end(q)
		return d.write(ctx, fn)
	default:
		d.lead(w, q)
	}
	switch o := w.outcome; {
	case o.panicked != nil:
		panic(o.panicked)
	case o.retryAlone:
		return d.write(ctx, fn)
	case errors.Is(o.err, errNothingStored):
		return nil
	default:
		return o.err
	}
}

// lead lets writers that would wait for each other share a commit. A commit waits for the
// disk and takes most of the time of a small write. So w, the leader, begins a transaction,
// runs its own write and then those of the waiting writers, and commits them together.
// Writers that arrive too late form the next group. No write is acknowledged before its
// commit, and a write that fails undoes only its own changes.
func (d *DB) lead(w *writer, q *turnQueue) {
	t := &groupTransaction{db: d, queue: q, leader: w, began: time.Now(), tips: map[string]guidon.Revision{}}
	defer t.finish() // also if fn calls runtime.Goexit
	for w != nil {
		part, err := t.begin(w)
		if part != nil {
			w.outcome = w.run(part)
		}
		if !t.settle(w, part, err) || !t.hasRoom() {
			break
		}
		w = q.next()
	}
	t.commit()
}

// groupTransaction is the transaction of one group.
type groupTransaction struct {
	db      *DB
	queue   *turnQueue
	leader  *writer
	began   time.Time
	session *session // nil as long as no part is stored in it
	members []*writer
	stored  []*writer                  // members whose parts are in the transaction
	tips    map[string]guidon.Revision // see session.tips
}

func (t *groupTransaction) hasRoom() bool {
	return len(t.members) < maxGroup && time.Since(t.began) < maxGroupTime
}

// begin returns the session for the part of w, or nil if w must not run. It returns an error
// if nothing can run in the transaction.
func (t *groupTransaction) begin(w *writer) (*session, error) {
	t.members = append(t.members, w)
	if w.outcome.err = w.ctx.Err(); w.outcome.err != nil {
		return nil, nil
	}
	w.outcome.retryAlone = true // until it has run
	if err := t.savepoint(w); err != nil {
		return nil, err
	}
	return &session{db: t.db, conn: t.session.conn, open: true, tips: maps.Clone(t.tips)}, nil
}

// settle keeps the part of w in the transaction or undoes it, depending on the outcome, and
// reports whether other writers may follow. The arguments are the results of begin.
func (t *groupTransaction) settle(w *writer, part *session, err error) bool {
	switch {
	case err != nil:
		w.outcome = t.failure(err)
		t.abandon()
		return false
	case part == nil:
		return true
	case part.failed != nil:
		if w.outcome.panicked == nil {
			w.outcome = t.failure(w.outcome.err)
		}
		t.abandon()
		return false
	case w.outcome.err != nil || w.outcome.panicked != nil:
		return t.rollback()
	}
	t.stored, t.tips, w.committed = append(t.stored, w), part.tips, part.notifyCommitted
	return true
}

// failure returns the outcome of a writer after a failed statement, which may have
// ended the transaction of the whole group. It is the error, unless the write may
// succeed by itself.
func (t *groupTransaction) failure(err error) outcome {
	if _, again := errors.AsType[*retryable](err); again || len(t.stored) > 0 {
		return outcome{retryAlone: true}
	}
	return outcome{err: err}
}

// run calls the function of w and recovers from its panic.
func (w *writer) run(s *session) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			o.panicked = p
		}
	}()
	return outcome{err: s.abortError(w.fn(w.ctx, s))}
}

// savepoint begins the transaction or, if it has parts, sets a savepoint.
func (t *groupTransaction) savepoint(w *writer) (err error) {
	if len(t.stored) > 0 {
		_, err = t.session.exec(context.WithoutCancel(w.ctx), "SAVEPOINT part")
		return err
	}
	t.session, err = t.db.begin(w.ctx, t.db.writer, t.db.dialect.beginWrite)
	return err
}

// rollback undoes the last part, and reports whether other writers may follow.
func (t *groupTransaction) rollback() bool {
	if len(t.stored) == 0 {
		t.end()
		return true
	}
	if _, err := t.session.exec(context.WithoutCancel(t.leader.ctx), "ROLLBACK TO part"); err != nil {
		t.abandon()
		return false
	}
	return true
}

// commit commits the transaction. If that fails, several parts are run by themselves,
// and a single one gets the error unless it may succeed by itself.
func (t *groupTransaction) commit() {
	if len(t.stored) == 0 {
		return
	}
	err := t.session.commit(context.WithoutCancel(t.leader.ctx))
	if err != nil { // on a database that is not shared, nothing is committed then
		last := len(t.stored) - 1
		w := t.stored[last]
		t.stored = t.stored[:last]
		w.outcome = t.failure(err)
		t.abandon()
	}
	for _, w := range t.stored { // before finish lets the next group begin
		w.committed()
	}
	t.stored = nil
}

// abandon rolls back the transaction. The parts stored in it are run by themselves.
func (t *groupTransaction) abandon() {
	for _, w := range t.stored {
		w.outcome.retryAlone = true
	}
	t.stored = nil
	t.end()
}

func (t *groupTransaction) end() {
	if t.session != nil {
		t.session.end(t.leader.ctx)
		t.session = nil
	}
}

// finish lets the next group begin and wakes the other members of this one.
func (t *groupTransaction) finish() {
	t.abandon()
	t.db.turns.end(t.queue)
	for _, w := range t.members {
		close(w.ended)
	}
}
