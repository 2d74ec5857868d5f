package integration

import (
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
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
	stage      int  // index in its transaction; 0 has BEGIN
	inside     bool // in a transaction
	statements []string
	text       []byte // the encoded messages
	commit     int    // position of COMMIT, or -1
}

func (r request) isCommit() bool { return r.commit >= 0 }

// is reports whether the statement starts with the word.
func is(sql, word string) bool {
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(sql)), word)
}

// Proxy is a proxy in front of a database server. It speaks the server's protocol on both
// sides, one request at a time. The test decides the fault of each request.
type Proxy struct {
	upstream   string
	retryCount atomic.Int64
	rowCount   atomic.Int64

	mu     sync.Mutex
	decide func(request) fault
	broken bool
}

// newWire starts a proxy in front of the server of the URL, which does not use TLS, and
// returns it with the URL of the database through the proxy.
func newWire(t testing.TB, database string) (*Proxy, string) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	w := &Proxy{upstream: u.Host}
	serve := w.servePostgres
	if u.Scheme == "mysql" {
		serve = w.serveMySQL
	}
	u.Host = listen(t, serve)
	return w, u.String()
}

// listen serves the connections to a free port until the test ends. It returns its address.
func listen(t testing.TB, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go accept(l, serve)
	return l.Addr().String()
}

// accept serves each connection until the listener is closed.
func accept(l net.Listener, serve func(net.Conn)) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go serve(c)
	}
}

// retries returns the number of responses of PostgreSQL with 40001.
func (w *Proxy) retries() int64 { return w.retryCount.Load() }

// rows returns the number of rows in the responses of PostgreSQL.
func (w *Proxy) rows() int64 { return w.rowCount.Load() }

// inflict sets the function that decides about further requests. If it is nil, they pass.
func (w *Proxy) inflict(decide func(request) fault) {
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
func (w *Proxy) fate(r request) fault {
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

func (w *Proxy) isBroken() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.broken
}
