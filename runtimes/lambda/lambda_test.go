package lambda_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/internal/bubble"
	"github.com/guidonhq/guidon/runtimes/lambda"
	"github.com/guidonhq/guidon/runtimes/lambda/lambdatest"
)

// get returns the event of a GET request through the front.
func get(t testing.TB, front lambdatest.Front, target string, headers ...string) []byte {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, target, nil)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	event, err := front.Event(r)
	if err != nil {
		t.Fatal(err)
	}
	return event
}

// invoke returns the response to the event.
func invoke(t testing.TB, ctx context.Context, f *lambda.Function, front lambdatest.Front, event []byte) *httptest.ResponseRecorder {
	t.Helper()
	payload, err := f.Invoke(ctx, event)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	if err := front.WriteResponse(w, payload); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestPanic checks that a panic results in an error response without details, also if the
// handler has already written a part of its response.
func TestPanic(t *testing.T) {
	tests := []struct {
		name    string
		handler http.HandlerFunc
		logged  bool
	}{
		{"before the response", func(http.ResponseWriter, *http.Request) { panic("secret") }, true},
		{"in the response", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "half of it")
			panic(errors.New("secret"))
		}, true},
		{"to abort the response", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "half of it")
			panic(fmt.Errorf("wrapped: %w", http.ErrAbortHandler))
		}, false},
	}
	const want = `{"code":13,"message":"internal error","details":[]}`
	for _, front := range lambdatest.Fronts() {
		for _, tt := range tests {
			t.Run(front.Name+"/"+tt.name, func(t *testing.T) {
				var out bytes.Buffer
				f := lambda.New(lambda.Config{Handler: tt.handler, Logger: slog.New(slog.NewTextHandler(&out, nil))})
				got := invoke(t, t.Context(), f, front, get(t, front, "/"))
				if got.Code != http.StatusInternalServerError || got.Body.String() != want {
					t.Errorf("got %d %s", got.Code, got.Body)
				}
				if logged := strings.Contains(out.String(), "secret") && strings.Contains(out.String(), "lambda_test.go"); logged != tt.logged {
					t.Errorf("logged: %s", out.String())
				}
			})
		}
	}
}

// TestTooLarge checks that a response above the limit of Lambda is replaced by an error
// with the headers that do not describe the body. A response just below the limit must
// arrive.
func TestTooLarge(t *testing.T) {
	var size int
	var content byte
	f := lambda.New(lambda.Config{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/headers" {
			w.Header().Set("X-Large", strings.Repeat("x", lambdatest.MaxPayload))
			return
		}
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("ETag", `"1"`)
		_, _ = w.Write(bytes.Repeat([]byte{content}, size))
	})})
	tests := []struct {
		name    string
		size    int
		content byte
		want    int
	}{
		{"text that fits", lambdatest.MaxPayload - 1<<10, 'x', http.StatusOK},
		{"text", lambdatest.MaxPayload, 'x', http.StatusRequestEntityTooLarge},
		{"text that escapes make larger", lambdatest.MaxPayload/2 + 1, '"', http.StatusRequestEntityTooLarge},
		{"binary that base64 makes larger", lambdatest.MaxPayload/4*3 + 1, 0xff, http.StatusRequestEntityTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			size, content = tt.size, tt.content
			got := invoke(t, t.Context(), f, lambdatest.HTTPAPI("$default"), get(t, lambdatest.HTTPAPI("$default"), "/"))
			if got.Code != tt.want {
				t.Errorf("got %d, want %d", got.Code, tt.want)
			}
			if got.Code != http.StatusOK && !strings.Contains(got.Body.String(), `"code":8,"message":"the response is larger than`) {
				t.Errorf("got %s", got.Body)
			}
			if header := got.Header(); header.Get("Access-Control-Allow-Origin") != "*" || (header.Get("ETag") != "") != (tt.want == http.StatusOK) {
				t.Errorf("got %v", header)
			}
		})
	}
	got := invoke(t, t.Context(), f, lambdatest.HTTPAPI("$default"), get(t, lambdatest.HTTPAPI("$default"), "/headers"))
	if got.Code != http.StatusRequestEntityTooLarge || got.Header().Get("X-Large") != "" {
		t.Errorf("got %d for a large header", got.Code)
	}
}

// TestHead checks that the response to HEAD has the headers of GET and no body. A front
// may not remove the body.
func TestHead(t *testing.T) {
	front := lambdatest.RESTAPI()
	event, err := front.Event(httptest.NewRequest(http.MethodHead, "/", nil))
	if err != nil {
		t.Fatal(err)
	}
	f := lambda.New(lambda.Config{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "body") })})
	got := invoke(t, t.Context(), f, front, event)
	if got.Header().Get("Content-Type") != "text/plain; charset=utf-8" || got.Body.Len() > 0 {
		t.Errorf("got %v and %q", got.Header(), got.Body)
	}
}

