// Package lambdatest runs the bootstrap of a function as AWS Lambda does. It also
// simulates the services that make the function available over HTTP: API Gateway, load
// balancers and function URLs.
//
// It implements the documented Runtime API (version 2018-06-01). The process handles one
// invocation at a time. Between two invocations it is stopped, as Lambda freezes it. It
// is killed at the deadline of an invocation, and started again after it has ended.
package lambdatest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// MaxPayload is Lambda's size limit of events and of buffered responses, in bytes.
const MaxPayload = 6 << 20

// maxInit is Lambda's time limit until a function requests its first event.
const maxInit = 10 * time.Second

// Function is a function with at most one process. Its methods are safe for concurrent
// use, but only one invocation runs at a time.
type Function struct {
	Bootstrap string        // path of the program
	Env       []string      // variables besides those of Lambda; those of the test are not passed on
	Timeout   time.Duration // of an invocation; zero means 3 s, as on Lambda
	Log       io.Writer     // receives the output of the process; nil discards it

	mu      sync.Mutex // held during an invocation; guards the fields below
	process *process
	count   int
}

// Result is the outcome of an invocation.
type Result struct {
	Payload       []byte
	FunctionError string // the kind of error that the function reported, also if it exited or timed out
	Streaming     bool   // the response was streamed
	Cold          bool   // a process was started for the invocation
	Init          time.Duration
	Duration      time.Duration // without Init
}

// Invoke runs one synchronous invocation. Errors of the function are in the result. If
// Invoke returns an error, the function was not invoked or ctx has ended.
func (f *Function) Invoke(ctx context.Context, payload []byte) (Result, error) {
	var streamed bytes.Buffer
	result, err := f.InvokeStreaming(ctx, payload, &streamed)
	if result.Streaming {
		result.Payload = streamed.Bytes()
	}
	return result, err
}

// InvokeStreaming is like Invoke, but writes a streamed response to the stream as it
// arrives, instead of returning it in the result. It ignores errors of the stream.
func (f *Function) InvokeStreaming(ctx context.Context, payload []byte, stream io.Writer) (Result, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(payload) > MaxPayload {
		return Result{}, errors.New("lambdatest: event is too large")
	}
	result := Result{}
	if f.process == nil || f.process.hasEnded() {
		began := time.Now()
		failure, err := f.start()
		if err != nil {
			return Result{}, err
		}
		if failure != nil {
			failure.Cold = true
			return *failure, nil
		}
		result.Cold, result.Init = true, time.Since(began)
	} else {
		f.process.signal(syscall.SIGCONT)
	}
	return f.invoke(ctx, payload, result, stream)
}

// start starts the process and waits until it requests an event. It returns a result if
// the function itself fails.
func (f *Function) start() (*Result, error) {
	f.kill()
	p, err := startProcess(f.Bootstrap, f.Env, f.Log)
	if err != nil {
		return nil, err
	}
	f.process = p
	timer := time.NewTimer(maxInit)
	defer timer.Stop()
	select {
	case <-f.process.api.polled:
		return nil, nil
	case response := <-f.process.api.responses:
		f.kill()
		return &Result{Payload: response.payload, FunctionError: cmp.Or(response.failure, "Unhandled")}, nil
	case <-p.ended:
		return failure("", "Runtime.ExitError", "the runtime exited during init"), nil
	case <-timer.C:
		f.kill()
		return failure("", "Sandbox.Timedout", "init timed out"), nil
	}
}

