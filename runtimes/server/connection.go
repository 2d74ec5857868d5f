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

// The bounds of how often the listener looks for deadlines that have passed.
const (
	minPeriod = time.Millisecond
	maxPeriod = time.Second
)

// httpListener is a listener whose connections are made for net/http: see
// [httpConn].
type httpListener struct {
	*closingListener
	writeTimeout time.Duration
	limit        int          // of connections
	secure       bool         // they speak TLS
	bodies       *budget.Pool // for large headers, too
	epoch        time.Time
	now          atomic.Int64 // when it looked last, in nanoseconds after epoch
	maxYields    atomic.Int32 // see the function maxYields
	stop         httpStop

	mu     sync.Mutex
	period time.Duration // between looks
	conns  map[*httpConn]struct{}
	timer  *time.Timer // runs while there are connections; nil before the first
}

// newHTTPListener returns a listener that looks twenty times in the shortest of the
// timeouts, within the bounds above.
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

// admit returns the connection, or nil if there is no room for it.
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

// sweep interrupts what has taken too long.
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

// The bounds of how many Reads follow each other that let others go first: of one
// connection, and of all together.
const (
	maxConnYields  = 3
	maxTotalYields = 256
)

// maxYields returns how many Reads of a connection may follow each other that let others
// go first. The runtime asks the system for what has come on idle connections only
// when nothing else can be done, and otherwise after 10 ms; so there must not be many
// who always can.
func maxYields(connections int) int32 {
	return int32(min(maxConnYields, maxTotalYields/max(connections, 1))) // #nosec G115 -- at most maxConnYields
}

// httpConn is a connection that spares net/http what is dearer than evaluating a
// flag.
//
// A deadline of a connection of package net is a timer of the runtime. net/http moves
// or stops one eight times for each request, and hardly any deadline is ever reached.
// So a deadline is only noted here, and the listener looks now and then which have
// passed: a Read or Write may end up to a period after its deadline, never before it.
//
// And net/http reads the next request as soon as it has answered one, when the client
// cannot have sent it yet: it finds nothing, and has to be woken. So most Reads let
// others go first, and find what has come meanwhile.
//
// It also knows whether its client waits for a response: see [httpActivity].
//
// It has all methods of a TCP connection, since net/http looks for some of them.
type httpConn struct {
	*net.TCPConn
	listener    *httpListener
	read, write deadline

	reads     atomic.Int32 // to take turns
	idleSince atomic.Int64 // when the last request ended, roughly, in nanoseconds after the listener's epoch
	header    headerMeter
	httpActivity

	// With read.mu held:
	reading     int  // Reads that are under way
	interrupted bool // the connection has been told to end them
}

// Read implements [net.Conn].
func (c *httpConn) Read(b []byte) (int, error) {
	// One byte is what net/http reads to notice that the client has gone.
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

// rejectHeader says that there is no room for a header, if that is the reason and can be
// said. It returns the error for net/http.
func (c *httpConn) rejectHeader(reason error) error {
	if reason == io.EOF && !c.listener.secure {
		_, _ = io.WriteString(c.TCPConn, busy) // a client that went away is nobody's error
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

// beginRead tells whether there is time to read.
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

// interruptRead passes the deadline on where the connection has to know: a Read that
// has not begun finds out by itself.
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
