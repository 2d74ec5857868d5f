package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/guidonhq/guidon"
)

// Bounds of a group: those who came first wait for all of it.
const (
	maxGroup     = 32
	maxGroupTime = 10 * time.Millisecond
)

// groupCommit lets writers that would wait for each other share a commit, on a
// database with one connection that writes: a commit waits for the disk, and is
// most of what a small write takes. Whoever finds nobody writing leads: it begins
// a transaction, runs what others want to write in it after what it came for
// itself, and commits all of it at once. Those who come too late are the next
// group. No write is acknowledged before its commit, and one that fails takes
// back its own changes only.
type groupCommit struct {
	mu        sync.Mutex
	hasLeader bool      // somebody leads
	waiting   []*writer // in order of arrival
}

// writer is one who wants to write.
type writer struct {
	ctx      context.Context
	fn       func(ctx context.Context, s *session) error
	ready    chan struct{} // closed when it leads or has its outcome
	isLeader bool
	outcome  outcome

	committed func() // called after the commit of its part
}

// outcome is what became of a write: with no field set it is committed.
type outcome struct {
	err        error
	panicked   any
	retryAlone bool // nothing of it is stored, and it is to be run by itself
}

// writeGrouped is write for a database whose writers share commits.
func (d *DB) writeGrouped(ctx context.Context, fn func(ctx context.Context, s *session) error) error {
	w := &writer{ctx: ctx, fn: fn, ready: make(chan struct{})}
	if err := d.groups.enter(w, d.patience); err != nil {
		return err
	}
	if w.isLeader {
		d.lead(w)
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

// enter returns when the writer leads or has its outcome, or with an error when
// its context has ended before, or patience.
func (g *groupCommit) enter(w *writer, patience time.Duration) error {
	if g.join(w) {
		return nil
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	var err error
	select {
	case <-w.ready:
		return nil
	case <-w.ctx.Done():
		err = w.ctx.Err()
	case <-timer.C:
		err = unavailable(messageBusy, nil)
	}
	if g.withdraw(w) {
		return err
	}
	<-w.ready
	return nil
}

// join tells whether the writer leads; otherwise it waits from now on.
func (g *groupCommit) join(w *writer) (isLeader bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.hasLeader {
		g.hasLeader, w.isLeader = true, true
		return true
	}
	g.waiting = append(g.waiting, w)
	return false
}

// withdraw tells whether the writer was still waiting.
func (g *groupCommit) withdraw(w *writer) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.waiting, w)
	if i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
	return i >= 0
}

// next takes the one who has waited longest, or nil.
func (g *groupCommit) next() *writer {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.first()
}

// first is next while g.mu is held.
func (g *groupCommit) first() *writer {
	if len(g.waiting) == 0 {
		return nil
	}
	w := g.waiting[0]
	g.waiting = slices.Delete(g.waiting, 0, 1)
	return w
}

// handOff lets the one who has waited longest lead the next group.
func (g *groupCommit) handOff() {
	g.mu.Lock()
	defer g.mu.Unlock()
	w := g.first()
	if g.hasLeader = w != nil; g.hasLeader {
		w.isLeader = true
		close(w.ready)
	}
}

// lead writes for a group, and tells each of the others its outcome.
func (d *DB) lead(w *writer) {
	t := &groupTransaction{db: d, leader: w, began: time.Now(), tips: map[string]guidon.Revision{}}
	defer t.finish() // also when a function ends the goroutine
	for w != nil && t.add(w) && t.hasRoom() {
		w = d.groups.next()
	}
	t.commit()
}

// groupTransaction is what a group writes.
type groupTransaction struct {
	db      *DB
	leader  *writer
	began   time.Time
	session *session // nil while nothing is stored in it
	members []*writer
	stored  []*writer // whose part is in the transaction
	tips    map[string]guidon.Revision
}

func (t *groupTransaction) hasRoom() bool {
	return len(t.members) < maxGroup && time.Since(t.began) < maxGroupTime
}

// add runs the writer in the transaction, and tells whether others may follow.
func (t *groupTransaction) add(w *writer) bool {
	t.members = append(t.members, w)
	if w.outcome.err = w.ctx.Err(); w.outcome.err != nil {
		return true
	}
	w.outcome.retryAlone = true // until it has run
	if err := t.savepoint(w); err != nil {
		w.outcome = t.failure(err)
		t.abandon()
		return false
	}
	part := &session{db: t.db, conn: t.session.conn, open: true, tips: maps.Clone(t.tips)}
	w.outcome = w.run(part)
	switch {
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

// failure returns what a failed statement, of which some end the transaction for
// all who are in it, means for the writer: the answer, unless it might succeed by
// itself.
func (t *groupTransaction) failure(err error) outcome {
	if _, again := errors.AsType[*retryable](err); again || len(t.stored) > 0 {
		return outcome{retryAlone: true}
	}
	return outcome{err: err}
}

// run calls the function of the writer.
func (w *writer) run(s *session) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			o.panicked = p
		}
	}()
	return outcome{err: s.abortError(w.fn(w.ctx, s))}
}

// savepoint makes a place to return to before the writer's part.
func (t *groupTransaction) savepoint(w *writer) (err error) {
	if len(t.stored) > 0 {
		_, err = t.session.exec(context.WithoutCancel(w.ctx), "SAVEPOINT part")
		return err
	}
	t.session, err = t.db.begin(w.ctx, t.db.writer, t.db.dialect.beginWrite)
	return err
}

// rollback undoes the last part.
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

// commit makes what is in the transaction last.
func (t *groupTransaction) commit() {
	if len(t.stored) == 0 {
		return
	}
	err := t.session.commit(context.WithoutCancel(t.leader.ctx))
	if err != nil { // on such a database nothing is committed then
		last := len(t.stored) - 1
		w := t.stored[last]
		t.stored = t.stored[:last]
		w.outcome = t.failure(err)
		t.abandon()
	}
	for _, w := range t.stored { // before those of the next group, for which finish makes room
		w.committed()
	}
	t.stored = nil
}

// abandon gives up the transaction: everything in it is to be run by itself.
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

// finish makes room for the next group, and calls the members of this one.
func (t *groupTransaction) finish() {
	t.abandon()
	t.db.groups.handOff()
	for _, w := range t.members {
		if w != t.leader {
			close(w.ready)
		}
	}
}
