package server

import (
	"context"
	"io"
	"sync/atomic"
	"time"
)

const (
	// stopPeriod is the time between sweeps of the connections during a stop.
	stopPeriod = 10 * time.Millisecond
	// idleWait is how long a connection must have been quiet before it is closed.
	// A busy client sends its next request sooner than that.
	idleWait = 500 * time.Millisecond
	// openingWait is the same for a connection that has had no request. Its client
	// may be in the middle of a TLS handshake.
	openingWait = 2 * time.Second
	// finalRead is how long the last read of an idle connection waits.
	finalRead = time.Millisecond
	// lingerTime and lingerBytes limit the input that is read and discarded after
	// the server has closed its side of the connection.
	lingerTime  = 500 * time.Millisecond
	lingerBytes = 1 << 20
)

// httpStop is the state of stopping the HTTP connections.
//
// A client may send a request at the instant at which the server closes its idle
// connection, and then gets no response. So from the start of the stop, each response
// announces that the connection closes. Connections without a response are closed only
// after they have been quiet for a while, and after one more read.
//
// [http.Server.Shutdown] would close connections whose next request has arrived, and
// drop requests that it has just read.
type httpStop struct {
	started atomic.Bool // responses announce that the connection closes
	cut     atomic.Bool // connections are closed without lingering

	// Guarded by the mutex of the listener:
	closeIdle bool
	empty     chan struct{} // closed when no connection is left; nil if drain is not waiting
}

// beginStop makes all further responses announce that their connection closes.
func (l *httpListener) beginStop() {
	l.stop.started.Store(true)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.period = min(l.period, stopPeriod)
	if l.timer != nil && len(l.conns) > 0 {
		l.timer.Reset(0)
	}
}

// drain closes the listener and returns when all connections are closed. If ctx ends
// first, it returns the cause. Connections close when their requests have been answered.
// accepted must be closed when Accept has returned its last connection.
func (l *httpListener) drain(ctx context.Context, accepted <-chan struct{}) error {
	l.mu.Lock()
	l.stop.closeIdle = true
	l.mu.Unlock()
	l.StartClosing()
	select {
	case <-accepted:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case <-l.emptied():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// emptied returns a channel that is closed when no connection is left.
func (l *httpListener) emptied() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	empty := make(chan struct{})
	l.stop.empty = empty
	l.stop.signalIfEmpty(len(l.conns))
	return empty
}

// signalIfEmpty closes s.empty if no connection is left. The listener's mutex must be
// held.
func (s *httpStop) signalIfEmpty(connections int) {
	if s.empty != nil && connections == 0 {
		close(s.empty)
		s.empty = nil
	}
}

// closeIfIdle closes the connection if it has been idle for long enough. The listener's
// mutex must be held.
func (s *httpStop) closeIfIdle(c *httpConn, now int64) {
	used := c.used.Load()
	if used != c.usedThen {
		c.usedThen, c.quietSince = used, now
		return
	}
	wait := idleWait
	if !c.hadRequest.Load() {
		wait = openingWait
	}
	if s.closeIdle && now-c.quietSince >= int64(wait) && !c.awaited() {
		c.endIdle()
	}
}

// lingers reports whether connections that net/http closes must linger.
func (s *httpStop) lingers() bool { return s.started.Load() && !s.cut.Load() }

// closeDetached closes the connections whose responses outlast their handlers: net/http no
// longer knows them.
func (l *httpListener) closeDetached() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		if c.detached.Load() {
			_ = c.TCPConn.Close() // a pending Write returns an error, and its caller closes it as well
		}
	}
}

// inProgress returns the number of connections whose client waits for a response.
func (l *httpListener) inProgress() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for c := range l.conns {
		if c.awaited() {
			n++
		}
	}
	return n
}

// httpActivity tracks the requests of a connection. A connection without a request in
// progress is idle unless its client has sent something after the last response.
type httpActivity struct {
	used       atomic.Uint32 // changes with each use
	hadRequest atomic.Bool
	busy       atomic.Bool  // the handler runs
	detached   atomic.Bool  // a response outlasts its handler; the connection closes when it ends
	unanswered atomic.Bool  // something has been read, and nothing written since
	writesLeft atomic.Int32 // up to and including the first of the response; then 0
	ending     atomic.Bool  // the idle read is being interrupted

	// Guarded by the mutex of the listener:
	usedThen   uint32 // used at the last sweep
	quietSince int64  // by the clock of the listener's group
}

// beginRequest records that the handler starts. The write timeout counts from the start
// of the response, unless the handler sets a deadline itself. If the client waits for
// 100 Continue, the first write is that.
func (a *httpActivity) beginRequest(expectsContinue bool) {
	a.hadRequest.Store(true)
	a.busy.Store(true)
	if expectsContinue {
		a.writesLeft.Store(2)
	} else {
		a.writesLeft.Store(1)
	}
}

func (a *httpActivity) endRequest() {
	a.used.Add(1)
	a.busy.Store(false)
}

func (a *httpActivity) received() {
	a.used.Add(1)
	a.unanswered.Store(true)
}

// beginWrite records a write and reports whether it starts the response.
func (a *httpActivity) beginWrite() bool {
	a.unanswered.Store(false)
	return a.writesLeft.Load() > 0 && a.writesLeft.Add(-1) == 0
}

// awaited reports whether the client waits for a response, as far as the server can
// tell.
func (a *httpActivity) awaited() bool {
	return a.busy.Load() || a.unanswered.Load() || a.detached.Load()
}

// endIdle interrupts the read that waits for the next request, after which net/http
// closes the connection.
func (c *httpConn) endIdle() {
	c.InterruptRead(func() { c.ending.Store(true) })
}

// readOnceMore reads input that has arrived at the last moment. If there is any, the
// connection stays open.
func (c *httpConn) readOnceMore(b []byte) (int, error) {
	if err := c.TCPConn.SetReadDeadline(time.Now().Add(finalRead)); err != nil {
		return 0, err
	}
	return c.TCPConn.Read(b)
}

// keepOpen undoes endIdle.
func (c *httpConn) keepOpen() {
	c.ending.Store(false)
	c.ResumeReading()
}

// linger closes the sending side and reads until the client has closed its side. If a
// connection is closed with unread input, the kernel resets it, and the client may lose
// a response that it has not read yet.
func (c *httpConn) linger() {
	if c.CloseWrite() != nil || c.TCPConn.SetReadDeadline(time.Now().Add(lingerTime)) != nil {
		return
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(c.TCPConn, lingerBytes))
}
