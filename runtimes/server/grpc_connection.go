package server

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// writeStall is how long a client may take nothing of what is written to it.
const writeStall = 10 * time.Second

// grpcListener is a listener whose connections are limited in number, and are closed
// if their clients do not read.
type grpcListener struct {
	*net.TCPListener
	limit       int
	takeTimeout time.Duration // for a client to take a response

	mu       sync.Mutex
	conns    map[*grpcConn]struct{}
	timer    *time.Timer // runs while there are connections; nil before the first
	rejected atomic.Uint64
}

func newGRPCListener(listener *net.TCPListener, limit int, takeTimeout time.Duration) *grpcListener {
	return &grpcListener{TCPListener: listener, limit: limit, takeTimeout: takeTimeout, conns: map[*grpcConn]struct{}{}}
}

// Accept implements [net.Listener]. It closes the connections beyond the limit.
func (l *grpcListener) Accept() (net.Conn, error) {
	for {
		tcp, err := l.AcceptTCP()
		if err != nil {
			return nil, err
		}
		if c := l.admit(tcp); c != nil {
			return c, nil
		}
		l.rejected.Add(1)
		_ = tcp.Close()
	}
}

// admit returns the connection, or nil if there are too many.
func (l *grpcListener) admit(tcp *net.TCPConn) *grpcConn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.conns) >= l.limit {
		return nil
	}
	c := &grpcConn{TCPConn: tcp, listener: l, responses: map[*pending]struct{}{}}
	c.addr = grpcAddr{Addr: tcp.RemoteAddr(), conn: c}
	l.conns[c] = struct{}{}
	switch {
	case l.timer == nil:
		l.timer = time.AfterFunc(time.Second, l.sweep)
	case len(l.conns) == 1:
		l.timer.Reset(time.Second)
	}
	return c
}

// sweep closes the connections whose clients do not read.
func (l *grpcListener) sweep() {
	for _, c := range l.stalled(time.Now()) {
		_ = c.Close()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.conns) > 0 {
		l.timer.Reset(time.Second)
	}
}

func (l *grpcListener) stalled(now time.Time) (stalled []*grpcConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		if c.stalled(now) {
			stalled = append(stalled, c)
		}
	}
	return stalled
}

func (l *grpcListener) forget(c *grpcConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
}

// grpcConn is a connection that knows which responses its client has not taken.
type grpcConn struct {
	*net.TCPConn
	listener *grpcListener
	addr     grpcAddr
	writing  atomic.Int64 // when the Write that is under way began, in Unix nanoseconds; or 0

	mu        sync.Mutex
	closed    bool
	responses map[*pending]struct{}
}

// grpcAddr is the address of the client, by which a call finds its connection: grpc-go
// shows calls nothing else of it.
type grpcAddr struct {
	net.Addr
	conn *grpcConn
}

// RemoteAddr implements [net.Conn].
func (c *grpcConn) RemoteAddr() net.Addr { return &c.addr }

// Write implements [net.Conn].
func (c *grpcConn) Write(b []byte) (int, error) {
	c.writing.Store(time.Now().UnixNano())
	defer c.writing.Store(0)
	return c.TCPConn.Write(b)
}

// Close implements [net.Conn]. grpc-go drops what it had queued without giving it back.
func (c *grpcConn) Close() error {
	c.listener.forget(c)
	for _, p := range c.end() {
		p.release()
	}
	return c.TCPConn.Close()
}

// end marks the connection as closed and returns what was not taken.
func (c *grpcConn) end() (left []*pending) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for p := range c.responses {
		left = append(left, p)
	}
	c.responses = nil
	return left
}

// queue notes a response, and reports whether the connection still takes any.
func (c *grpcConn) queue(p *pending) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.responses[p] = struct{}{}
	}
	return !c.closed
}

// take removes a response, and reports whether it was there.
func (c *grpcConn) take(p *pending) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.responses[p]
	delete(c.responses, p)
	return ok
}

// stalled reports whether the client takes nothing of what is written, or has not taken
// a response in time.
func (c *grpcConn) stalled(now time.Time) bool {
	if writing := c.writing.Load(); writing != 0 && now.Sub(time.Unix(0, writing)) > writeStall {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for p := range c.responses {
		if now.Sub(p.since) > c.listener.takeTimeout {
			return true
		}
	}
	return false
}
