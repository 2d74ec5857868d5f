package lambdatest

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// runtimeAPI is the Runtime API server of one process.
type runtimeAPI struct {
	listener  net.Listener
	server    *http.Server
	polled    chan struct{}      // receives when the process requests an event
	events    chan event         // to the process
	responses chan eventResponse // from the process
	closed    chan struct{}
}

type event struct {
	id       string
	payload  []byte
	deadline time.Time
}

// eventResponse is a response of the process to an event, or the next part of a streamed
// response, which ends with an empty one.
type eventResponse struct {
	id        string
	payload   []byte
	failure   string // the kind of error, or "" if there is none
	streaming bool
	part      bool // a part that is not the end
}

// The header values that identify streamed responses.
const (
	streamingMode = "streaming"
	streamingType = "application/vnd.awslambda.http-integration-response"
)

func listen() (*runtimeAPI, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	a := &runtimeAPI{
		listener: listener, polled: make(chan struct{}, 1), events: make(chan event), responses: make(chan eventResponse),
		closed: make(chan struct{}),
	}
	mux := http.NewServeMux()
	const prefix = "/2018-06-01/runtime/"
	mux.HandleFunc("GET "+prefix+"invocation/next", a.next)
	mux.HandleFunc("POST "+prefix+"invocation/{id}/response", func(w http.ResponseWriter, r *http.Request) { a.response(w, r, "") })
	mux.HandleFunc("POST "+prefix+"invocation/{id}/error", func(w http.ResponseWriter, r *http.Request) { a.response(w, r, "Unhandled") })
	mux.HandleFunc("POST "+prefix+"init/error", func(w http.ResponseWriter, r *http.Request) { a.response(w, r, "Unhandled") })
	a.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = a.server.Serve(listener) }() // until it is closed
	return a, nil
}

func (a *runtimeAPI) address() string { return a.listener.Addr().String() }

func (a *runtimeAPI) close() {
	close(a.closed)
	_ = a.server.Close() // cannot fail: nothing else closes the listener
}

// next waits for the next event and sends it to the process.
func (a *runtimeAPI) next(w http.ResponseWriter, r *http.Request) {
	select {
	case a.polled <- struct{}{}:
	case <-a.closed:
		return
	}
	select {
	case e := <-a.events:
		header := w.Header()
		header.Set("Content-Type", "application/json")
		header.Set("Lambda-Runtime-Aws-Request-Id", e.id)
		header.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(e.deadline.UnixMilli(), 10))
		header.Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:eu-west-1:000000000000:function:test")
		header.Set("Lambda-Runtime-Trace-Id", "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700;Parent=9a9197af755a6419;Sampled=0")
		_, _ = w.Write(e.payload)
	case <-r.Context().Done(): // the process ended
	case <-a.closed:
	}
}

// response receives a response. If a streamed response was aborted, a trailer says so.
func (a *runtimeAPI) response(w http.ResponseWriter, r *http.Request, failure string) {
	response := eventResponse{id: r.PathValue("id"), failure: failure}
	response.streaming = r.Header.Get("Lambda-Runtime-Function-Response-Mode") == streamingMode ||
		r.Header.Get("Content-Type") == streamingType
	var err error
	if response.streaming {
		err = a.parts(r.Body, response.id)
	} else {
		response.payload, err = io.ReadAll(r.Body)
	}
	if err != nil {
		return // the process ended
	}
	if kind := r.Trailer.Get("Lambda-Runtime-Function-Error-Type"); kind != "" {
		response.failure = kind
	}
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, `{"status":"OK"}`)
	a.send(response)
}

// parts passes on the parts of a streamed response as they arrive.
func (a *runtimeAPI) parts(body io.Reader, id string) error {
	for {
		part := make([]byte, 64<<10)
		n, err := body.Read(part)
		if n > 0 {
			a.send(eventResponse{id: id, payload: part[:n], streaming: true, part: true})
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil // and the trailers have been read
		case err != nil:
			return err
		}
	}
}

func (a *runtimeAPI) send(response eventResponse) {
	select {
	case a.responses <- response:
	case <-a.closed:
	}
}
