package lambda_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/guidonhq/guidon/runtimes/lambda"
	"github.com/guidonhq/guidon/runtimes/lambda/lambdatest"
)

// The environment variables that make the test binary run as a function.
const (
	asFunction  = "TEST_BINARY_IS_FUNCTION"
	asStreaming = "TEST_BINARY_STREAMS"
)

func TestMain(m *testing.M) {
	if os.Getenv(asFunction) == "" {
		os.Exit(m.Run())
	}
	lambda.New(lambda.Config{
		Handler:   testHandler(),
		Jobs:      map[string]lambda.Job{"ping": func(context.Context) (any, error) { return "pong", nil }},
		Streaming: os.Getenv(asStreaming) != "",
	}).Run()
}

// testHandler is the handler of the function in these tests.
func testHandler() http.Handler {
	mux := http.NewServeMux()
	began, ticks := time.Now(), 0
	var mu sync.Mutex
	go func() { // background work, to detect that the process is frozen
		for range time.Tick(time.Millisecond) {
			mu.Lock()
			ticks++
			mu.Unlock()
		}
	}()
	mux.HandleFunc("GET /ticks", func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_ = json.NewEncoder(w).Encode(map[string]int64{"ticks": int64(ticks), "ms": time.Since(began).Milliseconds()})
	})
	mux.HandleFunc("GET /panic", func(http.ResponseWriter, *http.Request) { panic("secret") })
	mux.HandleFunc("GET /hang", func(http.ResponseWriter, *http.Request) { select {} })
	mux.HandleFunc("GET /exit", func(http.ResponseWriter, *http.Request) { os.Exit(3) })
	mux.HandleFunc("GET /half", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half of it")
		panic(http.ErrAbortHandler)
	})
	mux.HandleFunc("GET /large", func(w http.ResponseWriter, _ *http.Request) {
		chunk := bytes.Repeat([]byte("flags "), 1<<16)
		for range 20 {
			_, _ = w.Write(chunk)
		}
	})
	mux.HandleFunc("GET /cookies", func(w http.ResponseWriter, r *http.Request) {
		for _, cookie := range r.Cookies() {
			http.SetCookie(w, cookie)
		}
		w.WriteHeader(http.StatusTeapot)
	})
	mux.HandleFunc("GET /flush", func(w http.ResponseWriter, _ *http.Request) {
		if err := http.NewResponseController(w).Flush(); err != nil {
			w.WriteHeader(http.StatusNotImplemented)
		}
	})
	mux.HandleFunc("GET /live", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "first")
		_ = http.NewResponseController(w).Flush() // not supported without streaming
		if response, err := http.Get(r.URL.Query().Get("wait")); err == nil {
			_ = response.Body.Close()
		}
		_, _ = io.WriteString(w, "last")
	})
	mux.HandleFunc("GET /bytes", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0xff}) })
	return mux
}

// process returns a function that runs in a separate process.
func process(t *testing.T, env ...string) *lambdatest.Function {
	t.Helper()
	f := &lambdatest.Function{Bootstrap: os.Args[0], Env: append([]string{asFunction + "=1"}, env...), Timeout: 20 * time.Second}
	t.Cleanup(f.Kill)
	return f
}

// fetch requests the path through the front. An error means that the response was
// aborted.
func fetch(t *testing.T, f *lambdatest.Function, front lambdatest.Front, path string, headers ...string) (*http.Response, []byte, error) {
	t.Helper()
	server := httptest.NewServer(f.Serve(front))
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return &http.Response{}, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response, body, err
}

// TestProcess checks that one process handles several events, also after a panic, and is
// frozen in between. If it exits or hangs, another one must replace it.
func TestProcess(t *testing.T) {
	t.Parallel()
	f := process(t)
	front := lambdatest.HTTPAPI("$default")
	call := func(path string) lambdatest.Result {
		t.Helper()
		result, err := f.Invoke(t.Context(), get(t, front, path))
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	if result := call("/ticks"); !result.Cold || result.FunctionError != "" {
		t.Fatalf("got %+v", result)
	}
	if result := call("/panic"); result.Cold || result.FunctionError != "" || strings.Contains(string(result.Payload), "secret") {
		t.Errorf("after a panic got %+v with %s", result, result.Payload)
	}
	time.Sleep(100 * time.Millisecond) // frozen
	result := call("/ticks")
	var state struct{ Body string }
	var count struct{ Ticks, MS int64 }
	if err := json.Unmarshal(result.Payload, &state); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(state.Body), &count); err != nil {
		t.Fatal(err)
	}
	if result.Cold || count.MS < 100 || count.Ticks > count.MS/2 {
		t.Errorf("ran while it was frozen: %+v after %+v", count, result)
	}
	if result := call("/exit"); result.FunctionError == "" || !strings.Contains(string(result.Payload), "Runtime.ExitError") {
		t.Errorf("got %+v for a process that exited", result)
	}
	f.Timeout = 200 * time.Millisecond
	if result := call("/hang"); !result.Cold || !strings.Contains(string(result.Payload), "Sandbox.Timedout") {
		t.Errorf("got %+v for a process that hung", result)
	}
	f.Timeout = 0
	if result := call("/ticks"); !result.Cold || result.FunctionError != "" {
		t.Errorf("got %+v after a process that hung", result)
	}
	if result, err := f.Invoke(t.Context(), []byte(`{"guidon":"ping"}`)); err != nil || string(result.Payload) != `"pong"` {
		t.Errorf("got %s, error %v", result.Payload, err)
	}
}

