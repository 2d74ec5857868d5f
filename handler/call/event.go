package call

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// Observer is notified of requests. It is called concurrently and must not block.
type Observer interface {
	// Finished is called once per request, except for event streams that were open.
	// Operation is a gRPC name, the pattern of another route, "preflight" or
	// "unmatched". Code is that of the error, or [OK]. Trace is the id of the trace that has
	// the request, or "" if none is recorded.
	Finished(operation, transport string, code guidon.Code, duration time.Duration, trace string)
}

// Event collects the data that is logged and observed about one request. It is emitted once.
// It holds no token, cookie, query string or evaluation context.
type Event struct {
	Start     time.Time
	Deadline  time.Time // set by the caller, or zero
	Operation string
	Transport string
	Method    string // HTTP only, like Route, Status and Bytes
	Route     string
	Status    int
	Bytes     int64
	RequestID string
	Err       error
	Quiet     bool   // log at Debug only
	Ended     string // why a stream that was open has ended
	TraceHeader

	requestIDGiven bool // RequestID is the caller's
	actor          string
	namespace      string
	revision       int64
	stale          time.Duration
	redact         bool // the text of Err may echo client input
	signIn         *SignIn
	trace          string // the id of its trace, or ""
	recorded       bool   // the trace is recorded
	span           Span   // that ends with the event, or nil
}

// Actor returns the id of the caller, as far as it is known.
func (e *Event) Actor() string { return e.actor }

// maxRequestID limits the length of a request id that a client gives.
const maxRequestID = 128

// SetRequestID sets the request id: the one that the client gave, or a new one if that is
// not fit for a log.
func (e *Event) SetRequestID(given string) {
	if e.requestIDGiven = isRequestID(given); e.requestIDGiven {
		e.RequestID = given
	} else {
		e.RequestID = service.NewRequestID()
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

// Finish logs the event and notifies the observer.
func (i *Invoker) Finish(ctx context.Context, e *Event) {
	defer func() {
		if v := recover(); v != nil {
			i.config.Logger.LogAttrs(ctx, slog.LevelError, "an observer panicked",
				slog.String("request_id", e.RequestID), slog.Any("error", Recovered(v)))
		}
	}()
	duration := time.Since(e.Start)
	code := codeOf(e.Err)
	if e.span != nil {
		e.span.End(code, e.Status)
	}
	if level := e.level(code); i.config.Logger.Enabled(ctx, level) {
		LogEvent(ctx, i.config.Logger, level, "request", func(room []slog.Attr) []slog.Attr { return e.attributes(room, code, duration) })
	}
	// The duration of a stream says nothing about the latency of the service.
	if i.config.Observer != nil && e.Ended == "" {
		i.config.Observer.Finished(e.Operation, e.Transport, code, duration, e.recordedTrace())
	}
}

// codeOf returns the code of the error, or [OK] if it is nil.
func codeOf(err error) guidon.Code {
	if err == nil {
		return OK
	}
	return guidon.CodeOf(err)
}

// level returns Error for failures on our side, Debug for requests that would fill
// the log, and Info for everything else.
func (e *Event) level(code guidon.Code) slog.Level {
	switch {
	case e.Quiet:
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
func (e *Event) causedByCaller(code guidon.Code) bool {
	if code == guidon.DeadlineExceeded {
		return e.redact || !e.Deadline.IsZero() && !time.Now().Before(e.Deadline)
	}
	return service.IsMissingRevision(e.Err)
}

// attributes appends all attributes that are known.
func (e *Event) attributes(attributes []slog.Attr, code guidon.Code, duration time.Duration) []slog.Attr {
	attributes = append(attributes,
		slog.String("request_id", e.RequestID),
		slog.String("operation", e.Operation),
		slog.String("transport", e.Transport),
	)
	if e.trace != "" {
		attributes = append(attributes, slog.String("trace_id", e.trace))
	}
	if e.Method != "" {
		method := e.Method
		if !KnownMethod(method) {
			method = "other"
		}
		attributes = append(attributes,
			slog.String("method", method), slog.String("route", e.Route),
			slog.Int("status", e.Status), slog.Int64("bytes", e.Bytes))
	}
	if e.actor != "" {
		attributes = append(attributes, slog.String("actor", e.actor))
	}
	if e.namespace != "" {
		attributes = append(attributes, slog.String("namespace", Clip(e.namespace)))
	}
	if e.revision > 0 {
		attributes = append(attributes, slog.Int64("revision", e.revision))
	}
	if e.stale > 0 {
		attributes = append(attributes, slog.Duration("stale", e.stale))
	}
	attributes = e.signIn.attributes(attributes)
	if e.Ended != "" {
		attributes = append(attributes, slog.String("ended", e.Ended))
	}
	attributes = append(attributes, slog.String("code", codeName(code)), slog.Duration("duration", duration))
	if e.Err != nil {
		attributes = append(attributes, slog.String("error", e.reason()))
	}
	if p, ok := errors.AsType[*PanicError](e.Err); ok {
		attributes = append(attributes, slog.String("stack", string(p.stack)))
	}
	return attributes
}

// reason returns the text of the error, for the log.
func (e *Event) reason() string {
	if e.redact && guidon.CodeOf(e.Err) == guidon.InvalidArgument {
		return "the request could not be decoded"
	}
	return Clip(e.Err.Error())
}

func codeName(code guidon.Code) string {
	if code == OK {
		return "ok"
	}
	return code.Error()
}

// maxLogged limits each client-controlled string in the log, in bytes.
const maxLogged = 1024

// Clip shortens a string of the client for the log.
func Clip(text string) string {
	if len(text) <= maxLogged {
		return text
	}
	return text[:maxLogged] + "…"
}

// KnownMethod reports whether the HTTP method is one that the service distinguishes.
func KnownMethod(method string) bool {
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete,
		http.MethodHead, http.MethodPatch, http.MethodOptions:
		return true
	}
	return false
}
