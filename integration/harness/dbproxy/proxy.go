// Package dbproxy puts a proxy between a program and its database, with which a test
// inflicts faults on their connections.
package dbproxy

import (
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Fault is what a proxy does to a request of a client to the database.
type Fault uint8

const (
	Pass        Fault = iota
	CutBefore         // cut the connection before the server has the request
	CutAfter          // cut it after the server's response, before the client has it
	Serialize         // roll back a COMMIT and respond with 40001
	Unreachable       // cutAfter, and accept no further connections until inflict
)

// Request is one or several statements that a client sends before it waits for the
// response.
type Request struct {
	Stage      int  // index in its transaction; 0 has BEGIN
	Inside     bool // in a transaction
	Statements []string
	text       []byte // the encoded messages
	commit     int    // position of COMMIT, or -1
}

func (r Request) IsCommit() bool { return r.commit >= 0 }

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
	decide func(Request) Fault
	broken bool
}

// New starts a proxy in front of the server of the URL, which does not use TLS, and
// returns it with the URL of the database through the proxy.
func New(t testing.TB, database string) (*Proxy, string) {
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
	go Accept(l, serve)
	return l.Addr().String()
}

// Accept serves each connection until the listener is closed.
func Accept(l net.Listener, serve func(net.Conn)) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go serve(c)
	}
}

// Retries returns the number of responses of PostgreSQL with 40001.
func (w *Proxy) Retries() int64 { return w.retryCount.Load() }

// Rows returns the number of rows in the responses of PostgreSQL.
func (w *Proxy) Rows() int64 { return w.rowCount.Load() }

// Inflict sets the function that decides about further requests. If it is nil, they pass.
func (w *Proxy) Inflict(decide func(Request) Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.decide, w.broken = decide, false
}

// Once returns a function for inflict that applies the fault to the first request for which
// fits returns true, and a channel that is closed then.
func Once(f Fault, fits func(Request) bool) (decide func(Request) Fault, inflicted <-chan struct{}) {
	done := make(chan struct{})
	return func(r Request) Fault {
		select {
		case <-done:
			return Pass
		default:
		}
		if !fits(r) {
			return Pass
		}
		close(done)
		return f
	}, done
}

// fate returns the fault of the request.
func (w *Proxy) fate(r Request) Fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken {
		return CutBefore
	}
	if w.decide == nil {
		return Pass
	}
	f := w.decide(r)
	w.broken = w.broken || f == Unreachable
	return f
}

func (w *Proxy) isBroken() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.broken
}
