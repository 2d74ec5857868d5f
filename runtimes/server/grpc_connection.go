package server

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// writeStall is how long a write to a client may block.
const writeStall = 10 * time.Second

// grpcConns is the set of open gRPC connections. It limits their number and closes those
// whose clients do not read.
type grpcConns struct {
	limit           int
	responseTimeout time.Duration // for a response to be sent

	mu    sync.Mutex
	open  map[*grpcConn]struct{}
	timer *time.Timer // runs while there are connections; nil before the first
}

func newGRPCConns(limit int, responseTimeout time.Duration) *grpcConns {
	return &grpcConns{limit: limit, responseTimeout: responseTimeout, open: map[*grpcConn]struct{}{}}
}

// admit adds the connection to the open ones and returns it wrapped, or nil if there are
// too many.
func (l *grpcConns) admit(accepted *net.TCPConn, listener *grpcListener) *grpcConn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= l.limit {
		return nil
	}
	c := &grpcConn{TCPConn: accepted, listener: listener, responses: map[*pendingResponse]struct{}{}}
	c.addr = grpcAddr{Addr: accepted.RemoteAddr(), conn: c}
	l.open[c] = struct{}{}
	switch {
	case l.timer == nil:
		l.timer = time.AfterFunc(time.Second, l.sweep)
	case len(l.open) == 1:
		l.timer.Reset(time.Second)
	}
	return c
}

// sweep closes the connections whose clients do not read.
func (l *grpcConns) sweep() {
	for _, c := range l.stalled(time.Now()) {
		_ = c.Close()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) > 0 {
		l.timer.Reset(time.Second)
	}
}

func (l *grpcConns) stalled(now time.Time) (stalled []*grpcConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		if c.stalled(now) {
			stalled = append(stalled, c)
		}
	}
	return stalled
}

func (l *grpcConns) forget(c *grpcConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
}

// grpcConn is a connection that keeps track of the responses its client has not read.
type grpcConn struct {
	*net.TCPConn
	listener *grpcListener
	addr     grpcAddr
	writing  atomic.Int64 // start of the Write in progress in Unix nanoseconds; 0 if there is none

	mu        sync.Mutex
	closed    bool
	responses map[*pendingResponse]struct{}
}

// grpcAddr is the address of the client with its connection. The address is all that
// grpc-go gives a call of the connection.
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

// SetDeadline implements [net.Conn].
func (c *grpcConn) SetDeadline(t time.Time) error {
	c.listener.recordHandshake(c, !t.IsZero())
	return c.TCPConn.SetDeadline(t)
}

// Close implements [net.Conn]. It also releases the queued responses, because grpc-go
// drops them without returning their buffers.
func (c *grpcConn) Close() error {
	c.listener.recordHandshake(c, false)
	c.listener.conns.forget(c)
	for _, p := range c.end() {
		p.release()
	}
	return c.TCPConn.Close()
}

// end marks the connection as closed and returns the pending responses.
func (c *grpcConn) end() (left []*pendingResponse) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for p := range c.responses {
		left = append(left, p)
	}
	c.responses = nil
	return left
}

// queue adds a pending response. It reports false if the connection is closed.
func (c *grpcConn) queue(p *pendingResponse) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.responses[p] = struct{}{}
	}
	return !c.closed
}

// remove removes a pending response and reports whether there was one.
func (c *grpcConn) remove(p *pendingResponse) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.responses[p]
	delete(c.responses, p)
	return ok
}

// stalled reports whether a write to the client has blocked for too long, or a response
// has not been sent in time.
func (c *grpcConn) stalled(now time.Time) bool {
	if writing := c.writing.Load(); writing != 0 && now.Sub(time.Unix(0, writing)) > writeStall {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for p := range c.responses {
		if now.Sub(p.since) > c.listener.conns.responseTimeout {
			return true
		}
	}
	return false
}
