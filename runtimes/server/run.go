package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"google.golang.org/grpc"
)

// Run listens, serves until ctx ends, and returns when everything that it
// started has ended.
//
// The stop takes these steps: health turns to not serving; requests are still
// accepted for the ShutdownDelay; the listeners close, event streams end, and
// requests under way may finish within the ShutdownTimeout, after which they are
// cut; the loops end; the listener for diagnostics closes. A listener that fails begins the stop too, without the delay.
//
// The result is nil after a stop in which nothing had to be cut. An error before
// OnReady means that nothing was served.
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
	s := newServing(config)
	s.http = newHTTPServer(config, tlsSettings)
	s.grpc = newGRPCServer(config, tlsSettings, s.calls)
	s.diagnostics = newDiagnosticsServer(config)
	return s.run(ctx, open)
}

// serving is a server while it runs.
type serving struct {
	config Config
	calls  *calls
	http   *http.Server
	grpc   *grpc.Server
	failed chan error // what the listeners ended with, nil when as told

	diagnostics *http.Server // serves only if its listener is open
}

func newServing(config Config) *serving {
	return &serving{
		config: config,
		failed: make(chan error, 3),
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
func (s *serving) run(ctx context.Context, open listeners) error {
	// Loops go on while requests drain, so their end is not that of ctx.
	loops := startLoops(context.WithoutCancel(ctx), s.config.Loops, s.config.Logger)
	go func() { s.failed <- named("HTTP", serveHTTP(s.http, open.http)) }()
	go func() { s.failed <- named("gRPC", serveGRPC(s.grpc, open.grpc)) }()
	serving := 2
	if open.diagnostics != nil {
		serving++
		go func() { s.failed <- named("diagnostics", serveHTTP(s.diagnostics, open.diagnostics)) }()
		s.config.Logger.Info("serving diagnostics", "address", "http://"+open.diagnostics.Addr().String())
	}
	s.config.Health.SetServing(true)
	if s.config.OnReady != nil {
		s.config.OnReady(open.http.Addr(), open.grpc.Addr())
	}

	ended := 0
	var failure error
	select {
	case <-ctx.Done():
	case <-s.config.Abort:
	case failure = <-s.failed:
		ended++
	}
	problems := []error{failure, s.stop(loops, failure == nil), s.diagnostics.Close()}
	for ; ended < serving; ended++ {
		problems = append(problems, <-s.failed)
	}
	return errors.Join(problems...)
}

func named(listener string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the %s listener failed: %w", listener, err)
}