// invoke passes the event to the process and waits for the response.
func (f *Function) invoke(ctx context.Context, payload []byte, result Result, stream io.Writer) (Result, error) {
	f.count++
	limit := cmp.Or(f.Timeout, 3*time.Second)
	began := time.Now()
	e := event{id: fmt.Sprintf("00000000-0000-4000-8000-%012d", f.count), payload: payload, deadline: began.Add(limit)}
	ended := func(failed *Result) (Result, error) {
		failed.Cold, failed.Init, failed.Duration = result.Cold, result.Init, time.Since(began)
		return *failed, nil
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	events := f.process.api.events
	for {
		select {
		case events <- e:
			events = nil
		case response := <-f.process.api.responses:
			if response.id != e.id {
				continue // the response to an invocation that was abandoned
			}
			if response.part {
				_, _ = stream.Write(response.payload)
				continue
			}
			f.freeze()
			if !response.streaming && len(response.payload) > MaxPayload {
				return ended(failure(e.id, "Function.ResponseSizeTooLarge", "the response is too large"))
			}
			result.Payload, result.FunctionError, result.Streaming = response.payload, response.failure, response.streaming
			result.Duration = time.Since(began)
			return result, nil
		case <-f.process.ended:
			return ended(failure(e.id, "Runtime.ExitError", "the runtime exited"))
		case <-timer.C:
			f.kill()
			return ended(failure(e.id, "Sandbox.Timedout", "the task timed out"))
		case <-ctx.Done():
			f.kill()
			return Result{}, ctx.Err()
		}
	}
}

// failure returns the result that Lambda creates for a function that did not report one.
func failure(id, kind, message string) *Result {
	payload, _ := json.Marshal(map[string]string{ // encoding strings cannot fail
		"errorType": kind, "errorMessage": "RequestId: " + id + " Error: " + message,
	})
	return &Result{Payload: payload, FunctionError: "Unhandled"}
}

// freeze waits until the process requests its next event and stops it, so that no
// goroutine and no timer runs in it.
func (f *Function) freeze() {
	select {
	case <-f.process.api.polled:
		f.process.signal(syscall.SIGSTOP)
	case <-f.process.ended:
	}
}

// kill kills the process, if there is one.
func (f *Function) kill() {
	if f.process == nil {
		return
	}
	f.process.signal(syscall.SIGKILL)
	<-f.process.ended
	f.process.api.close()
	f.process = nil
}

// Kill kills the process, as Lambda does when it no longer needs it. Tests must call it
// at the end. The next invocation is a cold start.
func (f *Function) Kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kill()
}

// Serve returns a handler that invokes the function through the front.
func (f *Function) Serve(front Front) http.Handler {
	return front.handler(func(r *http.Request, event []byte, stream io.Writer) (Result, error) {
		return f.InvokeStreaming(r.Context(), event, stream)
	})
}

// process is a process of a function with its own Runtime API.
type process struct {
	api     *runtimeAPI
	command *exec.Cmd
	ended   chan struct{} // closed when it has ended
}

func startProcess(path string, env []string, log io.Writer) (*process, error) {
	api, err := listen()
	if err != nil {
		return nil, err
	}
	directory := filepath.Dir(path)
	c := exec.Command(path) // #nosec G204 -- the program under test
	c.Dir = directory
	c.Env = append([]string{
		"AWS_LAMBDA_RUNTIME_API=" + api.address(), "_HANDLER=bootstrap", "LAMBDA_TASK_ROOT=" + directory,
		"AWS_LAMBDA_FUNCTION_NAME=test", "AWS_LAMBDA_FUNCTION_VERSION=$LATEST", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=256",
		"AWS_LAMBDA_INITIALIZATION_TYPE=on-demand", "AWS_EXECUTION_ENV=AWS_Lambda_provided.al2023", "AWS_REGION=eu-west-1",
		"PATH=/usr/local/bin:/usr/bin:/bin", "TZ=:UTC", "TMPDIR=" + os.TempDir(),
	}, env...)
	c.Stdout, c.Stderr = log, log
	c.SysProcAttr = attributes()
	c.WaitDelay = time.Second // child processes may keep its output open
	if err := c.Start(); err != nil {
		api.close()
		return nil, err
	}
	p := &process{api: api, command: c, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		_ = c.Wait() // the output of the process shows how it ended
	}()
	return p, nil
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// signal sends the signal to the process and its children.
func (p *process) signal(s syscall.Signal) {
	if !p.hasEnded() { // afterwards its PID may be reused
		_ = syscall.Kill(-p.command.Process.Pid, s) // it fails if the process is ending
	}
}
