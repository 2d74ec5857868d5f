package server

import (
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/guidonhq/guidon/handler/budget"
)

// The limits of the time between two sweeps.
const (
	minPeriod = time.Millisecond
	maxPeriod = time.Second
)

// httpListener is a listener that returns connections of type [httpConn].
type httpListener struct {
	*closingListener
	writeTimeout time.Duration
	limit        int          // of connections
	secure       bool         // connections use TLS
	bodies       *budget.Pool // large headers count as bodies
	epoch        time.Time
	now          atomic.Int64 // time of the last sweep, in nanoseconds after epoch
	maxYields    atomic.Int32 // see the function maxYields
	stop         httpStop

	mu     sync.Mutex
	period time.Duration // between sweeps
	conns  map[*httpConn]struct{}
	timer  *time.Timer // runs while there are connections; nil before the first
}

// newHTTPListener returns a listener that sweeps twenty times per shortest timeout,
// within the limits above.
func newHTTPListener(listener *closingListener, config Config) *httpListener {
	timeouts := config.HTTP
	shortest := min(timeouts.ReadTimeout, timeouts.WriteTimeout, timeouts.IdleTimeout)
	return &httpListener{
		closingListener: listener,
		writeTimeout:    timeouts.WriteTimeout,
		limit:           timeouts.MaxConnections,
		secure:          config.TLS != nil,
		bodies:          config.Handler.Budget().Bodies,
		period:          min(max(shortest/20, minPeriod), maxPeriod),
		epoch:           time.Now(),
		conns:           map[*httpConn]struct{}{},
	}
}

// Accept implements [net.Listener].
func (l *httpListener) Accept() (net.Conn, error) {
	for {
		tcp, err := l.AcceptTCP()
		if err != nil {
			return nil, err
		}
		if c := l.admit(tcp); c != nil {
			return c, nil
		}
		l.reject(tcp)
	}
}

// admit adds the connection to the open ones and returns it wrapped, or nil if there is
// no room for it.
func (l *httpListener) admit(tcp *net.TCPConn) *httpConn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.makeRoom() {
		return nil
	}
	c := &httpConn{TCPConn: tcp, listener: l}
	c.header.memory, c.header.secure = l.bodies.NewReservation(), l.secure
	c.quietSince = int64(time.Since(l.epoch))
	c.idleSince.Store(c.quietSince)
	l.conns[c] = struct{}{}
	l.maxYields.Store(maxYields(len(l.conns)))
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
	now := int64(time.Since(l.epoch))
	l.now.Store(now)
	for c := range l.conns {
		c.read.expire(now, c.interruptRead)
		c.write.expire(now, c.TCPConn.SetWriteDeadline)
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
	l.maxYields.Store(maxYields(len(l.conns)))
	l.stop.signalIfEmpty(len(l.conns))
}

// The most consecutive Reads that yield: of one connection, and of all together.
const (
	maxConnYields  = 3
	maxTotalYields = 256
)

// maxYields returns how many consecutive Reads of a connection may yield. While any
// goroutine can run, the runtime polls idle connections for input only every 10 ms, so
// there must not be many goroutines that keep yielding.
func maxYields(connections int) int32 {
	return int32(min(maxConnYields, maxTotalYields/max(connections, 1))) // #nosec G115 -- at most maxConnYields
}

// httpConn is a TCP connection that avoids two costs in net/http that each exceed that
// of evaluating a flag.
//
// First, a deadline of a connection of package net is a timer of the runtime. net/http
// moves or stops one eight times per request, and hardly any deadline is ever reached.
// So a deadline is only recorded here, and the listener sweeps the connections for
// deadlines that have passed. A Read or Write may end up to one period after its
// deadline, but never before it.
//
// Second, net/http reads the next request as soon as it has answered one, when the
// client cannot have sent it yet. That Read would find nothing, and its goroutine would
// have to be woken later. So most Reads yield first, and find the input that has arrived
// by then.
//
// It also keeps track of whether its client waits for a response: see [httpActivity].
//
// It embeds the TCP connection, because net/http checks for some of its methods.
type httpConn struct {
	*net.TCPConn
	listener    *httpListener
	read, write deadline

	reads     atomic.Int32 // counts Reads, to choose those that yield
	idleSince atomic.Int64 // approximate end of the last request, in nanoseconds after the listener's epoch
	header    headerMeter
	httpActivity

	// Guarded by read.mu:
	reading     int  // Reads in progress
	interrupted bool // a deadline that interrupts them is set on the TCP connection
}

// Read implements [net.Conn].
func (c *httpConn) Read(b []byte) (int, error) {
	// net/http reads a single byte to detect that the client has disconnected.
	if len(b) > 1 && c.reads.Add(1)%(c.listener.maxYields.Load()+1) != 0 {
		runtime.Gosched()
	}
	if !c.beginRead() {
		return 0, os.ErrDeadlineExceeded
	}
	n, err := c.TCPConn.Read(b)
	if err != nil && c.ending.Load() {
		n, err = c.readOnceMore(b)
	}
	if n > 0 {
		c.received()
	}
	c.endRead(n)
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
		if err := c.setWriteDeadline(time.Now().Add(c.listener.writeTimeout)); err != nil {
			return 0, err
		}
	}
	return c.TCPConn.Write(b)
}

// beginRead reports whether a Read may start, and counts it if so. It may not if the
// deadline has passed.
func (c *httpConn) beginRead() bool {
	c.read.mu.Lock()
	defer c.read.mu.Unlock()
	if c.read.passed {
		return false
	}
	c.reading++
	return true
}

func (c *httpConn) endRead(n int) {
	c.read.mu.Lock()
	defer c.read.mu.Unlock()
	c.reading--
	if n > 0 && c.ending.Load() {
		c.keepOpen()
	}
}

// interruptRead passes the deadline on to the TCP connection if a Read is in progress,
// or if an earlier one must be cleared. A Read that starts later checks the deadline
// itself. c.read.mu must be held.
func (c *httpConn) interruptRead(t time.Time) error {
	if passed := !t.IsZero(); passed && c.reading > 0 || !passed && c.interrupted {
		c.interrupted = passed
		return c.TCPConn.SetReadDeadline(t)
	}
	return nil
}

// SetReadDeadline implements [net.Conn].
func (c *httpConn) SetReadDeadline(t time.Time) error {
	return c.read.set(c.listener, t, c.interruptRead)
}

// SetWriteDeadline implements [net.Conn].
func (c *httpConn) SetWriteDeadline(t time.Time) error {
	c.writesLeft.Store(0)
	return c.setWriteDeadline(t)
}

func (c *httpConn) setWriteDeadline(t time.Time) error {
	return c.write.set(c.listener, t, c.TCPConn.SetWriteDeadline)
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
