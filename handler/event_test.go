package handler_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/evaluation"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

// TestEvent: every request is logged once, with all its attributes.
func TestEvent(t *testing.T) {
	s := newServer(t, required)
	admin := "Bearer " + s.token("")
	self := s.must("self", "GET", "/auth/v1/self", "", "Authorization", admin)
	actor := "token:" + self.field(t, "id")
	for _, test := range []struct {
		name, method, path, body string
		want                     map[string]any
	}{
		{"write", "POST", "/api/v1/namespaces/default/flags", `{"key":"f","name":"F"}`, map[string]any{
			"level": "INFO", "operation": "/flipt.Flipt/CreateFlag", "transport": "http", "method": "POST",
			"route": "/api/v1/namespaces/{namespace_key}/flags", "actor": actor, "namespace": "default", "revision": 2.0, "code": "ok", "status": 200.0,
		}},
		{"failure", "GET", "/api/v1/flags/nope?namespaceKey=default", "", map[string]any{
			"level": "INFO", "operation": "/flipt.Flipt/GetFlag", "transport": "http", "method": "GET",
			"route": "/api/v1/flags/{key}", "actor": actor, "namespace": "default", "revision": 2.0, "code": "not found", "status": 404.0,
			"error": `flag "default/nope" not found`,
		}},
		{"malformed", "POST", "/api/v1/flags", "{", map[string]any{
			"level": "INFO", "operation": "/flipt.Flipt/CreateFlag", "transport": "http", "method": "POST",
			"route": "/api/v1/flags", "actor": actor, "code": "invalid argument", "status": 400.0, "error": "the request could not be decoded",
		}},
		{"health", "GET", "/health", "", map[string]any{
			"level": "DEBUG", "operation": "/health", "transport": "http", "method": "GET", "route": "/health", "code": "ok", "status": 200.0,
		}},
		{"unmatched", "BREW", "/api/v1/nope", "", map[string]any{
			"level": "INFO", "operation": "unmatched", "transport": "http", "method": "other", "route": "", "code": "not found", "status": 404.0, "error": "Not Found",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := *s
			s.t = t
			r := s.do(test.method, test.path, test.body, "Authorization", admin, "X-Request-Id", test.name)
			if got := r.header.Get("X-Request-Id"); got != test.name {
				t.Errorf("X-Request-Id %q", got)
			}
			got := s.logs.event(t, test.name)
			if got["bytes"] != float64(len(r.body)) || got["duration"].(float64) <= 0 || got["msg"] != "request" {
				t.Errorf("%v", got)
			}
			for _, name := range []string{"time", "msg", "bytes", "duration", "request_id", "trace_id"} { // fronts of functions begin a trace
				delete(got, name)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestTraceInLog: the log of a request has the trace that its header names.
func TestTraceInLog(t *testing.T) {
	s := newServer(t)
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	for i, value := range []string{
		"00-" + id + "-00f067aa0ba902b7-01", "00-" + id + "-00f067aa0ba902b7-00", "cc-" + id + "-00f067aa0ba902b7-01-later",
	} {
		s.checkTrace(i, "Traceparent", value, id)
	}
}

// TestTraceOfFront: what a front of a function says of the trace counts if nobody else does, and nothing that is
// malformed.
func TestTraceOfFront(t *testing.T) {
	s := newServer(t)
	const id, zero = "4bf92f3577b34da6a3ce929d0e0e4736", "00000000000000000000000000000000"
	for i, test := range []struct {
		name, value string
		want        any
	}{
		{"Traceparent", "00-" + id, nil},
		{"Traceparent", "00-" + zero + "-00f067aa0ba902b7-01", nil},
		{"Traceparent", "00-" + strings.ToUpper(id) + "-00f067aa0ba902b7-01", nil},
		{"X-Amzn-Trace-Id", "Root=1-4bf92f35-77b34da6a3ce929d0e0e4736;Parent=00f067aa0ba902b7;Sampled=1", id},
		{"X-Amzn-Trace-Id", "Self=1-00000000-000000000000000000000000;Root=1-4bf92f35-77b34da6a3ce929d0e0e4736", id},
		{"X-Amzn-Trace-Id", "Root=1-4bf92f35", nil},
		{"X-Amzn-Trace-Id", "Root=1-4bf92f35+77b34da6a3ce929d0e0e4736", nil},
		{"X-Amzn-Trace-Id", "Root=1-4bf92f35-77b34da6a3ce929d0e0e473\"", nil},
	} {
		s.checkTrace(i, test.name, test.value, test.want)
	}
}

// checkTrace sends a request with the header, and checks the trace in its log.
func (s *server) checkTrace(i int, name, value string, want any) {
	s.t.Helper()
	request := "trace-" + strconv.Itoa(i)
	s.do("GET", "/api/v1/namespaces", "", "X-Request-Id", request, name, value)
	if got := s.logs.event(s.t, request)["trace_id"]; got != want {
		s.t.Errorf("%s %s: got %v, want %v", name, value, got, want)
	}
}

// TestAuthenticationReasons: the reason of a 401 is only logged (operations 1.1).
func TestAuthenticationReasons(t *testing.T) {
	s := newServer(t, required)
	s.do("GET", "/api/v1/flags", "", "X-Request-Id", "none")
	s.do("GET", "/api/v1/flags", "", "X-Request-Id", "scoped", "Authorization", "Bearer "+s.token("shop"))
	if got := s.logs.event(t, "none")["error"]; got != unauthenticated+": no credential in the request" {
		t.Errorf("%v", got)
	}
	e := s.logs.event(t, "scoped")
	if got := e["error"]; got != unauthenticated+": the token is limited to another namespace" {
		t.Errorf("%v", got)
	}
	if got, _ := e["actor"].(string); !strings.HasPrefix(got, "token:") {
		t.Errorf("actor %q", got)
	}
}

// TestLogsHaveNoSecrets sends a secret everywhere a client could put one.
func TestLogsHaveNoSecrets(t *testing.T) {
	const secret = "hunter2"
	s := newServer(t, required)
	admin := "Bearer " + s.token("")
	calls := [][]string{
		{"GET", "/api/v1/flags?x=" + secret, "", "Authorization", "Bearer " + secret},
		{"GET", "/api/v1/flags?limit=" + secret, "", "Authorization", secret},
		{"GET", "/auth/v1/self", "", "Cookie", "service_client_token=" + secret},
		{"POST", "/evaluate/v1/variant", `{"flagKey":"f","entityId":"` + secret + `","context":{"` + secret + `":"` + secret + `"}}`, "Authorization", admin},
		{"POST", "/evaluate/v1/variant", `{"context":{"a":` + secret + `}}`, "Authorization", admin},
		{"POST", "/api/v1/flags", `{"type":"` + secret + `"}`, "Authorization", admin},
		{"POST", "/ofrep/v1/evaluate/flags/f", `{"context":{"targetingKey":"` + secret + `","` + secret + `":"` + secret + `"}}`, "X-API-Key", strings.TrimPrefix(admin, "Bearer ")},
		{"POST", "/ofrep/v1/evaluate/flags?x=" + secret, `{"context":"` + secret + `"}`, "Authorization", admin},
		{"POST", "/ofrep/v1/evaluate/flags", `{}`, "X-API-Key", secret},
		{"POST", "/auth/v1/method/token", `{"name":"n","metadata":{"x":"` + secret + `"}}`, "Authorization", admin},
		{"PUT", "/auth/v1/self/expire?expiresAt=" + secret, "", "Authorization", admin},
		{"GET", "/health?service=" + secret, ""},
		{"GET", "/nope?" + secret, ""},
	}
	for _, call := range calls {
		s.do(call[0], call[1], call[2], append(call[3:], "X-Request-Id", "secretive")...)
	}
	_, logged := s.logs.find(t, "secretive", len(calls))
	for _, secret := range []string{secret, strings.TrimPrefix(admin, "Bearer ")} {
		if i := strings.Index(logged, secret); i >= 0 {
			t.Errorf("logged: …%s…", logged[max(0, i-300):min(len(logged), i+100)])
		}
	}
}

// TestRequestID: a request id is kept only if it is fit for a log.
func TestRequestID(t *testing.T) {
	s := newServer(t)
	for given, kept := range map[string]bool{
		"a": true, "A-z_0.9": true, strings.Repeat("x", 128): true,
		"": false, strings.Repeat("x", 129): false, "a b": false, "é": false, "a/b": false, `"`: false,
	} {
		got := s.do("GET", "/health", "", "X-Request-Id", given).header.Get("X-Request-Id")
		if kept && got != given || !kept && stable(got) != "ID" {
			t.Errorf("%q became %q", given, got)
		}
	}
}

// brokenStore panics, or fails with an error whose text must not reach clients.
type brokenStore struct {
	service.Store
	with any
}

func (s brokenStore) Snapshot(context.Context, string, service.Demand) (*guidon.Snapshot, time.Duration, error) {
	if err, ok := s.with.(error); ok && !errors.Is(err, http.ErrAbortHandler) {
		return nil, 0, err
	}
	panic(s.with)
}

// TestPanic: a panic becomes a 500 with a request id. The log has the details, and the
// process survives.
func TestPanic(t *testing.T) {
	for name, with := range map[string]any{"panic": "secret detail", "error": errors.New("secret detail")} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, func(c *handler.Config) { c.Service = service.NewService(brokenStore{with: with}, time.Now) })
			r := s.do("GET", "/api/v1/flags", "", "X-Request-Id", "boom")
			r.fails(t, 500, 13, "internal error")
			e := s.logs.event(t, "boom")
			if text, _ := e["error"].(string); !strings.Contains(text, "secret detail") || e["level"] != "ERROR" || e["code"] != "internal error" {
				t.Errorf("%v", e)
			}
			stack, _ := e["stack"].(string)
			if got := strings.Contains(stack, "brokenStore"); got != (name == "panic") {
				t.Errorf("stack %q", stack)
			}
			_, err := s.handler.Invoke(t.Context(), operation(t, "ListFlags"), call.Request{Message: &flipt.ListFlagRequest{}})
			if !errors.Is(err, guidon.Internal) && guidon.CodeOf(err) != guidon.Internal {
				t.Errorf("%v", err)
			}
			s.do("GET", "/health", "").check(t, 200, `{"status":"SERVING"}`)
		})
	}
}

// TestPanicElsewhere: a panic outside of an operation becomes a 500 or, if the response
// has started, aborts the connection.
func TestPanicElsewhere(t *testing.T) {
	for name, started := range map[string]bool{"before the response": false, "in the middle of the response": true} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, func(c *handler.Config) {
				c.MetricsPublic = true
				c.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					if started {
						w.Header().Set("Content-Length", "100")
						_, _ = w.Write([]byte("half"))
					}
					panic("boom")
				})
			})
			request, err := http.NewRequest("GET", s.url+"/metrics", nil)
			if err != nil {
				t.Fatal(err)
			}
			if !started {
				s.send(request).fails(t, 500, 13, "internal error")
				return
			}
			if response, err := client.Do(request); err == nil {
				body, err := io.ReadAll(response.Body)
				_ = response.Body.Close()
				if err == nil || string(body) != "half" {
					t.Errorf("got the body %q and error %v, want it cut after half", body, err)
				}
			}
			s.do("GET", "/health", "").check(t, 200, `{"status":"SERVING"}`)
		})
	}
}

