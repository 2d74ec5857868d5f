package server

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/guidonhq/guidon/handler/limit"
	"github.com/guidonhq/guidon/runtimes/server/tcp"
)

// The limits of the time between two sweeps.
const (
	minPeriod = time.Millisecond
	maxPeriod = time.Second
)

// httpListener is a listener that returns connections of type [httpConn].
type httpListener struct {
	*tcp.Listener
	writeTimeout time.Duration
	limit        int         // of connections
	secure       bool        // connections use TLS
	bodies       *limit.Pool // large headers count as bodies
	group        *tcp.Group
	stop         httpStop

	mu     sync.Mutex
	period time.Duration // between sweeps
	conns  map[*httpConn]struct{}
	timer  *time.Timer // runs while there are connections; nil before the first
}

// newHTTPListener returns a listener that sweeps twenty times per shortest timeout,
// within the limits above.
func newHTTPListener(listener *tcp.Listener, config Config) *httpListener {
	timeouts := config.HTTP
	shortest := min(timeouts.ReadTimeout, timeouts.WriteTimeout, timeouts.IdleTimeout)
	return &httpListener{
		Listener:     listener,
		writeTimeout: timeouts.WriteTimeout,
		limit:        timeouts.MaxConnections,
		secure:       config.TLS != nil,
		bodies:       config.Handler.Budget().Bodies,
		period:       min(max(shortest/20, minPeriod), maxPeriod),
		group:        tcp.NewGroup(),
		conns:        map[*httpConn]struct{}{},
	}
}

// Accept implements [net.Listener].
func (l *httpListener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.AcceptTCP()
		if err != nil {
			return nil, err
		}
		if c := l.admit(accepted); c != nil {
			return c, nil
		}
		l.reject(accepted)
	}
}

// admit adds the connection to the open ones and returns it wrapped, or nil if there is
// no room for it.
func (l *httpListener) admit(accepted *net.TCPConn) *httpConn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.makeRoom() {
		return nil
	}
	c := &httpConn{listener: l}
	c.Init(accepted, l.group)
	c.header.memory, c.header.secure = l.bodies.NewReservation(), l.secure
	c.quietSince = l.group.Now()
	c.idleSince.Store(c.quietSince)
	l.conns[c] = struct{}{}
	l.group.SetSize(len(l.conns))
	switch {
	case l.timer == nil:
		l.timer = time.AfterFunc(l.period, l.sweep)
	case len(l.conns) == 1:
		l.timer.Reset(l.period)
	}
	return c
}

// sweep interrupts reads and writes whose deadline has passed. During a stop it also
// closes idle connections.
func (l *httpListener) sweep() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.group.BeginSweep()
	for c := range l.conns {
		c.Sweep(now)
		if l.stop.started.Load() {
			l.stop.closeIfIdle(c, now)
		}
	}
	if len(l.conns) > 0 {
		l.timer.Reset(l.period)
	}
}

func (l *httpListener) forget(c *httpConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
	l.group.SetSize(len(l.conns))
	l.stop.signalIfEmpty(len(l.conns))
}

// httpConn is an HTTP connection. It keeps track of whether its client waits for a
// response: see [httpActivity].
type httpConn struct {
	tcp.Conn
	listener *httpListener

	idleSince atomic.Int64 // approximate end of the last request, by the group's clock
	header    headerMeter
	httpActivity
}

// Read implements [net.Conn].
func (c *httpConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil && c.ending.Load() {
		n, err = c.readOnceMore(b)
	}
	if n > 0 {
		c.received()
		if c.ending.Load() {
			c.keepOpen()
		}
	}
	if len(b) > 1 && !c.header.paused.Load() {
		if rejected := c.header.count(b[:n]); rejected != nil {
			return 0, c.rejectHeader(rejected)
		}
	}
	return n, err
}

// rejectHeader returns the reason, for net/http. If there was no memory for the header,
// it sends 503 first, except over TLS.
func (c *httpConn) rejectHeader(reason error) error {
	if reason == io.EOF && !c.listener.secure {
		_, _ = io.WriteString(c.TCPConn, busy) // it fails if the client has disconnected
	}
	return reason
}

// Write implements [net.Conn].
func (c *httpConn) Write(b []byte) (int, error) {
	if c.beginWrite() {
		if err := c.Conn.SetWriteDeadline(time.Now().Add(c.listener.writeTimeout)); err != nil {
			return 0, err
		}
	}
	return c.TCPConn.Write(b)
}

// SetWriteDeadline implements [net.Conn].
func (c *httpConn) SetWriteDeadline(t time.Time) error {
	c.writesLeft.Store(0)
	return c.Conn.SetWriteDeadline(t)
}

// SetDeadline implements [net.Conn].
func (c *httpConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// Close implements [net.Conn].
func (c *httpConn) Close() error {
	if c.listener.stop.lingers() {
		c.linger()
	}
	err := c.TCPConn.Close()
	c.listener.forget(c)
	return err
}
