package client

import (
	"context"

	"github.com/guidonhq/guidon/handler/call"
)

type messageKey struct{}

// WithMessage returns a context whose writes have the message in their change records.
func WithMessage(ctx context.Context, message string) context.Context {
	return context.WithValue(ctx, messageKey{}, call.EncodeMessage(message))
}

// message returns the Guidon-Message header for the context, or "".
func message(ctx context.Context) string {
	value, _ := ctx.Value(messageKey{}).(string)
	return value
}

type dryRunKey struct{}

// WithDryRun returns a context whose writes are checked and answered, and not stored. A server
// that does not know dry runs stores them: its /meta/info has no dryRun.
func WithDryRun(ctx context.Context) context.Context {
	return context.WithValue(ctx, dryRunKey{}, "true")
}

// dryRun returns the Guidon-Dry-Run header for the context, or "".
func dryRun(ctx context.Context) string {
	value, _ := ctx.Value(dryRunKey{}).(string)
	return value
}
