package store

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/integration/harness/dbtest"
)

// eachDurable runs the benchmark on every kind of database server whose acknowledged
// writes survive a power failure.
func eachDurable(b *testing.B, benchmark func(b *testing.B, s *harness.DatabaseServer)) {
	for _, s := range harness.DurableServers {
		b.Run(s.Name, func(b *testing.B) {
			s.Need(b)
			benchmark(b, s)
		})
	}
}

// startQuietly is harness.Start for a server that does not log its requests. It does not log its
// address either, so it is configured with a free port.
func startQuietly(b *testing.B, database string, env ...string) *harness.Server {
	b.Helper()
	port, err := dbtest.FreePort()
	if err != nil {
		b.Fatal(err)
	}
	s := harness.Launch(b, database, append(env, "GUIDON_LOG_LEVEL=warn", "GUIDON_SERVER_HTTP_PORT="+port)...)
	s.URL = "http://127.0.0.1:" + port
	awaitAnswer(b, s)
	return s
}

// awaitAnswer polls the server until it responds.
func awaitAnswer(b *testing.B, s *harness.Server) {
	b.Helper()
	end := time.After(harness.Patience)
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		a, err := s.Call(b.Context(), "GET", "/health", nil)
		if err == nil && a.Status == http.StatusOK {
			return
		}
		select {
		case err := <-s.Done():
			b.Fatalf("the server ended before it responded: %v\n%s", err, s.Log())
		case <-end:
			b.Fatalf("the server does not respond\n%s", s.Log())
		case <-again.C:
		}
	}
}

// httpConn is a connection for consecutive requests.
type httpConn struct {
	conn   net.Conn
	answer *bufio.Reader
}

func dialHTTP(b *testing.B, s *harness.Server) *httpConn {
	b.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	return &httpConn{conn: conn, answer: bufio.NewReader(conn)}
}

// post sends a body and returns an error unless the response is 200.
func (c *httpConn) post(path, body string) error {
	if err := c.conn.SetDeadline(time.Now().Add(harness.Patience)); err != nil {
		return err
	}
	_, err := fmt.Fprintf(c.conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		path, len(body), body)
	if err != nil {
		return err
	}
	response, err := http.ReadResponse(c.answer, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", response.StatusCode, text)
	}
	return err
}

// unchanged makes a conditional request with the tag, and returns an error unless the
// response is 304.
func (c *httpConn) unchanged(path, tag string) error {
	if err := c.conn.SetDeadline(time.Now().Add(harness.Patience)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(c.conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: %s\r\n\r\n", path, tag); err != nil {
		return err
	}
	response, err := http.ReadResponse(c.answer, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusNotModified {
		return fmt.Errorf("status %d, want 304", response.StatusCode)
	}
	return nil
}