// TestStreaming checks that with a front that streams, responses are not limited in size,
// and clients can detect that one was aborted. With other fronts, nothing changes.
func TestStreaming(t *testing.T) {
	t.Parallel()
	f := process(t, asStreaming+"=1")
	for _, front := range []lambdatest.Front{lambdatest.FunctionURL(), lambdatest.RESTAPI(), lambdatest.HTTPAPI("prod")} {
		streams := !strings.HasPrefix(front.Name, "HTTP API")
		t.Run(front.Name, func(t *testing.T) {
			want := http.StatusOK
			if !streams {
				want = http.StatusRequestEntityTooLarge
			}
			response, body, err := fetch(t, f, front, "/large")
			if response.StatusCode != want || err != nil || streams && len(body) != 20*6<<16 {
				t.Errorf("got %d with %d bytes, error %v", response.StatusCode, len(body), err)
			}
			if streams && response.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
				t.Errorf("got type %s", response.Header.Get("Content-Type"))
			}
			response, _, _ = fetch(t, f, front, "/flush")
			if flushed := response.StatusCode == http.StatusOK; flushed != streams {
				t.Errorf("got %d for a flush", response.StatusCode)
			}
			response, body, err = fetch(t, f, front, "/half")
			if streams && err == nil || !streams && response.StatusCode != http.StatusInternalServerError {
				t.Errorf("got %d %q, error %v, for an aborted response", response.StatusCode, body, err)
			}
			response, body, err = fetch(t, f, front, "/panic")
			if response.StatusCode != http.StatusInternalServerError || strings.Contains(string(body), "secret") || err != nil {
				t.Errorf("got %d %s, error %v, for a panic", response.StatusCode, body, err)
			}
			response, _, _ = fetch(t, f, front, "/cookies", "Cookie: a=1; b=2")
			if got := response.Header["Set-Cookie"]; response.StatusCode != http.StatusTeapot || strings.Join(got, "|") != "a=1|b=2" {
				t.Errorf("got %d with cookies %q", response.StatusCode, got)
			}
			if _, body, _ = fetch(t, f, front, "/bytes"); !bytes.Equal(body, []byte{0, 0, 0, 0, 0, 0, 0, 0, 0xff}) {
				t.Errorf("got %q", body)
			}
		})
	}
	result, err := f.Invoke(t.Context(), []byte(`{"guidon":"ping"}`))
	if err != nil || string(result.Payload) != `"pong"` || result.Cold {
		t.Errorf("got %+v, error %v", result, err)
	}
}

// TestStreamingLive checks that streamed data reaches the caller while the handler is
// still running.
func TestStreamingLive(t *testing.T) {
	t.Parallel()
	f := process(t, asStreaming+"=1")
	for _, front := range []lambdatest.Front{lambdatest.FunctionURL(), lambdatest.RESTAPI()} {
		t.Run(front.Name, func(t *testing.T) {
			seen := make(chan struct{})
			gate := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				select {
				case <-seen:
				case <-r.Context().Done(): // the function has timed out
				}
			}))
			defer gate.Close()
			server := httptest.NewServer(f.Serve(front))
			defer server.Close()
			response, err := http.Get(server.URL + "/live?wait=" + url.QueryEscape(gate.URL))
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			first := make([]byte, len("first"))
			if _, err := io.ReadFull(response.Body, first); err != nil || string(first) != "first" {
				t.Fatalf("got %q, error %v", first, err)
			}
			close(seen)
			if rest, err := io.ReadAll(response.Body); err != nil || string(rest) != "last" {
				t.Errorf("then got %q, error %v", rest, err)
			}
		})
	}
}
