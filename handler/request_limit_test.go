package handler_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/internal/bubble"
	"github.com/guidonhq/guidon/service"
)

// newThrottled returns a handler that requires credentials and allows so many evaluation
// requests per second for each, with a clock that stands still until the test moves it.
func newThrottled(t *testing.T, perSecond int, options ...func(*handler.Config)) *limitedServer {
	l := &limitedServer{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	limit := func(c *handler.Config) {
		c.Requests = call.NewRequestLimiter(perSecond, func() time.Time { return l.now })
	}
	l.server = newInside(t, "the clock of the limit is the test's own", append([]func(*handler.Config){required, limit}, options...)...)
	return l
}

// as returns the request with the token in the Authorization header.
func (r request) as(token string) request {
	r.headers = append([]string{"Authorization", "Bearer " + token}, r.headers...)
	return r
}

const (
	peer             = "192.0.2.1:4711"
	throttledMessage = "too many requests with this credential; try again later"
	throttledJSON    = `{"code":8,"message":"` + throttledMessage + `","details":[]}`
	throttledBulk    = `{"errorCode":"GENERAL","errorDetails":"` + throttledMessage + `"}`
)

// evaluations are requests of each kind that evaluates, for the flag f, which is disabled.
var evaluations = []struct {
	name string
	request
	status int
	want   string // beyond the limit
}{
	{"variant", request{"POST", "/evaluate/v1/variant", evaluateF, nil}, 200, throttledJSON},
	{"boolean", request{"POST", "/evaluate/v1/boolean", evaluateF, nil}, 400, throttledJSON},
	{"a batch", request{"POST", "/evaluate/v1/batch", `{"requests":[` + evaluateF + `,` + evaluateF + `,` + evaluateF + `]}`, nil}, 200, throttledJSON},
	{"legacy", request{"POST", "/api/v1/evaluate", evaluateF, nil}, 200, throttledJSON},
	{"legacy in a namespace", request{"POST", "/api/v1/namespaces/default/evaluate", evaluateF, nil}, 200, throttledJSON},
	{"a legacy batch", request{"POST", "/api/v1/batch-evaluate", `{"requests":[` + evaluateF + `,` + evaluateF + `]}`, nil}, 200, throttledJSON},
	{"a snapshot", request{"GET", "/internal/v1/evaluation/snapshot/namespace/default", "", nil}, 200, throttledJSON},
	{"an unknown flag", request{"POST", "/evaluate/v1/variant", `{"flagKey":"nope"}`, nil}, 404, throttledJSON},
	{"indented", request{"POST", "/evaluate/v1/variant?pretty", evaluateF, nil}, 200, "{\n  \"code\": 8,\n  \"message\": \"" + throttledMessage + "\"\n}"},
	{"OFREP", request{"POST", ofrepPath + "/f", `{}`, nil}, 200, `{"key":"f","errorCode":"GENERAL","errorDetails":"` + throttledMessage + `"}`},
	{"OFREP, bulk", request{"POST", ofrepPath, `{}`, nil}, 200, throttledBulk},
	{"OFREP, configuration", request{"GET", "/ofrep/v1/configuration", "", nil}, 200, throttledBulk},
}

// newFlagF creates the flag f, with a token whose requests do not count here.
func (l *limitedServer) newFlagF() {
	l.must("", "POST", "/api/v1/flags", `{"key":"f","name":"F","type":"VARIANT_FLAG_TYPE"}`, "Authorization", "Bearer "+l.token(""))
}

// TestRequestLimit: a token may send requests of each kind that evaluates as often as in
// ten seconds together, and then at its rate. Beyond that it gets 429 with Retry-After.
func TestRequestLimit(t *testing.T) {
	for _, test := range evaluations {
		t.Run(test.name, func(t *testing.T) {
			l := newThrottled(t, 2, func(c *handler.Config) { c.CORS = &exchange.CORSConfig{} })
			l.newFlagF()
			token := l.token("")
			r := test.as(token)
			if got := l.denied(t, peer, r, test.status, 40); got != 20 {
				t.Errorf("%d requests are served, want 20", got)
			}
			r.headers = append(r.headers, "Origin", "https://a.example")
			limited := l.from(peer, r)
			limited.check(t, 429, test.want)
			got := []string{limited.header.Get("Retry-After"), limited.header.Get("Content-Type"), limited.header.Get("Access-Control-Allow-Origin"), limited.header.Get("ETag")}
			if diff := cmp.Diff([]string{"1", "application/json", "*", ""}, got); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
			if r := l.from(peer, test.as(l.token(""))); r.status != test.status {
				t.Errorf("another token: %d %s", r.status, r.body)
			}
			if got := l.denied(t, peer, request{"GET", "/api/v1/flags", "", nil}.as(token), 200, 50); got != 50 {
				t.Errorf("%d requests of the management API are served, want all", got)
			}
			l.now = l.now.Add(time.Second)
			if got := l.denied(t, peer, r, test.status, 40); got != 2 {
				t.Errorf("a second later %d requests are served, want 2", got)
			}
			l.now = l.now.Add(time.Hour)
			if got := l.denied(t, peer, r, test.status, 40); got != 20 {
				t.Errorf("an hour later %d requests are served, want 20", got)
			}
		})
	}
}

// TestRequestLimitIsOne: all kinds of requests with a token, wherever it is in the request
// and by whatever transport, count together.
func TestRequestLimitIsOne(t *testing.T) {
	l := newThrottled(t, 2)
	l.newFlagF()
	token := l.token("")
	served := 0
	for _, test := range evaluations {
		if r := l.from(peer, test.as(token)); r.status != test.status {
			t.Errorf("%s: %d %s", test.name, r.status, r.body)
		}
		served++
	}
	for _, headers := range [][]string{{"Cookie", "service_client_token=" + token}, {"X-API-Key", token}} {
		if r := l.from("192.0.2.2:1", request{"POST", ofrepPath, `{}`, headers}); r.status != 200 {
			t.Errorf("with %s: %d %s", headers[0], r.status, r.body)
		}
		served++
	}
	bulk := l.from(peer, request{"POST", ofrepPath, `{}`, nil}.as(l.token("")))
	if r := l.from(peer, request{"POST", ofrepPath, `{}`, []string{"If-None-Match", bulk.header.Get("ETag")}}.as(token)); r.status != 304 {
		t.Errorf("not modified: %d %s", r.status, r.body)
	}
	served++
	overGRPC := func() error {
		_, err := l.handler.Invoke(t.Context(), operation(t, "Variant"), call.Request{
			Message: &evaluation.EvaluationRequest{FlagKey: "f"}, Transport: "grpc", Sender: sender{},
			Credentials: call.Credentials{Authorization: []string{"Bearer " + token}},
		})
		return err
	}
	for range 20 - served {
		if err := overGRPC(); err != nil {
			t.Error(err)
		}
	}
	if err := overGRPC(); !errors.Is(err, guidon.Limited) || guidon.PublicMessage(err) != throttledMessage {
		t.Errorf("over gRPC: got error %v, want %q", err, throttledMessage)
	}
	if r := l.from(peer, evaluations[0].as(token)); r.status != 429 {
		t.Errorf("over HTTP: got %d %s, want 429", r.status, r.body)
	}
}

// sender is a caller elsewhere.
type sender struct{}

func (sender) From(context.Context) (string, []string) { return peer, nil }

// TestNotThrottled: requests that are refused, or that have no credential, take nothing and
// are not limited.
func TestNotThrottled(t *testing.T) {
	open := func(c *handler.Config) { c.Authentication.Required = false }
	excluded := func(c *handler.Config) {
		c.Authentication.ExcludeManagement, c.Authentication.ExcludeEvaluation, c.Authentication.ExcludeOFREP = true, true, true
	}
	for name, option := range map[string]func(*handler.Config){"open": open, "excluded": excluded} {
		l := newThrottled(t, 1, option)
		l.newFlagF()
		for _, test := range evaluations {
			for _, r := range []request{test.request, test.as(l.token(""))} {
				if got := l.denied(t, peer, r, test.status, 30); got != 30 {
					t.Errorf("%s: %s: %d requests are served, want all", name, test.name, got)
				}
			}
		}
	}

	l := newThrottled(t, 1)
	l.newFlagF()
	for _, test := range evaluations {
		if got := l.denied(t, peer, test.request, 401, 30); got != 30 {
			t.Errorf("%s without a token: %d get 401, want all", test.name, got)
		}
	}
	evaluator, shop, token := l.grant(service.RoleEvaluator), l.token("shop"), l.token("")
	for _, test := range []struct {
		name string
		request
		status int
	}{
		{"without the role", request{"GET", "/internal/v1/evaluation/snapshot/namespace/default", "", nil}.as(evaluator), 403},
		{"in another namespace", evaluations[0].as(shop), 401},
		{"in another namespace, OFREP", request{"POST", ofrepPath, `{}`, []string{"X-Flipt-Namespace", "other"}}.as(shop), 403},
		{"malformed", request{"POST", "/evaluate/v1/variant", `{`, nil}.as(token), 400},
	} {
		if got := l.denied(t, peer, test.request, test.status, 30); got != 30 {
			t.Errorf("%s: %d requests get %d, want all", test.name, got, test.status)
		}
	}
	for _, token := range []string{evaluator, token} {
		if got := l.denied(t, peer, evaluations[0].as(token), 200, 30); got != 10 {
			t.Errorf("then %d requests are served, want 10", got)
		}
	}
	for range 30 {
		if _, err := l.handler.Invoke(t.Context(), operation(t, "Variant"), call.Request{
			Message: &evaluation.EvaluationRequest{FlagKey: "f"}, Transport: "local", Actor: &change.Actor{ID: "cli"},
		}); err != nil {
			t.Fatalf("within the process: %v", err)
		}
	}
}

// TestRequestLimitOfStreams: an event stream counts when it is opened, whether by a token or
// by a capability, and as often as it polls it is not limited.
func TestRequestLimitOfStreams(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		j := newJournal()
		a := &service.Authentication{ID: "id", Method: service.MethodToken, TokenHash: service.HashToken("secret")}
		j.setTokens(a)
		start := time.Now()
		h, _ := streaming(j, required, func(c *handler.Config) {
			c.Requests = call.NewRequestLimiter(1, func() time.Time { return start })
		})
		capability := a.Capability("default", service.CapabilityEnd(start))
		first := listen(t, h, eventsPath+"?namespace=default", "Authorization", "Bearer secret")
		first.begun(refetch("1", "1"))
		second := listen(t, h, eventsPath+"?namespace=default&capability="+capability)
		second.begun(refetch("1", "1"))
		changes := listen(t, h, changesPath, "Authorization", "Bearer secret") // does not count: it evaluates nothing
		for i := range int64(50) {
			time.Sleep(time.Second)
			j.set(i+2, i+2)
			time.Sleep(time.Second)
			n := fmt.Sprint(i + 2)
			first.wants("event "+n, refetch(n, fmt.Sprintf("%x", i+2)))
		}
		if first.ended() || second.ended() || changes.ended() {
			t.Error("a stream has ended")
		}
		for i := range 12 {
			want := http.StatusOK
			if i >= 8 {
				want = http.StatusTooManyRequests
			}
			if r := serve(h, "POST", ofrepPath, `{}`, "Authorization", "Bearer secret"); r.Code != want {
				t.Errorf("request %d: got %d %s, want %d", i, r.Code, r.Body, want)
			}
		}
		third := listen(t, h, eventsPath+"?namespace=default", "Authorization", "Bearer secret")
		if got := third.next(); third.wire.Code != http.StatusTooManyRequests || got != throttledBulk || third.wire.Header().Get("Retry-After") != "1" {
			t.Errorf("a third stream: got %d %s", third.wire.Code, got)
		}
		for _, l := range []*streamClient{first, second, changes} {
			l.cancel()
			<-l.done
		}
		synctest.Wait()
	})
}
