package server

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// Failed handshakes, such as those of port scanners, are logged at level debug, and
// everything else as a warning.
func TestHTTPErrorLevel(t *testing.T) {
	for line, want := range map[string]string{
		"http: TLS handshake error from 192.0.2.1:5: EOF\n": "level=DEBUG",
		"http: superfluous response.WriteHeader call\n":     "level=WARN",
	} {
		var log bytes.Buffer
		w := &httpErrorWriter{logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
		if _, err := w.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(log.String(), want) {
			t.Errorf("%q is logged as %s, want %s", line, log.String(), want)
		}
	}
}
