package lambda_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/runtimes/lambda"
	"github.com/guidonhq/guidon/runtimes/lambda/lambdatest"
)

// behind serves the function through the front and returns the URL.
func behind(t testing.TB, front lambdatest.Front, config lambda.Config) string {
	t.Helper()
	f := lambda.New(config)
	server := httptest.NewServer(front.Handler(func(r *http.Request, event []byte) (lambdatest.Result, error) {
		payload, err := f.Invoke(r.Context(), event)
		if err != nil {
			t.Errorf("Invoke: %v", err)
		}
		return lambdatest.Result{Payload: payload}, err
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// seen is a request as a handler sees it.
type seen struct {
	Method, Path, Escaped, Host, RequestURI string
	Query                                   url.Values
	Header                                  http.Header
	Length                                  int64
	Body                                    []byte
}

// echo responds with the request as it sees it.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	// A REST API and a load balancer do not keep the order of the parameters.
	uri, _, _ := strings.Cut(r.RequestURI, "?")
	_ = json.NewEncoder(w).Encode(seen{
		Method: r.Method, Path: r.URL.Path, Escaped: r.URL.EscapedPath(), Host: r.Host, RequestURI: uri,
		Query: r.URL.Query(), Header: r.Header, Length: r.ContentLength, Body: body,
	})
}

// request is a request to send.
type request struct {
	method, target string
	header         http.Header
	body           []byte
}

func (q request) send(t *testing.T, address string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), q.method, address+q.target, bytes.NewReader(q.body))
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "flags.example"
	for name, values := range q.header {
		r.Header[name] = values
	}
	response, err := http.DefaultTransport.RoundTrip(r) // without following redirects
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, body
}

// TestRequests checks that a handler sees the same request behind each front as on a
// net/http server.
func TestRequests(t *testing.T) {
	tests := []struct {
		name string
		request
		// unsupported reports whether the front cannot pass this on, whatever the
		// function does.
		unsupported func(front string) bool
	}{
		{name: "root", request: request{method: "GET", target: "/"}},
		{name: "a decoded question mark does not start a query", request: request{method: "GET", target: "/flags/a%3Fadmin=1"}},
		{name: "a decoded percent sign does not start an escape", request: request{method: "GET", target: "/flags/100%25"}},
		{name: "a path that looks escaped when decoded", request: request{method: "GET", target: "/flags/a%2541"}},
		{name: "a decoded number sign does not start a fragment", request: request{method: "GET", target: "/flags/a%23b"}},
		{name: "space, plus, umlaut", request: request{method: "GET", target: "/flags/a%20b+c/%C3%A4"}},
		{name: "an escaped slash", request: request{method: "GET", target: "/flags/a%2Fb"}, unsupported: decodes},
		{name: "empty segments", request: request{method: "GET", target: "//flags//a/"}},
		{name: "dots", request: request{method: "GET", target: "/flags/../a/./b"}},
		{name: "like the stage", request: request{method: "GET", target: "/production/prod"}},
		{name: "query", request: request{method: "GET", target: "/?a=1&b=%26%3D%25&c=x+y%2Bz&d="}},
		{name: "query without value", request: request{method: "GET", target: "/?pretty"}},
		{name: "repeated parameters", request: request{method: "GET", target: "/?a=1&a=2&b=3"}, unsupported: singleValue},
		{name: "headers with commas stay whole", request: request{method: "GET", target: "/", header: http.Header{
			"Baggage": {"a=1,b=2"}, "If-None-Match": {`"a,b", "c"`}, "X-Json": {`{"a":1,"b":[1,2]}`}, "Accept": {"text/html, */*;q=0.1"},
			"User-Agent": {"a, b"}, "Date": {"Sat, 21 Nov 2026 07:00:00 GMT"}, "X-Empty": {""},
		}}},
		{name: "repeated headers", request: request{method: "GET", target: "/", header: http.Header{"X-Many": {"a", "b, c"}}}, unsupported: singleHeaders},
		{name: "a cookie", request: request{method: "GET", target: "/", header: http.Header{"Cookie": {"a=1; b=2"}}}},
		{name: "authorization and type", request: request{method: "POST", target: "/", body: []byte("{}"), header: http.Header{
			"Authorization": {"Bearer a,b"}, "Content-Type": {"application/json; charset=utf-8"},
		}}},
		{name: "body", request: request{method: "PUT", target: "/a?b=c", body: []byte("{\"text\":\"ä \\u0000 \u2028 <&>\"}\r\n")}},
		{name: "binary body", request: request{method: "POST", target: "/", body: []byte{0, 0xff, 0xfe, '"', '\\', 0x80}}},
		{name: "large body", request: request{method: "POST", target: "/", body: bytes.Repeat([]byte("flag\t\"x\" "), 1<<12)}},
		{name: "delete without body", request: request{method: "DELETE", target: "/a"}},
		{name: "unusual method", request: request{method: "Purge", target: "/a"}},
		{name: "options", request: request{method: "OPTIONS", target: "/a", header: http.Header{"Origin": {"https://shop.example"}}}},
	}
	handler := http.HandlerFunc(echo)
	plain := httptest.NewServer(handler)
	defer plain.Close()
	for _, front := range lambdatest.Fronts() {
		address := behind(t, front, lambda.Config{Handler: handler})
		for _, tt := range tests {
			if tt.unsupported != nil && tt.unsupported(front.Name) {
				continue
			}
			t.Run(front.Name+"/"+tt.name, func(t *testing.T) {
				_, want := tt.send(t, plain.URL)
				_, got := tt.send(t, address)
				if diff := cmp.Diff(parseSeen(t, want), parseSeen(t, got)); diff != "" {
					t.Errorf("(-net/http +Lambda):\n%s", diff)
				}
			})
		}
	}
}

func decodes(front string) bool     { return strings.HasPrefix(front, "HTTP API") }
func singleValue(front string) bool { return front == "load balancer" }

// singleHeaders reports whether the front joins repeated headers or keeps only the last.
func singleHeaders(front string) bool {
	return decodes(front) || singleValue(front) || front == "function URL"
}

// parseSeen returns the request that was seen, without the headers that every front adds.
func parseSeen(t *testing.T, body []byte) seen {
	t.Helper()
	var s seen
	if err := json.Unmarshal(body, &s); err != nil {
		t.Fatalf("%v in %q", err, body)
	}
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Amzn-Trace-Id"} {
		delete(s.Header, name)
	}
	return s
}

