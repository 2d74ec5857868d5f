package server

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// loopTimeout bounds how long the stop waits for loops after it has told them
// to end. They have nothing to drain.
const loopTimeout = 5 * time.Second

// errAborted is the end of the time for a stop that [Config.Abort] cuts short.
var errAborted = errors.New("the stop was cut short")

// stop ends everything, in the order that Run promises, and returns what had to
// be cut.
func (s *serving) stop(loops *loopGroup, delay bool) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go func() {
		select {
		case <-s.config.Abort:
			cancel(errAborted)
		case <-ctx.Done():
		}
	}()

	s.config.Health.stop()
	s.config.Logger.Info("stopping", "delay", s.config.ShutdownDelay, "timeout", s.config.ShutdownTimeout)
	if delay {
		wait(ctx, s.config.ShutdownDelay)
	}
	drained := s.drain(ctx)

	bound, release := context.WithTimeout(ctx, loopTimeout)
	defer release()
	return errors.Join(drained, loops.stop(bound))
}

// drain lets requests under way finish on both listeners at once, and cuts what
// is left when the bound is reached.
func (s *serving) drain(ctx context.Context) error {
	timeout := s.config.ShutdownTimeout
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("they had %s to finish", timeout))
	defer cancel()
	close(s.calls.draining)
	s.config.Streams.End() // they would not finish by themselves

	grpcCut := make(chan error, 1)
	go func() { grpcCut <- s.drainGRPC(ctx) }()
	return errors.Join(s.drainHTTP(ctx), <-grpcCut)
}

func (s *serving) drainHTTP(ctx context.Context) error {
	if err := s.http.Shutdown(ctx); err == nil {
		return nil
	}
	err := fmt.Errorf("HTTP requests were cut: %w", context.Cause(ctx))
	return errors.Join(err, s.http.Close())
}

func (s *serving) drainGRPC(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		s.grpc.GracefulStop()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		s.grpc.Stop()
		return fmt.Errorf("gRPC requests were cut: %w", context.Cause(ctx))
	}
}

// wait returns after the duration, or when ctx ends.
func wait(ctx context.Context, duration time.Duration) {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
