package lambda

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/aws/aws-lambda-go/events"
)

// invokeStreaming is Invoke for a function that streams its responses if the front can.
func (f *Function) invokeStreaming(ctx context.Context, payload json.RawMessage) (any, error) {
	e, err := readEvent(payload)
	if err != nil {
		return nil, err
	}
	switch {
	case e.front == nil:
		result, err := f.run(ctx, &e)
		return json.RawMessage(result), err
	case !e.front.streams:
		return json.RawMessage(f.serve(ctx, &e)), nil
	}
	return f.stream(ctx, &e), nil
}

// stream runs the handler and returns the response when its header is known. The reader
// must close the response, which waits for the handler, so that the handler never
// outlives the invocation. Package lambdaurl would not wait for it. A panic would end the
// process, cookies would be lost, and an aborted response would look complete.
func (f *Function) stream(ctx context.Context, e *event) *events.LambdaFunctionURLStreamingResponse {
	ctx, cancel := withReserve(ctx)
	reader, writer := io.Pipe()
	w := &stream{header: http.Header{}, pipe: writer, head: make(chan head, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.respond(ctx, e, w)
	}()
	h := <-w.head
	return &events.LambdaFunctionURLStreamingResponse{
		StatusCode: h.status, Headers: h.headers, Cookies: h.cookies,
		Body: &streamBody{PipeReader: reader, cancel: cancel, done: done},
	}
}

// respond handles the event and ends the response.
func (f *Function) respond(ctx context.Context, e *event, w *stream) {
	r, err := e.request(ctx, f.basePath)
	if err != nil {
		writePlain(w, http.StatusBadRequest, err.Error())
		_ = w.pipe.Close() // it never fails
		return
	}
	w.method = r.Method
	err = f.handle(w, r)
	if err != nil && w.status == 0 {
		clear(w.header)
		writePlain(w, http.StatusInternalServerError, err.Error())
		err = nil
	}
	w.WriteHeader(http.StatusOK)
	_ = w.pipe.CloseWithError(err) // nil means a normal end
}

// stream is an [http.ResponseWriter] and [http.Flusher] that does not buffer.
type stream struct {
	method string
	header http.Header
	status int // 0 until it is known
	pipe   *io.PipeWriter
	head   chan head
}

// head is the part of a response before the body.
type head struct {
	status  int
	headers map[string]string
	cookies []string
}

// Header implements [http.ResponseWriter].
func (w *stream) Header() http.Header { return w.header }

// WriteHeader implements [http.ResponseWriter].
func (w *stream) WriteHeader(status int) {
	if w.status != 0 || status < http.StatusOK {
		return
	}
	w.status = status
	h := head{status: status, headers: make(map[string]string, len(w.header)), cookies: w.header["Set-Cookie"]}
	for name, values := range w.header {
		if name != "Set-Cookie" {
			h.headers[name] = strings.Join(values, ", ")
		}
	}
	w.head <- h
}

// Write implements [http.ResponseWriter].
func (w *stream) Write(p []byte) (int, error) {
	if w.status == 0 {
		if !isTyped(w.header) {
			w.header.Set("Content-Type", http.DetectContentType(p))
		}
		w.WriteHeader(http.StatusOK)
	}
	switch {
	case !hasBody(w.status):
		return 0, http.ErrBodyNotAllowed
	case w.method == http.MethodHead:
		return len(p), nil
	}
	return w.pipe.Write(p)
}

// Flush implements [http.Flusher].
func (w *stream) Flush() { w.WriteHeader(http.StatusOK) }

// streamBody is the body of a streamed response.
type streamBody struct {
	*io.PipeReader
	cancel context.CancelFunc
	done   chan struct{}
}

// Close ends the request and waits for its handler.
func (b *streamBody) Close() error {
	b.cancel()
	err := b.PipeReader.Close()
	<-b.done
	return err
}
