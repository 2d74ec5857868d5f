package tcp

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// ErrClosing is returned by AcceptTCP when a closing listener has no more connections.
var ErrClosing = errors.New("listener is closing")

const (
	// pendingWait is how long a closing listener waits for a connection that a
	// client has started to open.
	pendingWait = 100 * time.Millisecond
	// pendingLimit is how long it keeps accepting if connections keep arriving.
	pendingLimit = 500 * time.Millisecond
)

// Listener is a TCP listener that can be closed without losing connections. Its methods are
// safe for concurrent use.
//
// The kernel completes connections before a server accepts them. If a listener is simply
// closed, the kernel resets those that wait, and their clients lose the requests that they
// have sent. On Linux, a closing Listener makes the kernel ignore clients that begin to
// connect, by a filter on its socket, accepts those that have connected, and closes the port
// when none is left. On other systems, connections opened after the last Accept are lost.
type Listener struct {
	*net.TCPListener

	mu     sync.Mutex
	end    time.Time // when accepting ends; zero until the listener is closing
	paused bool      // AcceptTCP returns ErrClosing and Close does nothing
}

// NewListener returns a listener that accepts connections like tcp, which must not use Multipath TCP:
// its sockets have no filters.
func NewListener(tcp *net.TCPListener) *Listener { return &Listener{TCPListener: tcp} }

// StartClosing makes AcceptTCP return the connections that wait or are half open, and
// then ErrClosing.
func (l *Listener) StartClosing() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end = time.Now().Add(pendingLimit)
	ignoreNew(l.TCPListener)
	_ = l.SetDeadline(longAgo) // it fails if the listener is closed
}

// Pause makes AcceptTCP return ErrClosing, which stops one server, until Resume lets
// another one accept. Connections wait in between.
func (l *Listener) Pause() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paused = true
	_ = l.SetDeadline(longAgo) // it fails if the listener is closed
}

// Resume ends a pause.
func (l *Listener) Resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paused = false
	_ = l.SetDeadline(time.Time{}) // it fails if the listener is closed
}

// AcceptTCP returns the next connection, or ErrClosing.
func (l *Listener) AcceptTCP() (*net.TCPConn, error) {
	for {
		closing, err := l.prepare()
		if err != nil {
			return nil, err
		}
		conn, err := l.TCPListener.AcceptTCP()
		if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			return conn, err
		}
		if closing {
			return acceptOrClose(l.TCPListener)
		}
	}
}

// prepare reports whether the listener is closing. Then it limits the wait for the
// next connection.
func (l *Listener) prepare() (closing bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paused {
		return false, ErrClosing
	}
	if l.end.IsZero() {
		return false, nil
	}
	wait := min(pendingWait, time.Until(l.end))
	return true, l.SetDeadline(time.Now().Add(wait))
}

// Close implements [net.Listener].
func (l *Listener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paused {
		return nil
	}
	return l.TCPListener.Close()
}
