package main

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// TestHealth checks servers that are serving, servers that are not, and servers of
// other programs.
func TestHealth(t *testing.T) {
	serving := newShell(t).serve()
	tests := []struct {
		name    string
		handler http.HandlerFunc
		timeout string
		want    string // of the error
	}{
		{"a stopping server", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, "1m", "stopping, or not ready"},
		{"another program that returns 200 for everything", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("welcome")) }, "1m", "is this a Guidon server?"},
		{"a redirect to a server that serves", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, serving.web+"/health", http.StatusFound)
		}, "1m", "302 Found"},
		{"a response that never arrives", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "50ms", "no response within 50ms"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			other := httptest.NewServer(test.handler)
			defer other.Close()
			newShell(t).fails(cli.ExitFailure, []string{"health", "-a", other.URL, "--timeout", test.timeout}, other.URL+" is not serving", test.want)
		})
	}

	if got, want := newShell(t).ok("health", "--address", serving.web+"/"), "serving\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	serving.wait(cli.ExitOK)
	newShell(t).fails(cli.ExitFailure, []string{"health", "-a", serving.web}, "refused")
}

// TestHealthOfOwnServer: the configuration of a server is sufficient to check it, also
// with TLS and a certificate for any name.
func TestHealthOfOwnServer(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"status":"SERVING"}`)) })
	plain, secure := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	defer plain.Close()
	defer secure.Close()
	s := newShell(t)
	// The check runs every few seconds, so it must not fetch the secrets.
	s.with("GUIDON_SERVER_HTTP_PORT="+port(t, plain), "GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN=aws-sm://not-fetched").ok("health")
	key := s.file("key.pem", "not read")
	s.with("GUIDON_SERVER_PROTOCOL=https", "GUIDON_SERVER_CERT_FILE="+key, "GUIDON_SERVER_CERT_KEY="+key,
		"GUIDON_SERVER_HTTPS_PORT="+port(t, secure)).ok("health")

	s.fails(cli.ExitFailure, []string{"health", "-a", secure.URL}, "certificate")
	s.with("GUIDON_SERVER_HTTP_PORT=0").fails(cli.ExitUsage, []string{"health"}, "any free port")
	s.fails(cli.ExitUsage, []string{"health", "-a", "grpc://127.0.0.1:9000"}, "http://host:8080")
	s.fails(cli.ExitUsage, []string{"health", "-a", "http://me:secret@127.0.0.1"}, "without user")
	s.fails(cli.ExitUsage, []string{"health", "--timeout", "0s"}, "more than 0")
}

func port(t *testing.T, s *httptest.Server) string {
	t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u.Port()
}
