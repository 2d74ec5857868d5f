package server

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// longAgo is a deadline that has passed.
var longAgo = time.Unix(1, 0)

// errClosing is returned by Accept when a closing listener has no more connections.
var errClosing = errors.New("listener is closing")

const (
	// pendingWait is how long a closing listener waits for a connection that a
	// client has started to open.
	pendingWait = 100 * time.Millisecond
	// pendingLimit is how long it keeps accepting if connections keep arriving.
	pendingLimit = 500 * time.Millisecond
)

// closingListener is a TCP listener that can be closed without losing
// connections. The kernel completes connections before a server accepts them. If the
// listener is closed, it resets those that wait, and their clients lose the requests
// that they have sent.
type closingListener struct {
	*net.TCPListener

	mu     sync.Mutex
	end    time.Time // when accepting ends; zero until the listener is closing
	paused bool      // Accept returns errClosing and Close does nothing
}

// startClosing makes Accept return the connections that wait or are half open, and
// then errClosing.
func (l *closingListener) startClosing() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end = time.Now().Add(pendingLimit)
	ignoreNew(l.TCPListener)
	_ = l.SetDeadline(longAgo) // it fails if the listener is closed
}

// pause makes Accept return errClosing, which stops one server, until resume lets
// another one accept. Connections wait in between.
func (l *closingListener) pause() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paused = true
	_ = l.SetDeadline(longAgo) // it fails if the listener is closed
}

func (l *closingListener) resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paused = false
	_ = l.SetDeadline(time.Time{}) // it fails if the listener is closed
}

// AcceptTCP returns the next connection, or errClosing.
func (l *closingListener) AcceptTCP() (*net.TCPConn, error) {
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
func (l *closingListener) prepare() (closing bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paused {
		return false, errClosing
	}
	if l.end.IsZero() {
		return false, nil
	}
	wait := min(pendingWait, time.Until(l.end))
	return true, l.SetDeadline(time.Now().Add(wait))
}

// Close implements [net.Listener].
func (l *closingListener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paused {
		return nil
	}
	return l.TCPListener.Close()
}
