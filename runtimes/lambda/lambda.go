// Package lambda runs an http.Handler as an AWS Lambda function. The function may be
// behind an API Gateway HTTP API (payload format 2.0) or REST API (1.0), an Application
// Load Balancer or a function URL, which it distinguishes by the event. It also runs
// jobs, on an EventBridge schedule or when an operator invokes it.
//
// The handler sees requests as if net/http had received them. This package corrects the
// differences of the platform. The tests list them. Two differences remain: a buffered response has no
// [http.Flusher], and no response, buffered or streamed, can outlast the invocation.
//
// Nothing runs between two invocations, and a [Function] keeps no state from one to the
// next.
package lambda

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	awslambda "github.com/aws/aws-lambda-go/lambda"
)

// Config configures a [Function]. Handler is required; the zero value of every other
// field is a usable default.
type Config struct {
	Handler http.Handler // serves every HTTP event
	// Jobs are run by the event {"guidon": name}. The response to the invocation is
	// the result of the job as JSON.
	Jobs map[string]Job
	// Schedule names the job that scheduled events of EventBridge run. If it is empty,
	// these events are rejected.
	Schedule string
	// BasePath is the prefix that a custom domain or a load balancer rule adds to the
	// paths of the handler, such as /flags.
	BasePath string
	// Streaming must be set if the function URL and the REST API in front of the
	// function are configured to stream responses. Responses then have no size limit,
	// and the handler gets an [http.Flusher].
	Streaming bool
	Logger    *slog.Logger // for panics; nil logs nothing
}

// Job is work that an event can request. Its context ends early enough for the job to
// report its progress.
type Job func(ctx context.Context) (any, error)

// Function handles events. Its methods are safe for concurrent use.
type Function struct {
	config   Config
	basePath string
	logger   *slog.Logger
}

// New returns a function. It starts no goroutines.
func New(config Config) *Function {
	logger := cmp.Or(config.Logger, slog.New(slog.DiscardHandler))
	return &Function{config: config, basePath: cleanBasePath(config.BasePath), logger: logger}
}

// Run handles the events of the Lambda Runtime API, concurrently if the platform sends
// several. If that fails, it exits the process, as the platform expects.
func (f *Function) Run() {
	if f.config.Streaming {
		awslambda.Start(f.invokeStreaming)
		return
	}
	awslambda.Start(f)
}

var errUnknownEvent = errors.New(`unknown event: must come from an API Gateway, a load balancer, a function URL or a schedule, or be {"guidon": …} with the name of a job`)

// Invoke handles one event. An HTTP event always results in a response for its caller,
// even if the event is not a valid request, the handler panics or the response is too
// large for Lambda. An error means that a job failed or that the event is unknown.
func (f *Function) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	e, err := readEvent(payload)
	if err != nil {
		return nil, err
	}
	if e.front != nil {
		return f.serve(ctx, &e), nil
	}
	return f.run(ctx, &e)
}

// run runs the job that the event requests.
func (f *Function) run(ctx context.Context, e *event) (payload []byte, err error) {
	name := e.job
	if e.scheduled {
		name = f.config.Schedule
	}
	job := f.config.Jobs[name]
	if job == nil {
		return nil, errUnknownEvent
	}
	ctx, cancel := withReserve(ctx)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			f.logPanic(ctx, v)
			payload, err = nil, fmt.Errorf("job %s panicked; see the log", name)
		}
	}()
	result, err := job(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return json.Marshal(result)
}

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
