package server_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/api/httpbody"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon/handler/limit"
)

// rawClient sends raw requests on one connection.
type rawClient struct {
	t    *testing.T
	conn net.Conn
	from *bufio.Reader
}

func (in *instance) connect(t *testing.T) *rawClient {
	t.Helper()
	conn, err := net.Dial("tcp", in.httpAt.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	return &rawClient{t, conn, bufio.NewReader(conn)}
}

func (c *rawClient) send(text string) {
	_, _ = io.WriteString(c.conn, text) // status notices if the server has closed the connection
}

// status returns the status of the next response, or 0 when the connection has ended.
func (c *rawClient) status() int {
	response, err := http.ReadResponse(c.from, nil)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

const healthRequest = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"

// A connection above the limit replaces the one that has been idle for the longest time.
// If none is idle, it gets 503.
func TestHTTPConnectionLimit(t *testing.T) {
	held := newGate()
	in := start(t, func(s *settings) {
		s.server.HTTP.MaxConnections = 2
		s.handler.Observer, s.handler.Evaluations = held, held
	})
	in.seed("f")
	idle := []*rawClient{in.connect(t), in.connect(t)}
	for _, c := range idle {
		if c.send(healthRequest); c.status() != http.StatusOK {
			t.Fatal("a connection within the limit is not served")
		}
	}
	const body = `{"flagKey":"f"}`
	evaluation := "POST /evaluate/v1/boolean HTTP/1.1\r\nHost: localhost\r\nContent-Length: 15\r\n\r\n" + body
	busy := []*rawClient{in.connect(t), in.connect(t)}
	for _, c := range busy {
		c.send(evaluation)
		await(t, "an evaluation", held.entered)
	}
	for i, c := range idle {
		if got := c.status(); got != 0 {
			t.Errorf("idle connection %d has the status %d, want it closed", i, got)
		}
	}
	if got := in.connect(t).status(); got != http.StatusServiceUnavailable {
		t.Errorf("a connection while all are busy: %d, want 503", got)
	}
	close(held.open)
	for i, c := range busy {
		if got := c.status(); got != http.StatusOK {
			t.Errorf("busy connection %d: %d, want its response", i, got)
		}
	}
}

// gRPC connections above the limit are closed until others end.
func TestGRPCConnectionLimit(t *testing.T) {
	in := start(t, func(s *settings) { s.server.GRPC.MaxConnections = 1 })
	in.meta(t.Context()) // on the first connection
	second := in.dial(grpc.WithTransportCredentials(insecure.NewCredentials()))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	info := func(options ...grpc.CallOption) error {
		return second.Invoke(ctx, "/flipt.meta.MetadataService/GetInfo", &emptypb.Empty{}, &httpbody.HttpBody{}, options...)
	}
	if err := info(); status.Code(err) != codes.Unavailable {
		t.Errorf("a connection above the limit: got %v, want Unavailable", err)
	}
	if err := in.conn.Close(); err != nil {
		t.Fatal(err)
	}
	for state := second.GetState(); state != connectivity.Ready; state = second.GetState() {
		second.ResetConnectBackoff()
		second.Connect()
		if !second.WaitForStateChange(ctx, state) {
			t.Fatal("cannot connect after the other connection has ended")
		}
	}
	if err := info(); err != nil {
		t.Errorf("after the other connection has ended: %v", err)
	}
}

// A header reserves the memory that it takes. A large one that does not end keeps others
// from being as large, and releases the memory when its connection ends.
func TestHeaderMemory(t *testing.T) {
	in := start(t, func(s *settings) { s.handler.Budget = limit.NewBudget(2 << 20) }) // 384 kB for large bodies and headers
	header := func(size int) string {
		return "GET /health HTTP/1.1\r\nHost: localhost\r\nX-Large: " + strings.Repeat("x", size) + "\r\n"
	}
	stalled := in.connect(t)
	stalled.send(header(100 << 10))
	in.awaitReserved(300 << 10)

	if c := in.connect(t); true {
		c.send(header(100<<10) + "\r\n")
		if got := c.status(); got != http.StatusServiceUnavailable {
			t.Errorf("a second large header: %d, want 503", got)
		}
	}
	if c := in.connect(t); true {
		c.send(healthRequest)
		if got := c.status(); got != http.StatusOK {
			t.Errorf("a small header: %d, want 200", got)
		}
	}
	_ = stalled.conn.Close()
	in.awaitReserved(0)
	c := in.connect(t)
	c.send(header(100<<10) + "\r\n")
	if got := c.status(); got != http.StatusOK {
		t.Errorf("a large header after the other connection has ended: %d, want 200", got)
	}
	// The connection stays open, and each header is counted from its own start.
	for range 20 {
		c.send(header(50<<10) + "\r\n")
		if got := c.status(); got != http.StatusOK {
			t.Fatalf("another header on the connection: %d, want 200", got)
		}
	}
}

// awaitReserved returns when at least that many bytes are reserved for headers and
// bodies. Zero means that none are.
func (in *instance) awaitReserved(bytes int64) {
	in.t.Helper()
	late := time.After(patience)
	for tick := time.NewTicker(time.Millisecond); ; {
		used := in.handler.Budget().Bodies.Stats().Used
		if bytes > 0 && used >= bytes || bytes == 0 && used == 0 {
			return
		}
		select {
		case <-late:
			in.t.Fatalf("%d bytes are reserved, want %d", used, bytes)
		case <-tick.C:
		}
	}
}

// A header of many short lines is rejected by their number, because each takes far more
// memory than its few bytes. The lines of a body do not count.
func TestHeaderLines(t *testing.T) {
	in := start(t, nil)
	lines := func(n int) string { return strings.Repeat("x: y\r\n", n) }
	for n, want := range map[int]int{90: http.StatusOK, 900: http.StatusOK, 1100: http.StatusBadRequest, 100_000: http.StatusBadRequest} {
		c := in.connect(t)
		c.send("GET /health HTTP/1.1\r\nHost: localhost\r\n" + lines(n) + "\r\n")
		if got := c.status(); got != want {
			t.Errorf("%d lines: %d, want %d", n, got, want)
		}
	}
	c := in.connect(t)
	for range 3 {
		body := `{"key":"x",` + strings.Repeat("\n", 50_000) + `"name":""}`
		c.send(fmt.Sprintf("POST /api/v1/flags HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
		if got := c.status(); got != http.StatusBadRequest { // the name is missing
			t.Fatalf("a body of many lines: %d, want 400 and an open connection", got)
		}
	}
}

// Over TLS, the beginning of a body cannot be distinguished from the header, so it counts
// as part of it. Once the header of a request has been read, this reservation is
// released.
func TestHeaderMemoryOverTLS(t *testing.T) {
	files, roots := certificate(t)
	held := newGate()
	in := start(t, func(s *settings) {
		s.server.TLS = files
		s.handler.Budget = limit.NewBudget(8 << 20) // room for one worst case of 16 kB
		s.handler.Observer, s.handler.Evaluations = held, held
	})
	dial := func() *rawClient {
		// In one record, as most clients send data that is written together.
		conn, err := tls.Dial("tcp", in.httpAt.String(), &tls.Config{RootCAs: roots, DynamicRecordSizingDisabled: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		_ = conn.SetDeadline(time.Now().Add(patience))
		return &rawClient{t, conn, bufio.NewReader(conn)}
	}
	post := func(c *rawClient, path, body string) {
		c.send(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body))
	}
	c := dial()
	if post(c, "/api/v1/flags", `{"key":"f","name":"F","type":"BOOLEAN_FLAG_TYPE"}`); c.status() != http.StatusOK {
		t.Fatal("cannot create the flag")
	}
	var clients []*rawClient
	for range 4 { // all at the same time
		c := dial()
		post(c, "/evaluate/v1/boolean", `{"flagKey":"f","entityId":"`+strings.Repeat("x", 15<<10)+`"}`)
		await(t, "an evaluation", held.entered)
		clients = append(clients, c)
	}
	close(held.open)
	for _, c := range clients {
		if got := c.status(); got != http.StatusOK {
			t.Errorf("status %d, want 200", got)
		}
	}
}
