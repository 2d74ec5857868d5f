// Package lambda runs an http.Handler as an AWS Lambda function. The function may be
// behind an API Gateway HTTP API (payload format 2.0) or REST API (1.0), an Application
// Load Balancer or a function URL, which it distinguishes by the event. It also runs
// jobs, on an EventBridge schedule or when an operator invokes it.
//
// The handler sees requests as if net/http had received them. This package corrects the
// differences of the platform and of aws-lambda-go-api-proxy, which builds the requests.
// The tests list them. Two differences remain: a buffered response has no
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
