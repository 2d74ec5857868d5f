package server

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A deadline of a connection of package net is a timer of the runtime. net/http
// moves or stops one eight times for each request, which is dearer than evaluating a
// flag; and hardly any deadline is ever reached. So the connections here only note
// their deadlines, and their listener looks now and then which have passed.

// The bounds of how often that is.
const (
	leastPeriod = time.Millisecond
	mostPeriod  = time.Second
)

// deadlineListener is a listener whose connections may end a Read or Write up to a
// period after its deadline, never before it.
type deadlineListener struct {
	*net.TCPListener
	period time.Duration
	epoch  time.Time
	now    atomic.Int64 // when it looked last, in nanoseconds after epoch

	mu    sync.Mutex
	conns map[*deadlineConn]struct{}
	timer *time.Timer // runs while there are connections; nil before the first
}

// newDeadlineListener returns a listener that looks twenty times in the shortest of
// the timeouts, within the bounds above.
func newDeadlineListener(listener *net.TCPListener, shortest time.Duration) *deadlineListener {
	return &deadlineListener{
		TCPListener: listener,
		period:      min(max(shortest/20, leastPeriod), mostPeriod),
		epoch:       time.Now(),
		conns:       map[*deadlineConn]struct{}{},
	}
}

// Accept implements [net.Listener].
func (l *deadlineListener) Accept() (net.Conn, error) {
	tcp, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	c := &deadlineConn{TCPConn: tcp, listener: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[c] = struct{}{}
	switch {
	case l.timer == nil:
		l.timer = time.AfterFunc(l.period, l.look)
	case len(l.conns) == 1:
		l.timer.Reset(l.period)
	}
	return c, nil
}

// look interrupts what has taken too long.
func (l *deadlineListener) look() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := int64(time.Since(l.epoch))
	l.now.Store(now)
	for c := range l.conns {
		c.read.look(now, c.TCPConn.SetReadDeadline)
		c.write.look(now, c.TCPConn.SetWriteDeadline)
	}
	if len(l.conns) > 0 {
		l.timer.Reset(l.period)
	}
}

func (l *deadlineListener) forget(c *deadlineConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
}

// deadlineConn is a connection of a deadlineListener. It has all methods of a TCP
// connection, since net/http looks for some of them.
type deadlineConn struct {
	*net.TCPConn
	listener    *deadlineListener
	read, write deadline
}

// SetReadDeadline implements [net.Conn].
func (c *deadlineConn) SetReadDeadline(t time.Time) error {
	return c.read.set(c.listener, t, c.TCPConn.SetReadDeadline)
}

// SetWriteDeadline implements [net.Conn].
func (c *deadlineConn) SetWriteDeadline(t time.Time) error {
	return c.write.set(c.listener, t, c.TCPConn.SetWriteDeadline)
}

// SetDeadline implements [net.Conn].
func (c *deadlineConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// Close implements [net.Conn].
func (c *deadlineConn) Close() error {
	c.listener.forget(c)
	return c.TCPConn.Close()
}

// deadline is when reading or writing has to end.
type deadline struct {
	mu     sync.Mutex
	at     int64 // in nanoseconds after the listener's epoch; 0 is never
	passed bool  // the connection has been told
}

// longAgo is a deadline that has passed.
var longAgo = time.Unix(1, 0)

// set notes the deadline. Only one that has passed, or that follows one, is the
// business of the connection, which tell tells.
func (d *deadline) set(l *deadlineListener, t time.Time, tell func(time.Time) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = 0
	if !t.IsZero() {
		d.at = int64(t.Sub(l.epoch))
		if d.at <= l.now.Load() {
			d.at, d.passed = 0, true
			return tell(longAgo)
		}
	}
	if !d.passed {
		return nil
	}
	d.passed = false
	return tell(time.Time{})
}

// look tells the connection when the deadline has passed.
func (d *deadline) look(now int64, tell func(time.Time) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at != 0 && d.at <= now {
		d.at, d.passed = 0, true
		_ = tell(longAgo) // of a connection that is closed, nothing waits
	}
}
