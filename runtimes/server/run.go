// Package server runs the handler as a long-running process: the HTTP and gRPC
// listeners (contract 1.1), health, metrics, background loops, and the graceful
// stop that ends all of them.
//
// gRPC is built from the operations table of package handler, so that neither
// transport can have a call or a check that the other lacks. [Run] starts everything, and
// waits for everything to end before it returns.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"sync"
)

// Run listens, serves until ctx ends, and returns when everything that it started has
// ended. Only loops that ignore their context may still be running then.
//
// The stop takes these steps:
//
//  1. Health turns to not serving, and clients are told to close their connections:
//     by "Connection: close" with each response over HTTP, by GOAWAY over gRPC. During
//     the ShutdownDelay, requests and new connections are accepted as before.
//  2. The listeners accept the connections that the kernel has completed, and close.
//     Event streams end, idle connections are closed, and requests in progress may
//     finish within the ShutdownTimeout, after which they are aborted.
//  3. The loops end, and the diagnostics listener closes.
//
// If a listener fails, the stop starts too, without the delay.
//
// Run returns nil if no listener failed, no request was aborted and all loops have
// ended. If it returns an error before it calls OnReady, no request was served.
func Run(ctx context.Context, config Config) error {
	config, err := config.withDefaults()
	if err != nil {
		return err
	}
	tlsSettings, err := tlsConfig(config.TLS)
	if err != nil {
		return err
	}
	open, err := listen(ctx, config)
	if err != nil {
		return err
	}
	s := newRunningServer(config, tlsSettings, open)
	return s.run(ctx)
}

// runningServer is a server that listens.
type runningServer struct {
	config Config
	tls    *tls.Config // nil = plaintext
	open   listeners
	calls  *calls
	http   *http.Server
	grpc   []*grpcServer // a second one takes over when the stop starts

	grpcConns *grpcConns     // of all gRPC servers
	running   sync.WaitGroup // goroutines that serve a listener or measure the delay
	failed    chan error     // receives the errors of failed listeners

	diagnostics *http.Server // serves only if its listener is open
}

func newRunningServer(config Config, tlsSettings *tls.Config, open listeners) *runningServer {
	return &runningServer{
		config:      config,
		tls:         tlsSettings,
		open:        open,
		http:        newHTTPServer(config, tlsSettings, open.http),
		grpcConns:   newGRPCConns(config.GRPC.MaxConnections, config.HTTP.WriteTimeout),
		failed:      make(chan error, 4), // room for an error of each server
		diagnostics: newDiagnosticsServer(config),
		calls: &calls{
			handler:        config.Handler,
			codec:          newCodec(config.Logger),
			logger:         config.Logger,
			receiveTimeout: config.GRPC.ReceiveTimeout,
			draining:       make(chan struct{}),
		},
	}
}

// run serves on the open listeners until the stop has ended.
func (s *runningServer) run(ctx context.Context) error {
	// The end of ctx must not end the loops: they continue while requests drain.
	loops := startLoops(context.WithoutCancel(ctx), s.config.Loops, s.config.Logger)
	measuring, endMeasuring := context.WithCancel(context.WithoutCancel(ctx))
	if s.config.Delay != nil {
		s.running.Go(func() { s.config.Delay.measure(measuring) })
	}
	accepted := s.serve("HTTP", func() error { return serveHTTP(s.http, s.open.http) })
	s.grpc = []*grpcServer{s.serveGRPC()}
	if s.open.diagnostics != nil {
		s.serve("diagnostics", func() error { return serveHTTP(s.diagnostics, s.open.diagnostics) })
		s.config.Logger.Info("serving diagnostics", "address", "http://"+s.open.diagnostics.Addr().String())
	}
	s.config.Health.SetServing(true)
	if s.config.OnReady != nil {
		s.config.OnReady(s.open.http.Addr(), s.open.grpc.Addr())
	}

	var failure error
	select {
	case <-ctx.Done():
	case <-s.config.Abort:
	case failure = <-s.failed:
	}
	problems := []error{failure, s.stop(loops, accepted, failure == nil), s.diagnostics.Close()}
	endMeasuring()
	s.running.Wait()
	close(s.failed)
	for further := range s.failed {
		problems = append(problems, further)
	}
	return errors.Join(problems...)
}

// serve runs the function in a goroutine. The channel is closed when it has returned.
func (s *runningServer) serve(listener string, serve func() error) chan struct{} {
	ended := make(chan struct{})
	s.running.Go(func() {
		defer close(ended)
		if err := serve(); err != nil {
			s.failed <- fmt.Errorf("the %s listener failed: %w", listener, err)
		}
	})
	return ended
}
