package server_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/stream"
	"github.com/guidonhq/guidon/runtimes/server/metrics"
)

// silent subscribes to a namespace in which nothing changes.
func silent(string) (func() <-chan struct{}, func()) {
	return func() <-chan struct{} { return nil }, func() {}
}

// A stream would not end by itself. The stop ends it, so that it does not delay the
// drain.
func TestStopEndsStreams(t *testing.T) {
	streams := stream.NewHub(stream.Config{Subscribe: silent, MaxOFREP: 1, MaxChanges: 1})
	metrics := metrics.New(metrics.Config{Streams: streams})
	in := start(t, func(s *settings) {
		s.handler.Streams, s.server.Streams = streams, streams
		s.server.ShutdownTimeout = time.Hour
	})
	response, err := http.Get(in.http + "/ofrep/v1/events")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if got := scrape(t, metrics, `guidon_streams_open{kind="ofrep"}`); !cmp.Equal(got, []string{`guidon_streams_open{kind="ofrep"} 1`}) {
		t.Errorf("metrics while the stream is open: %q", got)
	}
	in.cancel()
	if err := in.wait(); err != nil {
		t.Errorf("Run: %v", err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil || strings.Count(string(body), "retry: ") != 2 {
		t.Errorf("the client was sent %q, %v", body, err)
	}
	want := []string{
		`guidon_streams_ended_total{kind="ofrep",reason="stopping"} 1`,
		`guidon_streams_open{kind="changes"} 0`,
		`guidon_streams_open{kind="ofrep"} 0`,
		`guidon_streams_refused_total{kind="changes"} 0`,
		`guidon_streams_refused_total{kind="ofrep"} 0`,
	}
	got := slices.DeleteFunc(scrape(t, metrics, "guidon_streams_"), func(line string) bool {
		return strings.HasPrefix(line, "guidon_streams_ended_total") && strings.HasSuffix(line, " 0")
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

// TestStreamFlood: a client that keeps sending instead of listening is disconnected.
func TestStreamFlood(t *testing.T) {
	streams := stream.NewHub(stream.Config{Subscribe: silent, MaxOFREP: 1, MaxChanges: 1})
	in := start(t, func(s *settings) { s.handler.Streams, s.server.Streams = streams, streams })
	conn, err := net.Dial("tcp", strings.TrimPrefix(in.http, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second)) // only if the test fails
	if _, err := io.WriteString(conn, "GET /ofrep/v1/events HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	flood := []byte(strings.Repeat("x", 1<<10))
	for sent := 0; ; sent += len(flood) {
		if _, err := conn.Write(flood); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("the client could send for 20 s, %d bytes", sent)
		} else if err != nil {
			return // disconnected
		}
	}
}
