package server_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/handler/stream"
	"github.com/guidonhq/guidon/runtimes/server"
)

// TestSlowClients checks that a client that exceeds a timeout is disconnected, and gets a
// response if there is a request to respond to.
func TestSlowClients(t *testing.T) {
	const soon = 50 * time.Millisecond
	for name, test := range map[string]struct {
		http server.HTTP
		sent string
		want []int // the statuses of the responses before the connection is closed
	}{
		"nothing":                 {http: server.HTTP{ReadTimeout: soon}},
		"half a header":           {http: server.HTTP{ReadTimeout: soon}, sent: "GET /health HTTP/1.1\r\nHost: a"},
		"half a body":             {http: server.HTTP{ReadTimeout: soon}, sent: "POST /evaluate/v1/batch HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{}", want: []int{http.StatusBadRequest}},
		"a request, then nothing": {http: server.HTTP{IdleTimeout: soon}, sent: "GET /health HTTP/1.1\r\nHost: a\r\n\r\n", want: []int{http.StatusOK}},
		"half of a second header": {
			http: server.HTTP{ReadTimeout: soon},
			sent: "GET /health HTTP/1.1\r\nHost: a\r\n\r\nGET /health HTTP/1.1\r\n", want: []int{http.StatusOK},
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := start(t, func(s *settings) {
				test.http.Address = s.server.HTTP.Address
				s.server.HTTP = test.http
			})
			begin := time.Now() // the first timeout starts when the connection is accepted
			conn, err := net.Dial("tcp", in.httpAt.String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			_ = conn.SetDeadline(time.Now().Add(patience))
			if _, err := io.WriteString(conn, test.sent); err != nil {
				t.Fatal(err)
			}
			reader := bufio.NewReader(conn)
			for _, want := range test.want {
				response, err := http.ReadResponse(reader, nil)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != want {
					t.Errorf("got status %d (%v), want %d", response.StatusCode, err, want)
				}
			}
			if rest, err := io.ReadAll(reader); err != nil || len(rest) > 0 {
				t.Errorf("at the end: got %q, %v, want nothing", rest, err)
			}
			if waited := time.Since(begin); waited < soon {
				t.Errorf("closed after %v, before the timeout of %v", waited, soon)
			}
		})
	}
}

// TestStreamsOutlastTimeouts checks that the timeouts of requests do not apply to
// streams.
func TestStreamsOutlastTimeouts(t *testing.T) {
	const soon = 20 * time.Millisecond
	streams := stream.NewHub(stream.Config{Subscribe: silent, MaxOFREP: 2, MaxChanges: 1})
	in := start(t, func(s *settings) {
		s.handler.Streams, s.server.Streams = streams, streams
		s.server.HTTP.ReadTimeout, s.server.HTTP.WriteTimeout = soon, soon
	})
	stream, err := http.Get(in.http + "/ofrep/v1/events")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Body.Close() }()
	// When another client has exceeded the timeout twice, the stream has exceeded it
	// too.
	for range 2 {
		slow, err := net.Dial("tcp", in.httpAt.String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(slow); err != nil {
			t.Fatal(err)
		}
		_ = slow.Close()
	}
	in.cancel()
	if sent, err := io.ReadAll(stream.Body); err != nil || strings.Count(string(sent), "retry: ") != 2 { // at the start, and when the server stops
		t.Errorf("the stream was aborted: %q, %v", sent, err)
	}
	if err := in.wait(); err != nil {
		t.Error(err)
	}
}
