package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// TestTLS: https enables TLS on both listeners (operations 2.2), and the commands
// reject an untrusted certificate.
func TestTLS(t *testing.T) {
	example := httptest.NewTLSServer(nil) // only for its certificate for 127.0.0.1
	defer example.Close()
	roots := x509.NewCertPool()
	roots.AddCert(example.Certificate())
	certificate := example.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	s := newShell(t)
	server := s.with(
		"GUIDON_SERVER_PROTOCOL=https", "GUIDON_SERVER_HTTPS_PORT=0",
		"GUIDON_SERVER_CERT_FILE="+s.file("cert.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]}))),
		"GUIDON_SERVER_CERT_KEY="+s.file("key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))),
	).serve()
	if !strings.HasPrefix(server.web, "https://127.0.0.1:") || !strings.HasPrefix(server.grpc, "grpcs://127.0.0.1:") {
		t.Fatalf("got addresses %s and %s", server.web, server.grpc)
	}
	authorities := s.file("ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: example.Certificate().Raw})))
	trust := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}

	web := http.Client{Transport: &http.Transport{TLSClientConfig: trust}}
	defer web.CloseIdleConnections()
	response, err := web.Get(server.web + "/health")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("health: got %s", response.Status)
	}

	conn, err := grpc.NewClient(strings.TrimPrefix(server.grpc, "grpcs://"), grpc.WithTransportCredentials(credentials.NewTLS(trust)))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := grpc_health_v1.NewHealthClient(conn).Check(t.Context(), new(grpc_health_v1.HealthCheckRequest)); err != nil {
		t.Errorf("gRPC health: %v", err)
	}

	for _, address := range []string{server.web, server.grpc} {
		s.fails(cli.ExitFailure, []string{"export", "-a", address}, "cannot trust the certificate of "+address, "signed by unknown authority", "--ca-file")
		s.ok("export", "-a", address, "--ca-file", authorities)
		s.with("GUIDON_CA_FILE="+authorities).ok("export", "-a", address)
		s.fails(cli.ExitFailure, []string{"export", "-a", strings.Replace(address, "127.0.0.1", "localhost", 1), "--ca-file", authorities}, "check the address, and the certificate")
	}
	s.fails(cli.ExitFailure, []string{"export", "-a", strings.Replace(server.web, "https", "http", 1)}, "uses TLS: use https:// instead of http://")
	for _, file := range []string{s.file("empty.pem", ""), filepath.Join(t.TempDir(), "none")} {
		s.fails(cli.ExitUsage, []string{"export", "-a", server.web, "--ca-file", file}, file)
	}
	plain := newShell(t).serve()
	for address, want := range map[string]string{
		strings.Replace(plain.web, "http", "https", 1):  "does not use TLS: use http:// instead of https://",
		strings.Replace(plain.grpc, "grpc", "grpcs", 1): "does not use TLS: use grpc:// instead of grpcs://",
	} {
		s.fails(cli.ExitFailure, []string{"export", "-a", address}, want)
	}
}
