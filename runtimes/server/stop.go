package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/guidonhq/guidon/internal/clock"
)

// loopTimeout limits how long the stop waits for loops after it has canceled them.
// They have nothing to drain.
const loopTimeout = 5 * time.Second

// errAborted is the cause if [Config.Abort] ends the stop early.
var errAborted = errors.New("shutdown was cut short")

// stop ends everything, in the order that Run documents. The error lists the parts that
// had to be aborted.
func (s *runningServer) stop(loops *runningLoops, accepted <-chan struct{}, delay bool) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go func() {
		select {
		case <-s.config.Abort:
			cancel(errAborted)
		case <-ctx.Done():
		}
	}()

	s.open.http.beginStop() // first, so that responses announce the stop before health does
	s.config.Health.stop()
	s.config.Logger.Info("stopping", "delay", s.config.ShutdownDelay, "timeout", s.config.ShutdownTimeout)
	if delay && s.config.ShutdownDelay > 0 {
		s.handOverGRPC(ctx)
		_ = clock.Sleep(ctx, s.config.ShutdownDelay) // or until ctx ends
	}
	drained := s.drain(ctx, accepted)

	loopsCtx, cancelLoops := context.WithTimeout(ctx, loopTimeout)
	defer cancelLoops()
	return errors.Join(drained, loops.stop(loopsCtx))
}

// drain lets requests in progress finish on both listeners concurrently, and aborts
// those that remain at the timeout.
func (s *runningServer) drain(ctx context.Context, accepted <-chan struct{}) error {
	timeout := s.config.ShutdownTimeout
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("not finished within %s", clock.Text(timeout)))
	defer cancel()
	close(s.calls.draining)
	s.config.Streams.End() // they would not end by themselves

	grpcCut := make(chan error, 1)
	go func() { grpcCut <- s.drainGRPC(ctx) }()
	return errors.Join(s.drainHTTP(ctx, accepted), <-grpcCut)
}

func (s *runningServer) drainHTTP(ctx context.Context, accepted <-chan struct{}) error {
	var cut error
	if cause := s.open.http.drain(ctx, accepted); cause != nil {
		if n := s.open.http.inProgress(); n > 0 {
			cut = fmt.Errorf("aborted HTTP requests (%d): %w", n, cause)
		}
		s.open.http.stop.cut.Store(true)
		s.open.http.closeDetached()
	}
	return errors.Join(cut, s.http.Close())
}

// drainGRPC drains the server that still accepts connections. It waits for that one
// and for the one that it took over from.
func (s *runningServer) drainGRPC(ctx context.Context) error {
	last := s.grpc[len(s.grpc)-1]
	s.open.grpc.StartClosing()
	go last.drain(ctx)
	var cut error
	for _, g := range s.grpc {
		select {
		case <-g.drained:
		case <-ctx.Done():
			if cut == nil {
				cut = fmt.Errorf("aborted gRPC requests (%d): %w", s.calls.running.Load(), context.Cause(ctx))
			}
			g.server.Stop()
		}
	}
	return cut
}