// TestAbort: http.ErrAbortHandler is passed on to net/http.
func TestAbort(t *testing.T) {
	s := newServer(t, func(c *handler.Config) {
		c.Service = service.NewService(brokenStore{with: http.ErrAbortHandler}, time.Now)
	})
	request, err := http.NewRequest("GET", s.url+"/api/v1/flags", nil)
	if err != nil {
		t.Fatal(err)
	}
	if response, err := client.Do(request); err == nil {
		_ = response.Body.Close()
		t.Errorf("got status %d, want an aborted connection", response.StatusCode)
	}
}

type panickingObserver struct{}

func (panickingObserver) Finished(string, string, guidon.Code, time.Duration, string) { panic("rude") }
func (panickingObserver) Evaluated([]evaluation.Event)                                { panic("rude") }
func (panickingObserver) SnapshotRequested(string, int)                               { panic("rude") }

// TestPanickingObserver: an observer that panics ends neither the process nor a response
// that is ready.
func TestPanickingObserver(t *testing.T) {
	s := newServer(t, func(c *handler.Config) { c.Observer, c.Evaluations = panickingObserver{}, panickingObserver{} })
	s.do("GET", "/health", "").check(t, 200, `{"status":"SERVING"}`)
	s.do("POST", "/evaluate/v1/variant", "{}").fails(t, 500, 13, "internal error")
	if _, err := s.handler.Invoke(t.Context(), operation(t, "ListFlags"), call.Request{Message: &flipt.ListFlagRequest{}}); err != nil {
		t.Error(err)
	}
}

// TestUnavailable: a 503 has a Retry-After header.
func TestUnavailable(t *testing.T) {
	s := newServer(t, func(c *handler.Config) {
		c.Service = service.NewService(brokenStore{with: guidon.Errorf(guidon.Unavailable, "the database is down")}, time.Now)
	})
	r := s.do("GET", "/api/v1/flags", "")
	r.fails(t, 503, 14, "the database is down")
	if got := r.header.Get("Retry-After"); got != "1" {
		t.Errorf("Retry-After %q", got)
	}
}
