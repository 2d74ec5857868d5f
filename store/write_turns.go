package store

import (
	"context"
	"sync"
	"time"
)

// turns gives callers exclusive access to a key, in order of arrival. It stores only
// keys that are held or waited for.
type turns struct {
	mu     sync.Mutex
	queues map[string]*turnQueue
}

type turnQueue struct {
	turn  chan struct{} // full while a caller has the turn
	users int           // the callers that have the turn or wait for it
}

// take waits for the turn of the key. It returns the error of the context if that
// ends first, and Unavailable after patience.
func (t *turns) take(ctx context.Context, key string, patience time.Duration) (release func(), err error) {
	q := t.join(key)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case q.turn <- struct{}{}:
		return func() { <-q.turn; t.leave(key, q) }, nil
	case <-ctx.Done():
		t.leave(key, q)
		return nil, ctx.Err()
	case <-timer.C:
		t.leave(key, q)
		return nil, unavailable(messageBusy, nil)
	}
}

func (t *turns) join(key string) *turnQueue {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queues[key]
	if q == nil {
		q = &turnQueue{turn: make(chan struct{}, 1)}
		if t.queues == nil {
			t.queues = map[string]*turnQueue{}
		}
		t.queues[key] = q
	}
	q.users++
	return q
}

func (t *turns) leave(key string, q *turnQueue) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if q.users--; q.users == 0 {
		delete(t.queues, key)
	}
}

// writeInTurn is write for a database with many connections. The writers of one process queue
// for a namespace here, where waiting costs nothing. In the database, each would hold a
// connection. If the database is serializable, each would also have to run again after the one
// before.
func (d *DB) writeInTurn(ctx context.Context, namespace string, fn func(ctx context.Context, s *session) error) error {
	release, err := d.turns.take(ctx, namespace, d.patience)
	if err != nil {
		return err
	}
	defer release()
	return d.write(ctx, fn)
}
