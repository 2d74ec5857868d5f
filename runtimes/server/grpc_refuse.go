package server

import (
	"context"
	"log/slog"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
)

// refuse returns the status for a call whose message did not arrive, did not
// decode or is too large, and does for it what Invoke does for the others: it
// logs and counts it. The text of the error stays out of the log, as it may
// repeat what the client sent.
func (c *calls) refuse(ctx context.Context, o *handler.Operation, err error, duration time.Duration) error {
	err = asOwnError(err)
	code := guidon.CodeOf(err)
	id := guidon.NewRequestID()
	c.logger.LogAttrs(ctx, slog.LevelInfo, "request",
		slog.String("request_id", id),
		slog.String("operation", o.Name),
		slog.String("transport", transportGRPC),
		slog.String("code", code.Error()),
		slog.Duration("duration", duration),
		slog.String("error", "the request could not be decoded"))
	if c.metrics != nil {
		c.metrics.Finished(o.Name, transportGRPC, code, duration)
	}
	sendHeader(ctx, handler.Response{RequestID: id})
	return statusOf(err)
}

// asOwnError turns a status that grpc-go made while it received a message into
// an error of ours. What is not about size or time is a breach of the protocol
// by the client: no message, or several.
func asOwnError(err error) error {
	s, ok := status.FromError(err)
	if !ok {
		return err
	}
	code := guidon.InvalidArgument
	switch s.Code() {
	case codes.ResourceExhausted:
		code = guidon.TooLarge
	case codes.Canceled:
		code = guidon.Canceled
	case codes.DeadlineExceeded:
		code = guidon.DeadlineExceeded
	case codes.Unavailable:
		code = guidon.Unavailable
	}
	return &guidon.Error{Code: code, Message: s.Message()}
}
