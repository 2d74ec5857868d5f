package server

import (
	"context"
	"io"
	"sync/atomic"
	"time"
)

const (
	// stopPeriod is the time between looks at the connections during a stop.
	stopPeriod = 10 * time.Millisecond
	// idleWait is how long a connection must have been quiet before it is closed.
	// A busy client sends its next request sooner than that.
	idleWait = 500 * time.Millisecond
	// openingWait is the same for a connection without a request so far, whose
	// client may be in the middle of a TLS handshake.
	openingWait = 2 * time.Second
	// finalRead is how long the last read of an idle connection takes.
	finalRead = time.Millisecond
	// lingerTime and lingerBytes limit what is read and discarded of a client that
	// has been told that the connection is closed.
	lingerTime  = 500 * time.Millisecond
	lingerBytes = 1 << 20
)

// httpStop is the stop of the HTTP connections.
//
// A client may send a request at the instant at which the server closes its idle
// connection, and gets no response then. So from the start of the stop each response
// says that the connection closes; connections on which no response can say so are
// closed only after they have been quiet for a while, and not before one more read.
//
// [http.Server.Shutdown] would close connections whose next request has arrived, and
// drop requests that it has just read.
type httpStop struct {
	started atomic.Bool // responses say that the connection closes
	cut     atomic.Bool // connections are closed without a delay

	// With the mutex of the listener held:
	closeIdle bool
	empty     chan struct{} // closed when no connection is left; nil until somebody waits
}

// beginStop lets responses say from now on that their connection closes.
func (l *httpListener) beginStop() {
	l.stop.started.Store(true)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.period = min(l.period, stopPeriod)
	if l.timer != nil && len(l.conns) > 0 {
		l.timer.Reset(0)
	}
}

// drain closes the listener and returns when all connections are closed, or with
// the cause if ctx ends first. Connections close when their requests have been
// answered. The channel says that Accept has returned its last connection.
func (l *httpListener) drain(ctx context.Context, accepted <-chan struct{}) error {
	l.mu.Lock()
	l.stop.closeIdle = true
	l.mu.Unlock()
	l.startClosing()
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

// signalIfEmpty is told how many connections are left. The listener's mutex must be held.
func (s *httpStop) signalIfEmpty(connections int) {
	if s.empty != nil && connections == 0 {
		close(s.empty)
		s.empty = nil
	}
}

// closeIfIdle closes the connection if it is idle. The listener's mutex must be held.
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

// lingers reports whether connections that net/http closes wait for their client.
func (s *httpStop) lingers() bool { return s.started.Load() && !s.cut.Load() }

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

// httpActivity is what a connection knows of its requests. A connection without a
// request in progress is idle unless its client has sent something after the last
// response.
type httpActivity struct {
	used       atomic.Uint32 // changes with each use
	hadRequest atomic.Bool   // there has been a request
	busy       atomic.Bool   // the handler runs
	unanswered atomic.Bool   // something has been read, and nothing written since
	writesLeft atomic.Int32  // until the one that starts the response; 0 if none does
	ending     atomic.Bool   // idle reads end

	// With the mutex of the listener held:
	usedThen   uint32
	quietSince int64 // in nanoseconds after the listener's epoch
}

// beginRequest notes that the handler starts. The time for writing counts from the
// start of the response, unless the handler sets a deadline of its own. A client
// that waits for 100 Continue is sent that first.
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

// beginWrite notes a write, and reports whether it starts the response.
func (a *httpActivity) beginWrite() bool {
	a.unanswered.Store(false)
	return a.writesLeft.Load() > 0 && a.writesLeft.Add(-1) == 0
}

// awaited reports whether the client waits for a response, as far as is known.
func (a *httpActivity) awaited() bool { return a.busy.Load() || a.unanswered.Load() }

// endIdle interrupts the read that waits for the next request, after which net/http
// closes the connection.
func (c *httpConn) endIdle() {
	c.read.mu.Lock()
	defer c.read.mu.Unlock()
	if c.reading > 0 {
		c.ending.Store(true)
		_ = c.TCPConn.SetReadDeadline(longAgo) // of a connection that is closed, nothing waits
	}
}

// readOnceMore returns what has come at the last moment. If there is anything the
// connection goes on.
func (c *httpConn) readOnceMore(b []byte) (int, error) {
	if err := c.TCPConn.SetReadDeadline(time.Now().Add(finalRead)); err != nil {
		return 0, err
	}
	return c.TCPConn.Read(b)
}

// keepOpen takes back that idle reads end. c.read.mu must be held.
func (c *httpConn) keepOpen() {
	c.ending.Store(false)
	if !c.interrupted {
		_ = c.TCPConn.SetReadDeadline(time.Time{}) // of a connection that is closed, nothing waits
	}
}

// linger tells the client that nothing more is sent and reads until it has closed
// its side. A connection that is closed with something unread is reset, and the
// client may lose the response that it has not read yet.
func (c *httpConn) linger() {
	if c.CloseWrite() != nil || c.TCPConn.SetReadDeadline(time.Now().Add(lingerTime)) != nil {
		return
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(c.TCPConn, lingerBytes))
}
