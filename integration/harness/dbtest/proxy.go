package dbtest

import (
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Fault is the way in which a proxy disturbs a request of a client to the database.
type Fault uint8

// The faults.
const (
	Pass        Fault = iota // none
	CutBefore                // cut the connection before the server has the request
	CutAfter                 // cut it after the server's response, before the client has it
	Serialize                // roll back a COMMIT and respond with 40001
	Unreachable              // CutAfter, and accept no further connections until Inflict
	Silent                   // pass nothing more after the request until the test ends, and close neither side
)

// Request is one or several statements that a client sends before it waits for the
// response.
type Request struct {
	Connection int64    // its number; see [Proxy.Connections]
	Stage      int      // index in its transaction; 0 has BEGIN
	Inside     bool     // in a transaction
	Statements []string // SQL
	text       []byte   // the encoded messages
	commit     int      // position of COMMIT, or -1
}

// IsCommit reports whether a COMMIT is among the statements.
func (r Request) IsCommit() bool { return r.commit >= 0 }

// is reports whether the statement starts with the word.
func is(sql, word string) bool {
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(sql)), word)
}

// Proxy is a proxy in front of PostgreSQL, MySQL or MariaDB. It speaks the server's
// protocol on both sides, one request at a time, and applies a fault to each request.
type Proxy struct {
	upstream   string
	ended      <-chan struct{} // closed when the test ends
	opened     atomic.Int64
	retryCount atomic.Int64
	rowCount   atomic.Int64

	mu     sync.Mutex
	decide func(Request) Fault
	broken bool
}

// NewProxy starts a proxy in front of the server of the URL, which must not use TLS. It returns
// the proxy, which inflicts no faults yet and ends with the test, and the URL of the
// database through it.
func NewProxy(t testing.TB, database string) (*Proxy, string) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{upstream: u.Host, ended: t.Context().Done()}
	session := p.postgresSession
	if u.Scheme == "mysql" {
		session = p.mysqlSession
	}
	u.Host = listen(t, func(client net.Conn) { p.serve(client, session) })
	return p, u.String()
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

// serve connects the client with the server for a session.
func (p *Proxy) serve(client net.Conn, session func(client, server net.Conn)) {
	defer client.Close()
	if p.isBroken() {
		return
	}
	server, err := net.Dial("tcp", p.upstream)
	if err != nil {
		return
	}
	defer server.Close()
	session(client, server)
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

// Connections returns how many connections clients have opened.
func (p *Proxy) Connections() int64 { return p.opened.Load() }

// Retries returns how often PostgreSQL has responded with 40001.
func (p *Proxy) Retries() int64 { return p.retryCount.Load() }

// Rows returns how many rows PostgreSQL has sent.
func (p *Proxy) Rows() int64 { return p.rowCount.Load() }

// Inflict sets the function that decides the faults of further requests. It is called for
// one request at a time. If it is nil, all requests pass.
func (p *Proxy) Inflict(decide func(Request) Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.decide, p.broken = decide, false
}

// Once returns a function for Inflict that applies the fault to the first request for which
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
func (p *Proxy) fate(r Request) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken {
		return CutBefore
	}
	if p.decide == nil {
		return Pass
	}
	f := p.decide(r)
	p.broken = p.broken || f == Unreachable
	return f
}

func (p *Proxy) isBroken() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.broken
}
