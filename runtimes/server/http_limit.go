package server

import (
	"io"
	"net"
	"net/http"
)

// busy is the whole response to a connection, or a request, for which there is no room.
const busy = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

// evictionSample is how many connections are examined to find one to close.
const evictionSample = 32

// makeRoom reports whether there is room for one more connection. At the limit, it makes
// room by closing the longest idle one of a sample. l.mu must be held.
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
	_ = idle.TCPConn.Close() // net/http gets an error from it, and closes it too
	return true
}

// reject closes the connection. It sends 503 first, except over TLS.
func (l *httpListener) reject(conn net.Conn) {
	if !l.secure {
		_, _ = io.WriteString(conn, busy) // cannot block: the connection's send buffer is empty
	}
	_ = conn.Close()
}

// connState is called by net/http when the state of a connection changes.
func (l *httpListener) connState(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateIdle, http.StateClosed:
		c := httpConnOf(conn)
		c.idleSince.Store(l.group.Swept())
		c.header.next()
	case http.StateHijacked:
		httpConnOf(conn).detached.Store(true)
	}
}
