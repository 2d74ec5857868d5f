package exchange

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// Detach calls rest, which writes the rest of a response that has started, after the
// handler has returned: in a goroutine of its own, on the connection itself. net/http keeps
// two buffers and a deep stack for each request, which is most of the memory of an event
// stream. The context ends when the client disconnects. The connection is closed when rest
// returns.
//
// It returns false, and calls nothing, if the connection cannot be taken over from the server,
// as that of HTTP/2. After it has returned true, the caller must not use the exchange.
func (x *Exchange) Detach(rest func(ctx context.Context)) bool {
	if x.Request.ProtoMajor != 1 || x.Request.ProtoMinor != 1 {
		return false // the body would have no chunks
	}
	conn, _, err := http.NewResponseController(x.ResponseWriter).Hijack()
	if err != nil {
		return false
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(x.Request.Context()))
	x.ResponseWriter, x.detached = chunks{conn}, true
	go func() {
		defer cancel()
		awaitDisconnect(conn)
	}()
	go func() {
		defer func() { _ = conn.Close() }() // last: the stop waits for it
		defer cancel()
		defer func() { x.router.settle(x, recover()) }()
		rest(ctx)
		_, _ = io.WriteString(conn, "0\r\n\r\n") // the end of the body
	}()
	return true
}

// maxIgnored is how much a client may send, in bytes, to which there is no response.
const maxIgnored = 4 << 10

// awaitDisconnect reads until the client disconnects. A client that sends more than
// maxIgnored counts as disconnected. Usually it sends nothing, so a small buffer will do.
func awaitDisconnect(conn net.Conn) {
	ignored := make([]byte, 64)
	for total := 0; total <= maxIgnored; {
		n, err := conn.Read(ignored)
		if err != nil {
			return
		}
		total += n
	}
}

// chunks writes the body of a response, in the chunks of HTTP/1.1 (RFC 9112 7.1), whose header
// has been sent.
type chunks struct{ conn net.Conn }

// Header implements [http.ResponseWriter]. It is too late to set any.
func (chunks) Header() http.Header { return http.Header{} }

// WriteHeader implements [http.ResponseWriter].
func (chunks) WriteHeader(int) {}

// Write implements [http.ResponseWriter].
func (c chunks) Write(body []byte) (int, error) {
	if len(body) == 0 {
		return 0, nil // an empty chunk would end the body
	}
	if _, err := c.conn.Write(fmt.Appendf(nil, "%x\r\n%s\r\n", len(body), body)); err != nil {
		return 0, err
	}
	return len(body), nil
}

// FlushError does nothing, because nothing is buffered. [http.ResponseController] calls it.
func (chunks) FlushError() error { return nil }

// SetWriteDeadline sets that of the connection. [http.ResponseController] calls it.
func (c chunks) SetWriteDeadline(t time.Time) error { return c.conn.SetWriteDeadline(t) }
