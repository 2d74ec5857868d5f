package server

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
)

// transportGRPC is the name of the transport in requests, logs and metrics.
const transportGRPC = "grpc"

// calls turns gRPC calls into operations of the handler.
type calls struct {
	handler        *handler.Handler
	codec          codec
	metrics        *Metrics // may be nil
	logger         *slog.Logger
	receiveTimeout time.Duration
	draining       chan struct{} // closed when streams must let go
	running        atomic.Int64  // calls of operations in progress
}

// method returns the gRPC method of the operation. All of its work, and the
// answer, is that of [handler.Handler.Invoke]; only what fails before a message
// is there to invoke it with is answered here.
func (c *calls) method(o *handler.Operation) func(any, context.Context, func(any) error, grpc.UnaryServerInterceptor) (any, error) {
	return func(_ any, ctx context.Context, receive func(any) error, _ grpc.UnaryServerInterceptor) (answer any, err error) {
		c.running.Add(1)
		defer c.running.Add(-1)
		defer c.recoverAs(o.Name, &err) // what the interceptor does, for whom it would make a closure
		return c.invoke(ctx, o, receive)
	}
}

func (c *calls) invoke(ctx context.Context, o *handler.Operation, receive func(any) error) (any, error) {
	in := &inbound{message: o.NewRequest()}
	if err := c.receive(ctx, o, in, receive); err != nil {
		return nil, err
	}
	response, err := c.handler.Invoke(ctx, o, requestOf(ctx, in))
	o.Release(in.message)
	in.release()
	if err == nil {
		in.answer, err = c.codec.Marshal(response.Message)
		response.Release()
	}
	// The header goes when the answer is there, so that both leave at once.
	sendHeader(ctx, response)
	if err != nil {
		return nil, statusOf(err)
	}
	return in, nil
}

// statusOf returns the gRPC status of an error: the transport's one place where
// codes become statuses. A status message must be valid UTF-8, and may quote
// what the caller sent.
func statusOf(err error) error {
	code := codes.Code(handler.GRPCCode(guidon.CodeOf(err)))
	return status.Error(code, strings.ToValidUTF8(guidon.PublicMessage(err), "\uFFFD"))
}
