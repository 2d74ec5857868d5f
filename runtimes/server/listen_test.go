package server_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/runtimes/server"
	"github.com/guidonhq/guidon/service"
)

// certificate writes a self-signed certificate for 127.0.0.1.
func certificate(t *testing.T) (files *server.TLS, roots *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "guidon test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	files = &server.TLS{CertFile: filepath.Join(t.TempDir(), "cert.pem"), KeyFile: filepath.Join(t.TempDir(), "key.pem")}
	for path, data := range map[string][]byte{files.CertFile: certPEM, files.KeyFile: keyPEM} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	roots = x509.NewCertPool()
	roots.AppendCertsFromPEM(certPEM)
	return files, roots
}

// Contract 1.1: HTTPS without HTTP/2, gRPC with the same certificate, TLS 1.2
// or newer on both.
func TestTLS(t *testing.T) {
	files, roots := certificate(t)
	in := start(t, func(s *settings) { s.server.TLS = files })

	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Get("https://" + in.httpAt.String() + "/health")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK || response.Proto != "HTTP/1.1" {
		t.Errorf("got %d over %s, want 200 over HTTP/1.1", response.StatusCode, response.Proto)
	}

	conn := in.dial(grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: roots})))
	if _, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{}); err != nil {
		t.Errorf("gRPC over TLS: %v", err)
	}

	for name, address := range map[string]net.Addr{"HTTP": in.httpAt, "gRPC": in.grpcAt} {
		old := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11, NextProtos: []string{"h2"}}
		if conn, err := tls.Dial("tcp", address.String(), old); err == nil {
			_ = conn.Close()
			t.Errorf("the %s listener accepts TLS 1.1", name)
		}
	}
}

// Errors that prevent the start are returned before anything is served. They name the
// address or file and the configuration key.
func TestStartErrors(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	const free = "127.0.0.1:0"
	start := func(config server.Config) error {
		config.Handler, config.Health = handler.New(handler.Config{}), server.NewHealth()
		config.OnReady = func(net.Addr, net.Addr) { t.Error("OnReady is called") }
		return server.Run(t.Context(), config)
	}
	run := func(http, grpc string, files *server.TLS, loops ...server.Loop) error {
		return start(server.Config{TLS: files, Loops: loops, HTTP: server.HTTP{Address: http}, GRPC: server.GRPC{Address: grpc}})
	}
	tests := []struct {
		name string
		err  error
		want []string
	}{
		{"HTTP port taken", run(taken.Addr().String(), free, nil), []string{taken.Addr().String(), "server.http_port"}},
		{"gRPC port taken", run(free, taken.Addr().String(), nil), []string{taken.Addr().String(), "server.grpc_port"}},
		{"diagnostics port taken", start(server.Config{
			HTTP: server.HTTP{Address: free}, GRPC: server.GRPC{Address: free}, DiagnosticsAddress: taken.Addr().String(),
		}), []string{taken.Addr().String(), "server.diagnostics_address"}},
		{"no certificate", run(free, free, &server.TLS{CertFile: "absent.pem", KeyFile: "absent.key"}),
			[]string{"server.cert_file", "server.cert_key", "absent.pem"}},
		{"a loop without an interval", run(free, free, nil, server.Loop{Name: "cleanup"}), []string{"cleanup"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, want := range test.want {
				if test.err == nil || !strings.Contains(test.err.Error(), want) {
					t.Errorf("got %v, want an error with %q", test.err, want)
				}
			}
		})
	}
}

// Contract 1.1: the size of the header block is limited.
func TestHTTPHeaderLimit(t *testing.T) {
	in := start(t, nil)
	for size, want := range map[int]int{1 << 10: http.StatusOK, 1<<20 + 1<<13: http.StatusRequestHeaderFieldsTooLarge} {
		request, err := http.NewRequestWithContext(t.Context(), "GET", in.http+"/health", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Large", strings.Repeat("x", size))
		response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("a header of %d bytes: %d, want %d", size, response.StatusCode, want)
		}
	}
}

// TestGRPCFromBrowser checks that a web page cannot call the gRPC port, not even over
// TLS, where browsers speak HTTP/2. Preflight requests fail, and so do requests with the
// content types that need no preflight.
func TestGRPCFromBrowser(t *testing.T) {
	files, roots := certificate(t)
	in := start(t, func(s *settings) { s.server.TLS = files })
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	for _, test := range []struct{ method, contentType string }{
		{"OPTIONS", ""}, {"POST", ""}, {"POST", "text/plain"}, {"POST", "application/x-www-form-urlencoded"}, {"POST", "multipart/form-data; boundary=x"},
	} {
		// A CreateNamespaceRequest with the key "x" in gRPC framing.
		body := strings.NewReader("\x00\x00\x00\x00\x06\x0a\x01x\x12\x01x")
		request, err := http.NewRequestWithContext(t.Context(), test.method, "https://"+in.grpcAt.String()+"/flipt.Flipt/CreateNamespace", body)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Origin", "https://evil.example")
		if test.contentType != "" {
			request.Header.Set("Content-Type", test.contentType)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.ProtoMajor != 2 || response.StatusCode < 400 || response.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s %s: %s %d %v", test.method, test.contentType, response.Proto, response.StatusCode, response.Header)
		}
	}
	if _, err := in.service.View(t.Context(), "x", service.Demand{}); err == nil {
		t.Error("a page has created a namespace")
	}
}
