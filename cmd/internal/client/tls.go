package client

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxCAFile limits a file of certificates, in bytes.
const maxCAFile = 4 << 20

// TLS returns the TLS configuration of the options, or nil for the default.
func (o Options) TLS() (*tls.Config, error) {
	if o.CAFile == "" {
		return nil, nil
	}
	file, err := os.Open(o.CAFile)
	if err != nil {
		return nil, fmt.Errorf("cannot read the certificates of authorities: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxCAFile+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the certificates of authorities: %w", err)
	}
	pool := x509.NewCertPool()
	if len(text) > maxCAFile || !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s: must be a PEM file of at most 4 MiB with at least one certificate", o.CAFile)
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

// What errors contain about TLS handshakes and other protocols, over HTTP and over gRPC.
const (
	notVerified = "failed to verify certificate: "
	notTLS      = "first record does not look like a TLS handshake"
	httpNotTLS  = "server gave HTTP response to HTTPS client"
	isGRPCPort  = `malformed HTTP response "\x00\x00` // the first frame of HTTP/2
	isHTTPPort  = "the frame header looked like an HTTP/1.1 header"
)

// handshakeError returns the error for a call to the address that failed with the text, or nil
// unless the TLS handshake failed or the port has another protocol. Another attempt would fail,
// too.
func handshakeError(address, text string) error {
	if _, reason, ok := strings.Cut(text, notVerified); ok {
		reason, _, _ = strings.Cut(reason, `"`) // gRPC quotes it
		advice := "if its authority is one of your own, name the authority's certificate with --ca-file or GUIDON_CA_FILE"
		if !strings.Contains(reason, "unknown authority") {
			advice = "check the address, and the certificate of the server"
		}
		return fmt.Errorf("cannot trust the certificate of %s: %s; %s", address, strings.TrimPrefix(reason, "x509: "), advice)
	}
	scheme, host, _ := strings.Cut(address, "://")
	plain := strings.TrimSuffix(scheme, "s")
	suffix := scheme[len(plain):]
	switch {
	case strings.Contains(text, notTLS), strings.Contains(text, httpNotTLS):
		return fmt.Errorf("%s does not use TLS: use %s:// instead of %s://", address, plain, scheme)
	case strings.Contains(text, isGRPCPort):
		return fmt.Errorf("%s is a port for gRPC: use grpc%s://%s, or the port for HTTP", address, suffix, host)
	case strings.Contains(text, isHTTPPort):
		return fmt.Errorf("%s is a port for HTTP: use http%s://%s, or the port for gRPC", address, suffix, host)
	}
	return nil
}
