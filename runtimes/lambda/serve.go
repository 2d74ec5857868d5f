package lambda

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"
)

// maxReserve is how long before the deadline of an invocation its context ends, so that
// there is time left to respond. For a short invocation it is a tenth of the time.
const maxReserve = 500 * time.Millisecond

// withReserve returns a context that ends before the deadline of the invocation.
func withReserve(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	reserve := min(time.Until(deadline)/10, maxReserve)
	return context.WithDeadline(ctx, deadline.Add(-reserve))
}

// serve returns the response to an HTTP event.
func (f *Function) serve(ctx context.Context, e *event) []byte {
	ctx, cancel := withReserve(ctx)
	defer cancel()
	r, err := e.request(ctx, f.basePath)
	if err != nil {
		return e.front.plain(http.StatusBadRequest, err.Error())
	}
	w := newResponse(e.front, r.Method)
	if err := f.handle(w, r); err != nil {
		return e.front.plain(http.StatusInternalServerError, err.Error())
	}
	return w.payload()
}

// errIncomplete is the error for the caller if the handler panicked. A partial response
// is not sent: net/http would have aborted it, and a caller could not detect otherwise
// that it is incomplete.
var errIncomplete = errors.New("internal error")

// handle calls the handler and recovers from panics. aws-lambda-go would send the stack
// to the caller and end the process.
func (f *Function) handle(w http.ResponseWriter, r *http.Request) (err error) {
	defer func() {
		if v := recover(); v != nil {
			f.logPanic(r.Context(), v)
			err = errIncomplete
		}
	}()
	f.config.Handler.ServeHTTP(w, r)
	return nil
}

// logPanic logs a panic, except http.ErrAbortHandler.
func (f *Function) logPanic(ctx context.Context, v any) {
	if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		return
	}
	f.logger.LogAttrs(ctx, slog.LevelError, "panic", slog.String("error", fmt.Sprint(v)), slog.String("stack", string(debug.Stack())))
}
