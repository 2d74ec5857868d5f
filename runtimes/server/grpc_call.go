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
	logger         *slog.Logger
	receiveTimeout time.Duration
	draining       chan struct{} // closed when streams must let go
	running        atomic.Int64  // calls of operations in progress
	receiving      atomic.Int64  // those that wait for their message
}

// method returns the gRPC method of the operation. It does not use grpc-go's way to
// receive the message: [handler.Handler.Invoke] has it received, by inbound, when it
// knows who calls.
func (c *calls) method(o *handler.Operation) func(any, context.Context, func(any) error, grpc.UnaryServerInterceptor) (any, error) {
	layout := layoutOf(o.NewRequest())
	return func(_ any, ctx context.Context, _ func(any) error, _ grpc.UnaryServerInterceptor) (response any, err error) {
		c.running.Add(1)
		defer c.running.Add(-1)
		defer c.recoverAs(o.Name, &err) // what the interceptor does, for whom it would make a closure
		return c.invoke(ctx, o, layout)
	}
}

func (c *calls) invoke(ctx context.Context, o *handler.Operation, layout *layout) (any, error) {
	memory := c.handler.Budget()
	in := &inbound{calls: c, layout: layout, bodies: memory.Bodies.NewReservation(), decoded: memory.Messages.NewReservation()}
	defer in.release()
	response, err := c.handler.Invoke(ctx, o, requestOf(ctx, in))
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
