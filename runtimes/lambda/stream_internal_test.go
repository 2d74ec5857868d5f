package lambda

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/guidonhq/guidon/internal/bubble"
)

// begin starts to stream the handler's response to a request with the method.
func begin(t *testing.T, method string, handler http.HandlerFunc) *events.LambdaFunctionURLStreamingResponse {
	t.Helper()
	e, err := readEvent([]byte(`{"version":"2.0","rawPath":"/","requestContext":{"domainName":"id.lambda-url.eu-west-1.on.aws","http":{"method":"` + method + `"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	return New(Config{Handler: handler}).stream(t.Context(), &e)
}

// TestStreamAbandoned checks that the handler gets an error if the response is no longer
// read, and that it has ended when the invocation ends.
func TestStreamAbandoned(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ended := false
		response := begin(t, http.MethodGet, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "first")
			if _, err := io.WriteString(w, "second"); err != io.ErrClosedPipe {
				t.Errorf("got error %v", err)
			}
			<-r.Context().Done()
			time.Sleep(time.Second)
			ended = true
		})
		if _, err := io.ReadFull(response.Body, make([]byte, 5)); err != nil {
			t.Fatal(err)
		}
		if err := response.Close(); err != nil || !ended {
			t.Errorf("error %v, ended %t", err, ended)
		}
	})
}

// TestStreamHead checks that the response to HEAD has no body.
func TestStreamHead(t *testing.T) {
	response := begin(t, http.MethodHead, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "body") })
	body, err := io.ReadAll(response.Body)
	if len(body) > 0 || err != nil || response.Headers["Content-Type"] != "text/plain; charset=utf-8" {
		t.Errorf("got %q, error %v, headers %v", body, err, response.Headers)
	}
	if err := response.Close(); err != nil {
		t.Error(err)
	}
}
