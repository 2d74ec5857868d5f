package lambdatest

import (
	"bytes"
	"errors"
	"net/http"
)

// Invoke runs one invocation.
type Invoke func(r *http.Request, event []byte) (Result, error)

// Handler answers HTTP as the front does with the function behind it. A streamed
// answer is passed on when it is complete.
func (f Front) Handler(invoke Invoke) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 10<<20)
		event, err := f.Event(r)
		if err != nil || len(event) > MaxPayload {
			http.Error(w, `{"message":"Request Too Long"}`, http.StatusRequestEntityTooLarge)
			return
		}
		result, err := invoke(r, event)
		switch {
		case err != nil:
		case result.Streaming:
			err = f.answerStream(w, result)
		case result.FunctionError != "":
			err = errors.New(result.FunctionError)
		default:
			err = f.Answer(w, result.Payload)
		}
		if err != nil {
			http.Error(w, `{"message":"Internal Server Error"}`, f.failed)
		}
	})
}

// answerStream writes an answer that was streamed: what comes before its body, 8
// zero bytes, the body. It cuts the connection of one that broke off.
func (f Front) answerStream(w http.ResponseWriter, result Result) error {
	head, body, found := bytes.Cut(result.Payload, make([]byte, 8))
	if !found {
		return errors.New("the streamed answer has no head")
	}
	if err := f.Answer(w, head); err != nil {
		return err
	}
	_, _ = w.Write(body) // whoever stopped to read it does not miss it
	if result.FunctionError != "" {
		panic(http.ErrAbortHandler)
	}
	return nil
}
