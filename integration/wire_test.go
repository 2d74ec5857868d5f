package integration

import (
	"strings"
	"sync"
)

// fault is what the wire does to one request of a client to the database.
type fault uint8

const (
	pass        fault = iota
	cutBefore         // the connection ends before the server has the request
	cutAfter          // it ends after the server has answered and before the client knows
	serialize         // COMMIT: rolled back and answered with 40001
	unreachable       // cutAfter, and no further connection comes about until mend
)

// request is what goes to the server before the client waits for its answer: one
// statement or several.
type request struct {
	stage  int      // of its transaction: 0 has BEGIN
	inside bool     // a transaction
	sql    []string // the statements
	text   []byte   // the messages
	commit int      // where COMMIT begins, -1 without
}

func (r request) isCommit() bool { return r.commit >= 0 }

// is tells whether the statement begins with the word.
func is(sql, word string) bool {
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(sql)), word)
}

// wire decides the fate of each request between clients and a database.
type wire struct {
	mu     sync.Mutex
	decide func(request) fault
	broken bool
}

// inflict sets who decides from now on; nil lets everything pass.
func (w *wire) inflict(decide func(request) fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.decide, w.broken = decide, false
}

// once returns what inflicts the fault on the first request that fits, and the
// channel that is closed when it has.
func once(f fault, fits func(request) bool) (decide func(request) fault, inflicted <-chan struct{}) {
	done := make(chan struct{})
	return func(r request) fault {
		select {
		case <-done:
			return pass
		default:
		}
		if !fits(r) {
			return pass
		}
		close(done)
		return f
	}, done
}

// fate asks for the fate of the request.
func (w *wire) fate(r request) fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken {
		return cutBefore
	}
	if w.decide == nil {
		return pass
	}
	f := w.decide(r)
	w.broken = w.broken || f == unreachable
	return f
}

func (w *wire) isBroken() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.broken
}
