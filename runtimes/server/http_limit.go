package server

import (
	"io"
	"net"
	"net/http"
)

// busy is the whole response to a connection, or a request, for which there is no room.
const busy = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

// evictionSample is how many connections are looked at for one to close.
const evictionSample = 32

// makeRoom reports whether there is room for one more connection. If there is none it
// closes the longest idle one of a few. The listener's mutex must be held.
func (l *httpListener) makeRoom() bool {
	if len(l.conns) < l.limit {
		return true
	}
	var idle *httpConn
	seen := 0
	for c := range l.conns { // in random order
		if !c.awaited() && (idle == nil || c.idleSince.Load() < idle.idleSince.Load()) {
			idle = c
		}
		if seen++; seen == evictionSample {
			break
		}
	}
	if idle == nil {
		return false
	}
	delete(l.conns, idle)
	_ = idle.TCPConn.Close() // net/http finds out, and closes it too
	return true
}

// reject says that there is no room, if that can be said, and closes the connection.
func (l *httpListener) reject(conn net.Conn) {
	if !l.secure {
		_, _ = io.WriteString(conn, busy) // there is room for it in the new connection's buffer
	}
	_ = conn.Close()
}

// connState is told by net/http of the states of connections.
func (l *httpListener) connState(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateIdle, http.StateClosed:
		c := httpConnOf(conn)
		c.idleSince.Store(l.now.Load())
		c.header.next()
	}
}
