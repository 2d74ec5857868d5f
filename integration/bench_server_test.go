package integration

import (
	"net"
	"net/http"
	"testing"
	"time"
)

// eachDurable runs the benchmark on every kind of database server that keeps
// what it has acknowledged through a power cut, too.
func eachDurable(b *testing.B, benchmark func(b *testing.B, s *databaseServer)) {
	for _, s := range durableServers {
		b.Run(s.name, func(b *testing.B) {
			s.need(b)
			benchmark(b, s)
		})
	}
}

// startQuietly is start for a server that does not log its requests, as those of
// many users do not. It does not log its address either, so it is told one that
// is free.
func startQuietly(b *testing.B, database string) *server {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	address := l.Addr().String()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		b.Fatal(err)
	}
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	s := launch(b, database, "GUIDON_LOG_LEVEL=warn", "GUIDON_SERVER_HTTP_PORT="+port)
	s.URL = "http://" + address
	s.answering(b)
	return s
}

// answering waits until the server answers. It tells nobody, so it is asked.
func (s *server) answering(b *testing.B) {
	b.Helper()
	end := time.After(patience)
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		a, err := s.call(b.Context(), "GET", "/health", nil)
		if err == nil && a.Status == http.StatusOK {
			return
		}
		select {
		case err := <-s.done:
			b.Fatalf("the server ended before it answered: %v\n%s", err, s.Log())
		case <-end:
			b.Fatalf("the server does not answer\n%s", s.Log())
		case <-again.C:
		}
	}
}
