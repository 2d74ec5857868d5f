package lambdatest

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// Invoke invokes a function that does not stream.
type Invoke func(r *http.Request, event []byte) (Result, error)

// Handler returns a handler that invokes the function through the front.
func (f Front) Handler(invoke Invoke) http.Handler {
	return f.handler(func(r *http.Request, event []byte, _ io.Writer) (Result, error) { return invoke(r, event) })
}

func (f Front) handler(invoke func(r *http.Request, event []byte, stream io.Writer) (Result, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 10<<20)
		event, err := f.Event(r)
		if err != nil || len(event) > MaxPayload {
			http.Error(w, `{"message":"Request Too Long"}`, http.StatusRequestEntityTooLarge)
			return
		}
		streamed := &stream{front: f, w: w}
		result, err := invoke(r, event, streamed)
		if err == nil && result.FunctionError != "" {
			err = errors.New(result.FunctionError)
		}
		switch {
		case streamed.started && err != nil:
			panic(http.ErrAbortHandler) // the response is incomplete
		case streamed.started:
		case err == nil && result.Streaming:
			err = errors.New("streamed response has no head")
		case err == nil:
			err = f.WriteResponse(w, result.Payload)
		}
		if err != nil {
			http.Error(w, `{"message":"Internal Server Error"}`, f.failed)
		}
	})
}

// stream writes a streamed response as it arrives: the head, 8 zero bytes, then the body.
type stream struct {
	front   Front
	w       http.ResponseWriter
	head    []byte
	started bool
}

// Write implements [io.Writer].
func (s *stream) Write(p []byte) (int, error) {
	body := p
	if !s.started {
		s.head = append(s.head, p...)
		head, rest, found := bytes.Cut(s.head, make([]byte, 8))
		if !found {
			return len(p), nil
		}
		if err := s.front.WriteResponse(s.w, head); err != nil {
			return 0, err
		}
		s.started, body = true, rest
	}
	if _, err := s.w.Write(body); err != nil {
		return 0, err
	}
	return len(p), http.NewResponseController(s.w).Flush()
}
