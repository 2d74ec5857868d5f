package server

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
)

// transportGRPC is the name of the transport in requests, logs and metrics.
const transportGRPC = "grpc"

// calls turns gRPC calls into operations of the handler.
type calls struct {
	handler        *handler.Handler
	metrics        *Metrics // may be nil
	logger         *slog.Logger
	receiveTimeout time.Duration
	draining       chan struct{} // closed when streams must let go
}

// method returns the gRPC method of the operation. All of its work, and the
// answer, is that of [handler.Handler.Invoke]; only what fails before a message
// is there to invoke it with is answered here.
func (c *calls) method(o *handler.Operation) func(any, context.Context, func(any) error, grpc.UnaryServerInterceptor) (any, error) {
	return func(_ any, ctx context.Context, receive func(any) error, guard grpc.UnaryServerInterceptor) (any, error) {
		info := &grpc.UnaryServerInfo{Server: c, FullMethod: o.Name}
		return guard(ctx, nil, info, func(ctx context.Context, _ any) (any, error) {
			return c.invoke(ctx, o, receive)
		})
	}
}

func (c *calls) invoke(ctx context.Context, o *handler.Operation, receive func(any) error) (any, error) {
	start := time.Now()
	in := &inbound{message: o.NewRequest()}
	err := within(c.receiveTimeout, func() error { return receive(in) })
	if err == nil && in.err != nil {
		err = in.err
	}
	if err != nil {
		return nil, c.refuse(ctx, o, err, time.Since(start))
	}
	response, err := c.handler.Invoke(ctx, o, requestOf(ctx, in))
	setHeader(ctx, response)
	if err != nil {
		return nil, statusOf(err)
	}
	return response.Message, nil
}

// requestOf returns the request with the metadata that the handler looks at
// (contract 12).
func requestOf(ctx context.Context, in *inbound) handler.Request {
	md, _ := metadata.FromIncomingContext(ctx)
	return handler.Request{
		Authorization: md.Get("authorization"),
		Cookie:        append(md.Get("grpcgateway-cookie"), md.Get("cookie")...),
		IfMatch:       strings.Join(md.Get("if-match"), ","),
		IfNoneMatch:   strings.Join(append(md.Get("grpcgateway-if-none-match"), md.Get("if-none-match")...), ","),
		ClientVersion: first(md.Get("x-flipt-accept-server-version")),
		CacheControl:  strings.Join(md.Get("cache-control"), ","),
		MinRevision:   strings.Join(md.Get("guidon-min-revision"), ","),
		RequestID:     first(md.Get("x-request-id")),
		Transport:     transportGRPC,
		Message:       in.message,
	}
}

// setHeader sends what HTTP answers in its headers. The only error it could
// have is that the caller is gone.
func setHeader(ctx context.Context, response handler.Response) {
	header := metadata.MD{}
	if response.RequestID != "" {
		header.Set("x-request-id", response.RequestID)
	}
	if response.Revision != 0 {
		header.Set("guidon-revision", strconv.FormatInt(response.Revision, 10))
	}
	if response.ETag != "" {
		header.Set("x-etag", response.ETag)
	}
	if response.NotModified {
		header.Set("x-http-code", "304")
	}
	if stale := handler.StaleSeconds(response.Stale); stale != "" {
		header.Set("guidon-stale", stale)
	}
	_ = grpc.SetHeader(ctx, header)
}

// statusOf returns the gRPC status of an error: the transport's one place where
// codes become statuses. A status message must be valid UTF-8, and may quote
// what the caller sent.
func statusOf(err error) error {
	code := codes.Code(handler.GRPCCode(guidon.CodeOf(err)))
	return status.Error(code, strings.ToValidUTF8(guidon.PublicMessage(err), "\uFFFD"))
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}
