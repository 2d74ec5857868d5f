package handler

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// attributeHandler is a [slog.Handler] that can do without a record, which would
// allocate memory for as many attributes as our events have.
type attributeHandler interface {
	slog.Handler
	HandleAttributes(ctx context.Context, at time.Time, level slog.Level, message string, attributes []slog.Attr) error
}

// logEvent logs an event whose attributes are appended by describe. It is not done
// by the logger's own method, which would find out on which line this is.
func logEvent(ctx context.Context, logger *slog.Logger, level slog.Level, message string, describe func([]slog.Attr) []slog.Attr) {
	buffer := attributeBuffers.Get().(*[]slog.Attr)
	attributes := describe((*buffer)[:0])
	switch h := logger.Handler().(type) { // whose errors nobody could be told
	case attributeHandler:
		_ = h.HandleAttributes(ctx, time.Now(), level, message, attributes)
	default:
		record := slog.NewRecord(time.Now(), level, message, 0)
		record.AddAttrs(attributes...)
		_ = h.Handle(ctx, record)
	}
	clear(attributes)
	*buffer = attributes
	attributeBuffers.Put(buffer)
}

// attributeBuffers are where attributes are put together.
var attributeBuffers = sync.Pool{New: func() any { return new(make([]slog.Attr, 0, 16)) }}
