package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"

	"github.com/guidonhq/guidon/runtimes/server/tcp"
)

// newHTTPServer returns the HTTP server. It speaks HTTP/1.1 only, also over TLS
// (contract 1.1), because clients made for the reference may not support HTTP/2.
func newHTTPServer(config Config, tlsSettings *tls.Config, listener *httpListener) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	if tlsSettings != nil {
		tlsSettings = tlsSettings.Clone()
		tlsSettings.NextProtos = []string{"http/1.1"}
	}
	return &http.Server{
		Handler:        &httpHandler{next: config.Handler},
		ConnContext:    withConn,
		ConnState:      listener.connState,
		TLSConfig:      tlsSettings,
		Protocols:      protocols,
		ReadTimeout:    config.HTTP.ReadTimeout,
		WriteTimeout:   config.HTTP.WriteTimeout,
		IdleTimeout:    config.HTTP.IdleTimeout,
		MaxHeaderBytes: config.HTTP.MaxHeaderBytes,
		ErrorLog:       log.New(&httpErrorWriter{logger: config.Logger}, "", 0),
	}
}

// connKey is the key of the [httpConn] in the context of its requests.
type connKey struct{}

// withConn stores the connection in the context of its requests.
func withConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, httpConnOf(conn))
}

// httpConnOf returns the httpConn below a connection of net/http, with or without TLS.
func httpConnOf(conn net.Conn) *httpConn {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	return conn.(*httpConn)
}

// httpHandler notifies connections of their requests. Once the stop has started, it
// tells clients to close them.
type httpHandler struct{ next http.Handler }

// ServeHTTP implements [http.Handler].
func (h *httpHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := r.Context().Value(connKey{}).(*httpConn)
	c.header.pause()
	c.beginRequest(len(r.Header["Expect"]) > 0)
	defer c.endRequest()
	if c.listener.stop.started.Load() {
		w.Header().Set("Connection", "close")
	}
	h.next.ServeHTTP(w, r)
}

// serveHTTP serves until the server is shut down or closed, or the listener is closing.
// It returns nil in those cases.
func serveHTTP(server *http.Server, listener net.Listener) error {
	var err error
	if server.TLSConfig != nil {
		err = server.ServeTLS(listener, "", "")
	} else {
		err = server.Serve(listener)
	}
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, tcp.ErrClosing) {
		return nil
	}
	return err
}

// httpErrorWriter passes the error log of net/http to slog. Failed TLS handshakes are
// logged at level debug, because port scanners and health probes cause them.
type httpErrorWriter struct{ logger *slog.Logger }

func (w *httpErrorWriter) Write(line []byte) (int, error) {
	level := slog.LevelWarn
	if bytes.HasPrefix(line, []byte("http: TLS handshake error")) {
		level = slog.LevelDebug
	}
	w.logger.Log(context.Background(), level, "http server", "error", string(bytes.TrimSpace(line)))
	return len(line), nil
}

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
