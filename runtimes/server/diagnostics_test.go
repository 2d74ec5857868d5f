package server_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/runtimes/server"
	"github.com/guidonhq/guidon/runtimes/server/metrics"
)

var diagnosticsAddress = regexp.MustCompile(`msg="serving diagnostics" address=(\S+)`)

// startDiagnostics runs a server with a diagnostics listener, and returns its URL.
func startDiagnostics(t *testing.T) (in *instance, url string) {
	t.Helper()
	metrics := metrics.New(metrics.Config{})
	in = start(t, func(s *settings) {
		s.handler.Metrics, s.handler.Profiling = metrics.Handler(), server.Profiling()
		s.server.DiagnosticsAddress = "127.0.0.1:0"
	})
	found := diagnosticsAddress.FindStringSubmatch(in.log.String())
	if found == nil {
		t.Fatalf("the log does not name the address:\n%s", in.log)
	}
	return in, found[1]
}

// TestDiagnosticsListener checks that the diagnostics listener serves pages that the
// main one denies without a token, and that it closes when the server stops.
func TestDiagnosticsListener(t *testing.T) {
	in, url := startDiagnostics(t)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	for path, want := range map[string]struct{ main, diagnostics int }{
		"/health": {200, 200}, "/metrics": {403, 200}, "/debug/pprof/cmdline": {403, 200}, "/debug/pprof/profile?seconds=1": {403, 200},
		"/api/v1/namespaces": {200, 404},
	} {
		for base, status := range map[string]int{in.http: want.main, url: want.diagnostics} {
			response, err := client.Get(base + path)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			if response.StatusCode != status {
				t.Errorf("%s%s: %d, want %d", base, path, response.StatusCode, status)
			}
		}
	}
	in.cancel()
	if err := in.wait(); err != nil {
		t.Error(err)
	}
	if conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://")); err == nil {
		_ = conn.Close()
		t.Error("the listener is open after the stop")
	}
}

// TestDiagnosticsConnections checks that idle connections use up the slots of the
// diagnostics listener only, and that a further one is served as soon as one closes.
func TestDiagnosticsConnections(t *testing.T) {
	const limit = 64
	in, url := startDiagnostics(t)
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	// served sends a request on the connection and reports whether the response is 200
	// within the time.
	served := func(conn net.Conn, within time.Duration) bool {
		_ = conn.SetDeadline(time.Now().Add(within))
		_, _ = io.WriteString(conn, "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		return err == nil && response.StatusCode == http.StatusOK
	}
	open := make([]net.Conn, limit)
	for i := range open {
		if open[i] = dial(); !served(open[i], patience) {
			t.Fatalf("connection %d is not served", i)
		}
	}
	further := dial()
	if served(further, 100*time.Millisecond) {
		t.Errorf("more than %d connections are served", limit)
	}
	if response, _ := in.do("GET", "/health", ""); response.StatusCode != http.StatusOK {
		t.Errorf("the HTTP listener: %d", response.StatusCode)
	}
	_ = open[0].Close()
	_ = further.SetDeadline(time.Now().Add(patience))
	if response, err := http.ReadResponse(bufio.NewReader(further), nil); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("a further connection is not served after one has closed: %v", err)
	}
}
