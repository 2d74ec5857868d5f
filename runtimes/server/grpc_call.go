package server

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
)

// transportGRPC is the name of the transport in requests, logs and metrics.
const transportGRPC = "grpc"

// calls turns gRPC calls into operations of the handler.
type calls struct {
	handler        *handler.Handler
	codec          codec
	logger         *slog.Logger
	receiveTimeout time.Duration
	draining       chan struct{} // closed when streams must end
	running        atomic.Int64  // calls of operations in progress
	receiving      atomic.Int64  // calls that wait for their message
}

// method returns the gRPC method of the operation. It does not receive the message
// through grpc-go: [handler.Handler.Invoke] receives it from inbound after it has
// authenticated the caller.
func (c *calls) method(o *call.Operation) func(any, context.Context, func(any) error, grpc.UnaryServerInterceptor) (any, error) {
	layout := layoutOf(o.NewRequest())
	return func(_ any, ctx context.Context, _ func(any) error, _ grpc.UnaryServerInterceptor) (response any, err error) {
		c.running.Add(1)
		defer c.running.Add(-1)
		defer c.recoverAs(o.Name, &err) // calling the interceptor instead would allocate a closure
		return c.invoke(ctx, o, layout)
	}
}

func (c *calls) invoke(ctx context.Context, o *call.Operation, layout *layout) (any, error) {
	memory := c.handler.Budget()
	in := &inbound{
		calls: c, layout: layout, bodies: memory.Bodies.NewReservation(), decoded: memory.Messages.NewReservation(),
		turn: memory.Heavy.NewTurn(),
	}
	defer in.release()
	response, err := c.handler.Invoke(ctx, o, requestOf(ctx, o, in))
	if in.message != nil {
		o.Release(in.message)
	}
	if err == nil {
		in.response, err = c.codec.Marshal(response.Message)
		response.Release()
	}
	if err == nil {
		in.response, err = c.reserve(ctx, in.response)
	}
	// The header is sent only when the response is ready, so that both are sent together.
	sendHeader(ctx, response)
	if err != nil {
		return nil, statusOf(err)
	}
	return in, nil
}

// statusOf returns the gRPC status of an error. All operations convert their errors
// here. A status message must be valid UTF-8, and the error may quote caller input.
func statusOf(err error) error {
	code := codes.Code(call.GRPCCode(guidon.CodeOf(err)))
	return status.Error(code, strings.ToValidUTF8(guidon.PublicMessage(err), "\uFFFD"))
}

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
