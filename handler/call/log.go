package call

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// attributeHandler is a [slog.Handler] that also accepts attributes without a record.
// With as many attributes as our events have, a record would allocate memory.
type attributeHandler interface {
	slog.Handler
	HandleAttributes(ctx context.Context, at time.Time, level slog.Level, message string, attributes []slog.Attr) error
}

// LogEvent logs an event whose attributes are appended by describe. It bypasses the
// logger's own methods, which would determine the source line of the caller.
func LogEvent(ctx context.Context, logger *slog.Logger, level slog.Level, message string, describe func([]slog.Attr) []slog.Attr) {
	buffer := attributeBuffers.Get().(*[]slog.Attr)
	attributes := describe((*buffer)[:0])
	switch h := logger.Handler().(type) { // its errors have nowhere to go
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

var attributeBuffers = sync.Pool{New: func() any { return new(make([]slog.Attr, 0, 16)) }}
