package handler

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/stream"
	"github.com/guidonhq/guidon/service"
)

// unmatched is the operation of a request that matches no route.
const unmatched = "unmatched"

// Observer is notified of requests and evaluations. Its methods are called concurrently,
// while the request runs, and must not block.
type Observer interface {
	// Finished is called once per request, except for event streams that were open.
	// Operation is a gRPC name, the pattern of another route, "preflight" or
	// "unmatched". Code is that of the error, or OK.
	Finished(operation, transport string, code guidon.Code, duration time.Duration)
	// Evaluated is called with the evaluations of a request, in one or several calls.
	// The slice is valid until it returns. A flag or namespace need not exist; see
	// [EvaluationEvent.FlagExists].
	Evaluated([]EvaluationEvent)
}

// OK is the code that [Observer.Finished] is called with if there was no error.
const OK guidon.Code = 255

// event collects what is logged and observed about one request. It is emitted once.
// It holds no token, cookie, query string or evaluation context.
type event struct {
	start          time.Time
	deadline       time.Time // set by the caller, or zero
	operation      string
	transport      string
	method         string // HTTP only, like route, status and bytes
	route          string
	requestID      string
	requestIDGiven bool // requestID is the caller's
	actor          string
	namespace      string
	revision       int64
	stale          time.Duration
	status         int
	bytes          int64
	err            error
	redact         bool          // the text of err may echo client input
	quiet          bool          // log at Debug only
	ended          stream.Reason // why a stream that was open has ended
}

// maxRequestID limits the length of a request id that a client gives.
const maxRequestID = 128

// setRequestID sets the request id: the one that the client gave, or a new one if that is
// not fit for a log.
func (e *event) setRequestID(given string) {
	if e.requestIDGiven = isRequestID(given); e.requestIDGiven {
		e.requestID = given
	} else {
		e.requestID = service.NewRequestID()
	}
}

func isRequestID(text string) bool {
	if text == "" || len(text) > maxRequestID {
		return false
	}
	for i := range len(text) {
		c := text[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}

// finish logs the event and notifies the observer.
func (h *Handler) finish(ctx context.Context, e *event) {
	defer func() {
		if v := recover(); v != nil {
			h.logger.LogAttrs(ctx, slog.LevelError, "an observer panicked",
				slog.String("request_id", e.requestID), slog.Any("error", newPanicError(v)))
		}
	}()
	duration := time.Since(e.start)
	code := OK
	if e.err != nil {
		code = guidon.CodeOf(e.err)
	}
	if level := e.level(code); h.logger.Enabled(ctx, level) {
		logEvent(ctx, h.logger, level, "request", func(room []slog.Attr) []slog.Attr { return e.attributes(room, code, duration) })
	}
	// The duration of a stream says nothing about the latency of the service.
	if h.config.Observer != nil && e.ended == "" {
		h.config.Observer.Finished(e.operation, e.transport, code, duration)
	}
}

// level returns Error for failures on our side, Debug for requests that would fill
// the log, and Info for everything else.
func (e *event) level(code guidon.Code) slog.Level {
	switch {
	case e.quiet:
		return slog.LevelDebug
	case isServerError(code) && !e.causedByCaller(code):
		return slog.LevelError
	}
	return slog.LevelInfo
}

func isServerError(code guidon.Code) bool {
	return code == guidon.Internal || code == guidon.Unavailable || code == guidon.DeadlineExceeded
}

// causedByCaller reports whether the request failed only because of the caller: its
// deadline has passed, its message did not arrive in time, or it requires a revision that
// does not exist.
func (e *event) causedByCaller(code guidon.Code) bool {
	if code == guidon.DeadlineExceeded {
		return e.redact || !e.deadline.IsZero() && !time.Now().Before(e.deadline)
	}
	return service.IsMissingRevision(e.err)
}

// attributes appends all attributes that are known.
func (e *event) attributes(attributes []slog.Attr, code guidon.Code, duration time.Duration) []slog.Attr {
	attributes = append(attributes,
		slog.String("request_id", e.requestID),
		slog.String("operation", e.operation),
		slog.String("transport", e.transport),
	)
	if e.method != "" {
		method := e.method
		if !knownMethod(method) {
			method = "other"
		}
		attributes = append(attributes,
			slog.String("method", method), slog.String("route", e.route),
			slog.Int("status", e.status), slog.Int64("bytes", e.bytes))
	}
	if e.actor != "" {
		attributes = append(attributes, slog.String("actor", e.actor))
	}
	if e.namespace != "" {
		attributes = append(attributes, slog.String("namespace", clip(e.namespace)))
	}
	if e.revision > 0 {
		attributes = append(attributes, slog.Int64("revision", e.revision))
	}
	if e.stale > 0 {
		attributes = append(attributes, slog.Duration("stale", e.stale))
	}
	if e.ended != "" {
		attributes = append(attributes, slog.String("ended", string(e.ended)))
	}
	attributes = append(attributes, slog.String("code", codeName(code)), slog.Duration("duration", duration))
	if e.err != nil {
		attributes = append(attributes, slog.String("error", e.reason()))
	}
	if p, ok := errors.AsType[*panicError](e.err); ok {
		attributes = append(attributes, slog.String("stack", string(p.stack)))
	}
	return attributes
}

// reason returns the text of the error, for the log.
func (e *event) reason() string {
	if e.redact && guidon.CodeOf(e.err) == guidon.InvalidArgument {
		return "the request could not be decoded"
	}
	return clip(e.err.Error())
}

func codeName(code guidon.Code) string {
	if code == OK {
		return "ok"
	}
	return code.Error()
}

// maxLogged limits each client-controlled string in the log, in bytes.
const maxLogged = 1024

func clip(text string) string {
	if len(text) <= maxLogged {
		return text
	}
	return text[:maxLogged] + "…"
}
