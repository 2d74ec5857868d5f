package store

import (
	"context"
	"sync"
	"time"
)

// turns lets one at a time do something for a key, in order of arrival. It
// remembers only the keys that somebody holds or waits for.
type turns struct {
	mu    sync.Mutex
	lines map[string]*line
}

type line struct {
	turn   chan struct{} // holds one token while somebody has the turn
	people int           // who hold it or wait
}

// take waits for the turn of the key: until the context ends, or Unavailable
// after patience.
func (t *turns) take(ctx context.Context, key string, patience time.Duration) (release func(), err error) {
	l := t.join(key)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case l.turn <- struct{}{}:
		return func() { <-l.turn; t.leave(key, l) }, nil
	case <-ctx.Done():
		t.leave(key, l)
		return nil, ctx.Err()
	case <-timer.C:
		t.leave(key, l)
		return nil, unavailable(messageBusy, nil)
	}
}

func (t *turns) join(key string) *line {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lines[key]
	if l == nil {
		l = &line{turn: make(chan struct{}, 1)}
		if t.lines == nil {
			t.lines = map[string]*line{}
		}
		t.lines[key] = l
	}
	l.people++
	return l
}

func (t *turns) leave(key string, l *line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.people--; l.people == 0 {
		delete(t.lines, key)
	}
}