// TestResponses checks that a client gets the same response through each front as from a
// net/http server.
func TestResponses(t *testing.T) {
	tests := []struct {
		name    string
		method  string
		handler http.HandlerFunc
	}{
		{"nothing at all", "GET", func(http.ResponseWriter, *http.Request) {}},
		{"only a status", "GET", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) }},
		{"no content", "DELETE", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNoContent)
			if _, err := w.Write([]byte("x")); err != http.ErrBodyNotAllowed {
				panic(err)
			}
		}},
		{"not modified", "GET", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Etag", `"a,b"`)
			w.WriteHeader(http.StatusNotModified)
		}},
		{"the first status wins", "GET", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTeapot)
			w.WriteHeader(http.StatusOK)
		}},
		{"informational statuses are ignored", "GET", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusNotFound)
		}},
		{"headers are fixed by WriteHeader", "GET", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Before", "1")
			w.WriteHeader(http.StatusOK)
			w.Header().Set("X-After", "2")
			w.Header().Set("X-Before", "3")
		}},
		{"a sniffed Content-Type", "GET", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html><p>ä") }},
		{"an explicit Content-Type", "GET", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"a":`)
			_, _ = io.WriteString(w, `"<&>\u2028\\\""}`)
		}},
		{"binary", "GET", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte{0x1f, 0x8b, 0, 0xff}) }},
		{"compressed", "GET", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			_, _ = w.Write([]byte{0x1f, 0x8b, 0, 0xff})
		}},
		{"control characters", "GET", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "\x00\x01\x1f\x7f\n\"") }},
		{"cookies", "GET", func(w http.ResponseWriter, _ *http.Request) {
			for _, cookie := range []string{"a=1; Path=/; Expires=Sat, 21 Nov 2026 07:00:00 GMT", "b=2; HttpOnly", "c=; Max-Age=0"} {
				w.Header().Add("Set-Cookie", cookie)
			}
		}},
		{"a redirect after signing in", "GET", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "https://id.example/authorize?scope=openid+profile&state=a%2Bb%2C&redirect_uri=https%3A%2F%2Fflags.example")
			for _, cookie := range []string{
				"service_client_token=gdn_a-b; Path=/; Max-Age=86400; HttpOnly; Secure; SameSite=Lax",
				"service_client_state_Fh8naSx5a62a=; Path=/auth/v1/method/; Max-Age=0; HttpOnly; Secure; SameSite=Lax",
				"service_client_state_7EVz9bZSfpeO=; Path=/auth/v1/method/; Max-Age=0; HttpOnly; Secure; SameSite=Lax",
			} {
				w.Header().Add("Set-Cookie", cookie)
			}
			w.WriteHeader(http.StatusFound)
		}},
		{"a list", "GET", func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Vary"] = []string{"Accept-Encoding", "Origin"}
		}},
		{"head", "HEAD", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "5")
			_, _ = io.WriteString(w, "hello")
		}},
	}
	for _, tt := range tests {
		plain := httptest.NewUnstartedServer(tt.handler)
		plain.Config.ErrorLog = log.New(io.Discard, "", 0) // net/http warns about some of these handlers
		plain.Start()
		defer plain.Close()
		for _, front := range lambdatest.Fronts() {
			t.Run(front.Name+"/"+tt.name, func(t *testing.T) {
				address := behind(t, front, lambda.Config{Handler: tt.handler})
				want, wantBody := request{method: tt.method, target: "/"}.send(t, plain.URL)
				got, gotBody := request{method: tt.method, target: "/"}.send(t, address)
				if got.StatusCode != want.StatusCode {
					t.Errorf("got status %d, want %d", got.StatusCode, want.StatusCode)
				}
				if diff := cmp.Diff(comparable(want.Header), comparable(got.Header)); diff != "" {
					t.Errorf("headers (-net/http +Lambda):\n%s", diff)
				}
				if diff := cmp.Diff(wantBody, gotBody); diff != "" {
					t.Errorf("body (-net/http +Lambda):\n%s", diff)
				}
			})
		}
	}
}

// comparable returns the headers in a normalized form, without those of the connection.
func comparable(header http.Header) map[string][]string {
	all := map[string][]string{}
	for name, values := range header {
		switch name {
		case "Date", "Content-Length", "Connection":
		case "Set-Cookie": // a load balancer does not keep their order
			all[name] = slices.Sorted(slices.Values(values))
		default:
			all[name] = []string{strings.Join(values, ", ")}
		}
	}
	return all
}

// TestStages checks that a stage or a base path is removed if it is a whole path segment.
func TestStages(t *testing.T) {
	tests := []struct {
		stage, base, target, want, removed string
	}{
		{"$default", "", "/prod/a", "/prod/a", ""},
		{"prod", "", "/a", "/a", "/prod"},
		{"prod", "", "/", "/", "/prod"},
		{"prod", "", "", "/", "/prod"},
		{"prod", "", "/prod/a", "/prod/a", "/prod"},
		{"prod", "", "uction/a", "/production/a", ""},
		{"$default", "flags", "/flags/a", "/a", "/flags"},
		{"$default", "/flags/", "/flags", "/", "/flags"},
		{"$default", "/flags", "/flagship", "/flagship", ""},
		{"$default", "/a/b", "/a/b/c", "/c", "/a/b"},
		{"prod", "/flags", "/flags/prod/x", "/prod/x", "/prod/flags"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s%s%s", tt.stage, tt.base, tt.target), func(t *testing.T) {
			event, err := json.Marshal(map[string]any{
				"version": "2.0", "rawPath": map[bool]string{true: "", false: "/" + tt.stage}[tt.stage == "$default"] + tt.target,
				"requestContext": map[string]any{"stage": tt.stage, "http": map[string]any{"method": "GET"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			got, removed := "", ""
			f := lambda.New(lambda.Config{BasePath: tt.base, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				got, removed = r.URL.Path, lambda.RemovedPath(r)
			})})
			if _, err := f.Invoke(t.Context(), event); err != nil {
				t.Fatal(err)
			}
			if got != tt.want || removed != tt.removed {
				t.Errorf("got %s without %s, want %s without %s", got, removed, tt.want, tt.removed)
			}
		})
	}
}

// TestRemovedByREST: a REST API has removed the stage itself, but not at a custom domain.
func TestRemovedByREST(t *testing.T) {
	for callerPath, want := range map[string]string{"/prod/base/a": "/prod/base", "/base/a": "/base", "": "/base", "/other/base/a": "/base"} {
		event, err := json.Marshal(map[string]any{
			"httpMethod": "GET", "path": "/base/a", "requestContext": map[string]any{"stage": "prod", "path": callerPath},
		})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		f := lambda.New(lambda.Config{BasePath: "/base", Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = lambda.RemovedPath(r) })})
		if _, err := f.Invoke(t.Context(), event); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", callerPath, got, want)
		}
	}
}