// TestDeadline checks that the context of a request ends before the invocation, with time
// left to respond.
func TestDeadline(t *testing.T) {
	for limit, want := range map[time.Duration]time.Duration{
		time.Second:      900 * time.Millisecond,
		30 * time.Second: 29500 * time.Millisecond,
	} {
		bubble.Test(t, func(t *testing.T) {
			f := lambda.New(lambda.Config{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				<-r.Context().Done()
				w.WriteHeader(http.StatusGatewayTimeout)
			})})
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			began := time.Now()
			front := lambdatest.RESTAPI()
			got := invoke(t, ctx, f, front, get(t, front, "/"))
			if took := time.Since(began); got.Code != http.StatusGatewayTimeout || took != want {
				t.Errorf("got %d after %s, want %s", got.Code, took, want)
			}
		})
	}
}

// TestRequestID checks that a request has the id of the invocation, which is also in the
// log lines of the platform, unless the caller sent one.
func TestRequestID(t *testing.T) {
	var got []string
	f := lambda.New(lambda.Config{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header["X-Request-Id"] })})
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "of-the-invocation"})
	for _, front := range lambdatest.Fronts() {
		for _, tt := range []struct {
			headers []string
			want    string
		}{{nil, "of-the-invocation"}, {[]string{"X-Request-Id: of-the-caller"}, "of-the-caller"}} {
			invoke(t, ctx, f, front, get(t, front, "/", tt.headers...))
			if diff := cmp.Diff([]string{tt.want}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", front.Name, diff)
			}
		}
	}
}

// TestAddress checks that the address of a caller is the one that the front reports.
// Headers of the caller must not change it, and it must never be a loopback address.
func TestAddress(t *testing.T) {
	tests := []struct{ name, peer, forwarded, want string }{
		{"plain", "203.0.113.7", "", "203.0.113.7:0"},
		{"IPv6", "2001:db8::1", "", "[2001:db8::1]:0"},
		{"a header of the caller", "203.0.113.7", "X-Forwarded-For: 127.0.0.1, 10.0.0.1", "203.0.113.7:0"},
		{"loopback", "127.0.0.1", "", ""},
		{"loopback, mapped", "::ffff:127.0.0.1", "", ""},
		{"none", "", "", ""},
	}
	for _, front := range lambdatest.Fronts() {
		for _, tt := range tests {
			t.Run(front.Name+"/"+tt.name, func(t *testing.T) {
				r := httptest.NewRequest(http.MethodGet, "/", nil)
				r.RemoteAddr = tt.peer
				if name, value, ok := strings.Cut(tt.forwarded, ": "); ok {
					r.Header.Set(name, value)
				}
				event, err := front.Event(r)
				if err != nil {
					t.Fatal(err)
				}
				got := "not called"
				f := lambda.New(lambda.Config{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.RemoteAddr })})
				invoke(t, t.Context(), f, front, event)
				if got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		}
	}
}

// TestBadRequests checks that an invalid request gets an error response. It must not be
// an error of the function, which would be counted as such.
func TestBadRequests(t *testing.T) {
	const form = `{"version":"2.0","rawPath":"/","requestContext":{"http":{"method":"GET"}},%s}`
	f := lambda.New(lambda.Config{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("called") })})
	for name, event := range map[string]string{
		"a body that is not base64":        fmt.Sprintf(form, `"body":"%%%","isBase64Encoded":true`),
		"an invalid method":                strings.Replace(fmt.Sprintf(form, `"a":1`), "GET", "GET /secret HTTP", 1),
		"a control character in the query": fmt.Sprintf(form, `"rawQueryString":"a=\n"`),
		"a fragment":                       fmt.Sprintf(form, `"rawQueryString":"a=1#b"`),
		"invalid headers":                  fmt.Sprintf(form, `"headers":{"a":["b"]}`),
	} {
		t.Run(name, func(t *testing.T) {
			got := invoke(t, t.Context(), f, lambdatest.HTTPAPI("$default"), []byte(event))
			if got.Code != http.StatusBadRequest || got.Body.String() != `{"code":3,"message":"the request is malformed","details":[]}` {
				t.Errorf("got %d %s", got.Code, got.Body)
			}
		})
	}
}

