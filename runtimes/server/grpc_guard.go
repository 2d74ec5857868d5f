package server

import (
	"context"
	"fmt"
	"runtime/debug"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/guidonhq/guidon"
)

// guardUnary turns a panic into an internal error. Invoke recovers from panics itself.
func (c *calls) guardUnary(ctx context.Context, request any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (_ any, err error) {
	defer c.recoverAs(info.FullMethod, &err)
	return next(ctx, request)
}

// guardStream does the same for the streams of health and reflection, and ends them when
// the server drains.
func (c *calls) guardStream(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
	defer c.recoverAs(info.FullMethod, &err)
	return next(server, &endingStream{ServerStream: stream, calls: c})
}

func (c *calls) recoverAs(method string, err *error) {
	if p := recover(); p != nil {
		c.logger.Error("grpc call panicked", "operation", method, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		*err = status.Error(codes.Internal, guidon.Internal.Error())
	}
}

// endingStream is a stream whose reads end when the server drains. Without it, an idle
// reflection client would delay a graceful stop until the timeout.
type endingStream struct {
	grpc.ServerStream
	calls *calls
}

// RecvMsg receives the next message of the client, or returns Unavailable when the
// server drains. In that case a goroutine is left behind for a moment: the caller then
// returns from the gRPC method, which ends the stream and with it the read.
func (s *endingStream) RecvMsg(m any) error {
	done := make(chan error, 1)
	go func() { done <- s.ServerStream.RecvMsg(m) }()
	select {
	case err := <-done:
		return err
	case <-s.calls.draining:
		return status.Error(codes.Unavailable, "the server is stopping")
	}
}
