package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"

	"golang.org/x/net/netutil"

	"github.com/guidonhq/guidon/runtimes/server/tcp"
)

// listeners are the open ports.
type listeners struct {
	http        *httpListener
	grpc        *tcp.Listener
	diagnostics net.Listener // nil if there is none
}

// listen opens all ports, or none. The error names the address and the
// configuration keys that set it.
func listen(ctx context.Context, config Config) (listeners, error) {
	httpKey := "server.http_port"
	if config.TLS != nil {
		httpKey = "server.https_port"
	}
	forHTTP, err := listenOn(ctx, config.HTTP.Address, "server.host, "+httpKey)
	if err != nil {
		return listeners{}, err
	}
	forGRPC, err := listenOn(ctx, config.GRPC.Address, "server.host, server.grpc_port")
	if err != nil {
		return listeners{}, errors.Join(err, forHTTP.Close())
	}
	open := listeners{http: newHTTPListener(forHTTP, config), grpc: forGRPC}
	if config.DiagnosticsAddress != "" {
		forDiagnostics, err := listenOn(ctx, config.DiagnosticsAddress, "server.diagnostics_address")
		if err != nil {
			return listeners{}, errors.Join(err, forHTTP.Close(), forGRPC.Close())
		}
		open.diagnostics = netutil.LimitListener(forDiagnostics, diagnosticsConnections)
	}
	return open, nil
}

// listenOn opens a port. keys names the configuration keys that set the address. The
// port does not use Multipath TCP, whose sockets have no filters; see [tcp.NewListener].
func listenOn(ctx context.Context, address, keys string) (*tcp.Listener, error) {
	var config net.ListenConfig
	config.SetMultipathTCP(false)
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s (%s): %w", address, keys, err)
	}
	return tcp.NewListener(listener.(*net.TCPListener)), nil // its type for "tcp"
}

// tlsConfig returns the TLS settings that both listeners are based on, or nil for
// plaintext. They allow TLS 1.2 or newer and, for 1.2, only ECDHE with GCM
// (contract 1.1, operations 2.2).
func tlsConfig(files *TLS) (*tls.Config, error) {
	if files == nil {
		return nil, nil
	}
	certificate, err := tls.LoadX509KeyPair(files.CertFile, files.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("cannot load the certificate (server.cert_file %q, server.cert_key %q): %w",
			files.CertFile, files.KeyFile, err)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{certificate},
		MinVersion:   tls.VersionTLS12,
		CipherSuites: []uint16{
			tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
			tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
			tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
			tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
		},
	}, nil
}