// TestUnknownEvents checks that an unknown event is an error that quotes nothing of it.
func TestUnknownEvents(t *testing.T) {
	f := lambda.New(lambda.Config{Handler: http.NotFoundHandler(), Jobs: map[string]lambda.Job{"cleanup": nothing}})
	for _, event := range []string{
		``, `null`, `{}`, `[]`, `"secret"`, `{"guidon":"secret"}`, `{"guidon":1}`, `{"guidon":{"secret":1}}`, `{"guidon":"cleanup"} secret`, `{"secret`,
		`{"Records":[{"eventSource":"aws:sqs","body":"secret"}]}`, `{"version":"2.0","requestContext":{"http":null}}`,
		`{"version":"0","detail-type":"Scheduled Event"}`, // no job is scheduled
		`{"headers":{"a":"secret"}}`, `{"path":"/secret"}`,
	} {
		payload, err := f.Invoke(t.Context(), []byte(event))
		if err == nil || strings.Contains(err.Error(), "secret") || payload != nil {
			t.Errorf("%s: got %s, error %v", event, payload, err)
		}
	}
}

func nothing(context.Context) (any, error) { return nil, nil }

// TestJobs checks that schedules and operators can run jobs, and that the response is the
// result of the job.
func TestJobs(t *testing.T) {
	var out bytes.Buffer
	f := lambda.New(lambda.Config{
		Handler: http.NotFoundHandler(),
		Jobs: map[string]lambda.Job{
			"cleanup": func(context.Context) (any, error) { return map[string]int{"tokens": 3}, nil },
			"migrate": func(context.Context) (any, error) { return nil, errors.New("no database") },
			"break":   func(context.Context) (any, error) { panic("secret") },
		},
		Schedule: "cleanup",
		Logger:   slog.New(slog.NewTextHandler(&out, nil)),
	})
	for _, tt := range []struct{ name, event, want, wantErr string }{
		{"an operator", `{"guidon":"cleanup"}`, `{"tokens":3}`, ""},
		{"a rule", `{"version":"0","id":"1","detail-type":"Scheduled Event","source":"aws.events","resources":[],"detail":{}}`, `{"tokens":3}`, ""},
		{"a schedule", `{"version":"0","detail-type":"Scheduled Event","source":"aws.scheduler","detail":"{}"}`, `{"tokens":3}`, ""},
		{"a job that fails", `{"guidon":"migrate"}`, "", "migrate: no database"},
		{"a job that panics", `{"guidon":"break"}`, "", "job break panicked; see the log"},
	} {
		payload, err := f.Invoke(t.Context(), []byte(tt.event))
		if string(payload) != tt.want || fmt.Sprint(err) != tt.wantErr && (err != nil || tt.wantErr != "") {
			t.Errorf("%s: got %s, error %v", tt.name, payload, err)
		}
	}
	if !strings.Contains(out.String(), "secret") {
		t.Errorf("the panic was not logged: %q", out.String())
	}
}

// TestConcurrently checks that a process can handle several events concurrently.
func TestConcurrently(t *testing.T) {
	const callers = 16
	var all sync.WaitGroup
	arrived := make(chan struct{}, callers)
	open := make(chan struct{})
	f := lambda.New(lambda.Config{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-open
		_, _ = io.WriteString(w, r.URL.Path+r.Header.Get("X-Caller"))
	})})
	for i := range callers {
		front := lambdatest.Fronts()[i%len(lambdatest.Fronts())]
		event := get(t, front, fmt.Sprintf("/%d", i), fmt.Sprintf("X-Caller: %d", i))
		all.Go(func() {
			got := invoke(t, t.Context(), f, front, event).Body.String()
			if want := fmt.Sprintf("/%d%d", i, i); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	for range callers {
		<-arrived // all are in progress
	}
	close(open)
	all.Wait()
}

// TestNoFlusher checks that a handler can detect that a buffered response cannot be
// streamed.
func TestNoFlusher(t *testing.T) {
	f := lambda.New(lambda.Config{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if _, ok := w.(http.Flusher); ok {
			t.Error("the response writer is a Flusher")
		}
		if err := http.NewResponseController(w).Flush(); !errors.Is(err, http.ErrNotSupported) {
			t.Errorf("got error %v", err)
		}
	})})
	front := lambdatest.FunctionURL()
	invoke(t, t.Context(), f, front, get(t, front, "/"))
}

// FuzzInvoke checks that no event makes the function panic, and that every response is
// JSON.
func FuzzInvoke(f *testing.F) {
	for _, front := range lambdatest.Fronts() {
		f.Add(get(f, front, "/a?b=c&d", "Cookie: a=b; c=d", "X-Forwarded-For: 1.2.3.4"))
	}
	function := lambda.New(lambda.Config{Handler: http.HandlerFunc(echo), BasePath: "/a"})
	f.Fuzz(func(t *testing.T, event []byte) {
		payload, err := function.Invoke(t.Context(), event)
		if err == nil && !json.Valid(payload) {
			t.Errorf("not JSON: %s", payload)
		}
	})
}
