package provider_test

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/logintest"
	"github.com/guidonhq/guidon/handler/login/provider"
)

func newClient(t *testing.T, c provider.Config) *provider.Client {
	t.Helper()
	if c.Name == "" {
		c.Name = "acme"
	}
	client, err := provider.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// tlsServer starts a provider with TLS, and returns its certificate authority as a file.
func tlsServer(t *testing.T, c *tls.Config) (server *httptest.Server, authority string) {
	t.Helper()
	server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{}`)) }))
	server.TLS = c
	server.Config.ErrorLog = discard()
	server.StartTLS()
	t.Cleanup(server.Close)
	block := &pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}
	return server, writeFile(t, pem.EncodeToMemory(block))
}

func writeFile(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.pem")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAuthorities(t *testing.T) {
	server, authority := tlsServer(t, nil)
	for _, test := range []struct {
		name, path string
		want       string // in the error
	}{
		{"its own", authority, ""},
		{"of the system, which does not know it", "", "certificate"},
		{"another", writeFile(t, otherAuthority(t)), "certificate"},
	} {
		t.Run(test.name, func(t *testing.T) {
			client := newClient(t, provider.Config{CAPath: test.path})
			_, err := client.Do(t.Context(), provider.Request{URL: server.URL})
			if test.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if guidon.CodeOf(err) != guidon.Unavailable || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an Unavailable error about the %s", err, test.want)
			}
		})
	}
}

func TestAuthorityFiles(t *testing.T) {
	for _, test := range []struct{ name, path, want string }{
		{"missing", filepath.Join(t.TempDir(), "none"), "no such file"},
		{"empty", writeFile(t, nil), "no certificate"},
		{"a key", writeFile(t, logintest.New("P-256", "").PEM()), "no certificate"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := provider.New(provider.Config{Name: "acme", CAPath: test.path})
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "invalid ca_path") {
				t.Errorf("got error %v, want one of ca_path that contains %q", err, test.want)
			}
		})
	}
}

func TestTLSVersion(t *testing.T) {
	for _, test := range []struct {
		name    string
		version uint16
		ok      bool
	}{
		{"1.1", tls.VersionTLS11, false}, {"1.2", tls.VersionTLS12, true}, {"1.3", tls.VersionTLS13, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			server, authority := tlsServer(t, &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: test.version}) // #nosec G402 -- to be rejected
			_, err := newClient(t, provider.Config{CAPath: authority}).Do(t.Context(), provider.Request{URL: server.URL})
			if ok := err == nil; ok != test.ok {
				t.Errorf("got error %v, want success: %v", err, test.ok)
			}
		})
	}
}

// TestConnectionsEnd: no connection, hence no goroutine of one, stays after a request.
func TestConnectionsEnd(t *testing.T) {
	closed := make(chan struct{}, 1)
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateClosed {
			closed <- struct{}{}
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	_, err := newClient(t, provider.Config{}).Do(t.Context(), provider.Request{URL: server.URL})
	if f, ok := errors.AsType[*provider.Failure](err); !ok || f.Status != http.StatusNotFound {
		t.Fatalf("got %v, want status 404", err)
	}
	select {
	case <-closed:
	case <-time.After(10 * time.Second):
		t.Error("the connection was kept open")
	}
}

// The environment of [TestChild].
const (
	childTarget    = "GUIDON_TEST_TARGET"
	childAuthority = "GUIDON_TEST_AUTHORITY"
)

// TestChild sends a request in a process of its own, for tests of the environment, which
// is read once. It prints the error.
func TestChild(t *testing.T) {
	target := os.Getenv(childTarget)
	if target == "" {
		t.Skip("runs within other tests")
	}
	client := newClient(t, provider.Config{CAPath: os.Getenv(childAuthority)})
	client.SetTimeout(2 * time.Second)
	_, err := client.Do(context.Background(), provider.Request{URL: target})
	t.Logf("error: %v", err)
}

// runChild runs [TestChild] with the environment and returns its output.
func runChild(t *testing.T, target string, environment ...string) string {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$", "-test.v") // #nosec G204 G702 -- this test
	child.Env = slices.Concat(os.Environ(), []string{childTarget + "=" + target}, environment)
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// TestAuthoritiesReplaceSystem: with a file, the authorities of the system do not count.
func TestAuthoritiesReplaceSystem(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems do not read SSL_CERT_FILE")
	}
	server, authority := tlsServer(t, nil)
	for _, test := range []struct{ name, path, want string }{
		{"of the system", "", "error: <nil>"},
		{"a file instead", writeFile(t, otherAuthority(t)), "certificate"},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := runChild(t, server.URL, "SSL_CERT_FILE="+authority, childAuthority+"="+test.path)
			if !strings.Contains(out, test.want) {
				t.Errorf("got %s, want %q", out, test.want)
			}
		})
	}
}

func TestProxy(t *testing.T) {
	for _, test := range []struct {
		name, noProxy string
		want          string
	}{
		{"used", "", "CONNECT provider.invalid:443"},
		{"not for this host", "provider.invalid", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			seen := make(chan string, 10)
			proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				seen <- r.Method + " " + r.Host
				w.WriteHeader(http.StatusForbidden)
			}))
			defer proxy.Close()
			out := runChild(t, "https://provider.invalid/", "HTTPS_PROXY="+proxy.URL, "NO_PROXY="+test.noProxy)
			if strings.Contains(out, "error: <nil>") {
				t.Errorf("got a response of a host that does not exist: %s", out)
			}
			close(seen)
			if got := <-seen; got != test.want {
				t.Errorf("the proxy got %q, want %q", got, test.want)
			}
		})
	}
}

func TestAttempts(t *testing.T) {
	client := newClient(t, provider.Config{})
	var leave func()
	for i := range provider.MaxAttempts {
		var err error
		if leave, err = client.Enter(); err != nil {
			t.Fatalf("attempt %d: %v", i, err)
		}
	}
	for range 2 {
		if _, err := client.Enter(); guidon.CodeOf(err) != guidon.Unavailable {
			t.Errorf("got %v, want Unavailable", err)
		}
	}
	leave()
	if _, err := client.Enter(); err != nil {
		t.Errorf("after one has left: %v", err)
	}
	if _, err := newClient(t, provider.Config{Name: "other"}).Enter(); err != nil {
		t.Errorf("another provider: %v", err)
	}
}
