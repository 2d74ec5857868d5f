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

// maxReserve is how long before the end of an invocation its work ends, so that
// there is time left to answer; of a short one, a tenth.
const maxReserve = 500 * time.Millisecond

// withReserve returns the context of the work.
func withReserve(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	reserve := min(time.Until(deadline)/10, maxReserve)
	return context.WithDeadline(ctx, deadline.Add(-reserve))
}

// serve answers an HTTP event.
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

// errIncomplete is told to the caller of a handler that panicked. An answer that
// had begun is not sent: net/http would have cut it, and there is no other way to
// tell that it is not whole.
var errIncomplete = errors.New("internal error")

// handle calls the handler. A panic stays here: aws-lambda-go would show its stack
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

// logPanic logs a panic, but for the one by which a handler asks for a cut.
func (f *Function) logPanic(ctx context.Context, v any) {
	if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		return
	}
	f.logger.LogAttrs(ctx, slog.LevelError, "panic", slog.String("error", fmt.Sprint(v)), slog.String("stack", string(debug.Stack())))
}
