package integration

import (
	"strings"
	"sync"
)

// fault is what a proxy does to a request of a client to the database.
type fault uint8

const (
	pass        fault = iota
	cutBefore         // cut the connection before the server has the request
	cutAfter          // cut it after the server's response, before the client has it
	serialize         // roll back a COMMIT and respond with 40001
	unreachable       // cutAfter, and accept no further connections until inflict
)

// request is one or several statements that a client sends before it waits for the
// response.
type request struct {
	stage  int      // index in its transaction; 0 has BEGIN
	inside bool     // in a transaction
	sql    []string // the statements
	text   []byte   // the encoded messages
	commit int      // position of COMMIT, or -1
}

func (r request) isCommit() bool { return r.commit >= 0 }

// is reports whether the statement starts with the word.
func is(sql, word string) bool {
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(sql)), word)
}

// wire decides the fault of each request between clients and a database.
type wire struct {
	mu     sync.Mutex
	decide func(request) fault
	broken bool
}

// inflict sets the function that decides about further requests. If it is nil, they pass.
func (w *wire) inflict(decide func(request) fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.decide, w.broken = decide, false
}

// once returns a function for inflict that applies the fault to the first request for which
// fits returns true, and a channel that is closed then.
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

// fate returns the fault of the request.
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
