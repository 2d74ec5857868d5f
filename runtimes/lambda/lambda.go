// Package lambda runs an http.Handler as a function of AWS Lambda: behind an API
// Gateway HTTP API (payload format 2.0) or REST API (1.0), an Application Load
// Balancer or a function URL, which it tells apart by the event. It also runs
// jobs, on a schedule of EventBridge or at an operator's command.
//
// To the handler a request is as if net/http had received it. Where the platform
// and aws-lambda-go-api-proxy, which makes the requests, differ from that, this
// package mends it; the tests list what. What cannot be mended: a buffered answer
// has no [http.Flusher], and no answer, body or streamed, may outlast the
// invocation.
//
// Nothing runs between two invocations, and a [Function] keeps nothing of one for
// the next.
package lambda

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	awslambda "github.com/aws/aws-lambda-go/lambda"
)

// Config is what a [Function] is made of. Handler is required; every other zero
// value is right.
type Config struct {
	Handler http.Handler // answers every HTTP event
	// Jobs are run by the event {"guidon": name}. What one returns is the answer
	// to the invocation, as JSON.
	Jobs map[string]Job
	// Schedule names the job that a scheduled event of EventBridge runs; "" refuses
	// these events.
	Schedule string
	// BasePath is what a custom domain or a load balancer's rule puts before the
	// paths of the handler, such as /flags.
	BasePath string
	// Streaming says that the function URL and the REST API in front of the function
	// are set to stream responses. Answers then have no limit of size and the
	// handler is given an [http.Flusher].
	Streaming bool
	Logger    *slog.Logger // is told of panics; nil logs nothing
}

// Job is work that an event asks for. Its context ends in time for it to say how
// far it has come.
type Job func(ctx context.Context) (any, error)

// Function answers events. Its methods may be called concurrently.
type Function struct {
	config   Config
	basePath string
	logger   *slog.Logger
}

// New returns the function. It starts nothing.
func New(config Config) *Function {
	f := &Function{config: config, basePath: cleanBasePath(config.BasePath), logger: config.Logger}
	if f.logger == nil {
		f.logger = slog.New(slog.DiscardHandler)
	}
	return f
}

// Run answers the events of the Lambda Runtime API, as many at once as the
// platform sends, and ends the process where that fails, as the platform expects.
func (f *Function) Run() {
	if f.config.Streaming {
		awslambda.Start(f.invokeStreaming)
		return
	}
	awslambda.Start(f)
}

var errUnknownEvent = errors.New(`the event is none that this function knows: it must come from an API Gateway, a load balancer, a function URL or a schedule, or be {"guidon": …} with the name of a job`)

// Invoke answers one event. An HTTP event always gets an answer for its caller,
// also when it cannot be made into a request, the handler panics or the answer is
// too large for Lambda. An error means that a job failed or that the event is
// none that the function knows.
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

// run runs the job that the event asks for.
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
