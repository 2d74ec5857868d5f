package handler_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/limit"
	"github.com/guidonhq/guidon/handler/stream"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/internal/bubble"
	"github.com/guidonhq/guidon/runtimes/lambda"
	"github.com/guidonhq/guidon/runtimes/lambda/lambdatest"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
)

// limitedServer has a handler that requires credentials and limits failed ones, with a clock
// that stands still until the test moves it.
type limitedServer struct {
	*server
	limits *limit.Failures
	now    time.Time
}

// newLimitedServer returns a handler with the limits. The proxies in 10.0.0.0/8 and 127.0.0.1
// are trusted.
func newLimitedServer(t *testing.T, limits limit.FailureConfig) *limitedServer {
	l := &limitedServer{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	limits.Now = func() time.Time { return l.now }
	l.limits = limit.NewFailures(limits)
	l.server = newInside(t, "the clock of the limits is the test's own", required, func(c *handler.Config) {
		c.Failures, c.Metrics = l.limits, http.NotFoundHandler()
		c.Proxies = limit.Proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("127.0.0.1/32")}
		c.Streams = stream.NewHub(stream.Config{MaxOFREP: 1, MaxChanges: 1})
	})
	return l
}

// request is a request from an address.
type request struct {
	method, path, body string
	headers            []string
}

// from sends the request from the address, and returns the response.
func (l *limitedServer) from(peer string, r request) reply {
	request := httptest.NewRequest(r.method, r.path, strings.NewReader(r.body))
	request.Host, request.RemoteAddr = "localhost", peer
	for i := 0; i < len(r.headers); i += 2 {
		request.Header.Add(r.headers[i], r.headers[i+1])
	}
	w := httptest.NewRecorder()
	l.handler.ServeHTTP(w, request)
	return reply{w.Code, w.Header(), w.Body.String()}
}

// denied sends the request until it is limited, or n times, and returns how often it was
// not. Every other response must have the status.
func (l *limitedServer) denied(t *testing.T, peer string, r request, status, n int) int {
	t.Helper()
	for i := range n {
		switch got := l.from(peer, r); got.status {
		case status:
		case http.StatusTooManyRequests:
			return i
		default:
			t.Fatalf("%s %s: got %d %s", r.method, r.path, got.status, got.body)
		}
	}
	return n
}

const (
	limitedMessage = "too many requests with invalid credentials; try again later"
	limitedJSON    = `{"code":8,"message":"` + limitedMessage + `","details":[]}`
)

var (
	bad     = []string{"Authorization", "Bearer gdn_unknown"}
	listing = request{"GET", "/api/v1/namespaces", "", bad}
)

// TestFailureLimit: on every kind of route, each request with an invalid credential counts
// once. Beyond the limit it gets 429 with Retry-After. Others, and those with a valid
// credential, are not concerned.
func TestFailureLimit(t *testing.T) {
	const peer = "192.0.2.1:4711"
	for _, test := range []struct {
		name string
		request
		want string
	}{
		{"a list", listing, limitedJSON},
		{"the cookie", request{"GET", "/api/v1/namespaces", "", []string{"Cookie", "service_client_token=gdn_unknown"}}, limitedJSON},
		{"another scheme", request{"GET", "/api/v1/namespaces", "", []string{"Authorization", "Basic dTpw"}}, limitedJSON},
		{"no token in the header", request{"GET", "/api/v1/namespaces", "", []string{"Authorization", "Bearer "}}, limitedJSON},
		{"a body", request{"POST", "/api/v1/flags", `{"key":"k","name":"K"}`, bad}, limitedJSON},
		{"a malformed body", request{"POST", "/api/v1/flags", `{`, bad}, limitedJSON},
		{"an evaluation", request{"POST", evaluatePath, evaluateF, bad}, limitedJSON},
		{"the caller itself", request{"GET", "/auth/v1/self", "", bad}, limitedJSON},
		{"indented", request{"GET", "/api/v1/namespaces?pretty", "", bad}, "{\n  \"code\": 8,\n  \"message\": \"" + limitedMessage + "\"\n}"},
		{"OFREP", request{"POST", ofrepPath + "/shop", `{}`, bad}, `{"key":"shop","errorCode":"GENERAL","errorDetails":"` + limitedMessage + `"}`},
		{"OFREP with a key", request{"POST", ofrepPath, `{}`, []string{"X-API-Key", "gdn_unknown"}}, `{"errorCode":"GENERAL","errorDetails":"` + limitedMessage + `"}`},
		{"a stream of changes", request{"GET", changesPath, "", bad}, limitedJSON},
		{"an OFREP stream", request{"GET", eventsPath, "", bad}, `{"errorCode":"GENERAL","errorDetails":"` + limitedMessage + `"}`},
		{"an OFREP stream with a capability", request{"GET", eventsPath + "?capability=x", "", nil}, `{"errorCode":"GENERAL","errorDetails":"` + limitedMessage + `"}`},
		{"the metrics", request{"GET", "/metrics", "", bad}, limitedJSON},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLimitedServer(t, limit.FailureConfig{PerAddress: 1})
			valid := request{"GET", "/api/v1/namespaces", "", []string{"Authorization", "Bearer " + l.token("")}}
			if got := l.denied(t, peer, test.request, 401, 20); got != 10 {
				t.Errorf("%d requests got 401, want 10", got)
			}
			r := l.from(peer, test.request)
			r.check(t, 429, test.want)
			if diff := cmp.Diff([]string{"1", ""}, []string{r.header.Get("Retry-After"), r.header.Get("WWW-Authenticate")}); diff != "" {
				t.Errorf("Retry-After and WWW-Authenticate (-want +got):\n%s", diff)
			}
			if r := l.from(peer, valid); r.status != 200 {
				t.Errorf("a valid token: %d %s", r.status, r.body)
			}
			if r := l.from("192.0.2.2:4711", test.request); r.status != 401 {
				t.Errorf("another address: %d %s", r.status, r.body)
			}
			l.now = l.now.Add(time.Second)
			if got := l.denied(t, peer, test.request, 401, 20); got != 1 {
				t.Errorf("a second later %d requests got 401, want 1", got)
			}
		})
	}
}

// TestNotFailures: what is not a failed credential is never limited and counts nowhere.
func TestNotFailures(t *testing.T) {
	const peer = "192.0.2.1:4711"
	l := newLimitedServer(t, limit.FailureConfig{PerAddress: 1, Total: 1})
	shop := []string{"Authorization", "Bearer " + l.token("shop")}
	for _, test := range []struct {
		name string
		request
		status int
	}{
		{"no credential", request{"GET", "/api/v1/namespaces", "", nil}, 401},
		{"no credential for a stream", request{"GET", eventsPath, "", nil}, 401},
		{"no credential for the metrics", request{"GET", "/metrics", "", nil}, 401},
		{"an empty cookie", request{"GET", "/api/v1/namespaces", "", []string{"Cookie", "service_client_token="}}, 401},
		{"a token of another namespace", request{"GET", "/api/v1/namespaces/default/flags", "", shop}, 401},
		{"a limited token for the metrics", request{"GET", "/metrics", "", shop}, 401},
		{"a limited token for itself", request{"GET", "/auth/v1/self", "", shop}, 401},
		{"a route that needs no credential", request{"GET", "/auth/v1/method", "", bad}, 200},
		{"no such route", request{"GET", "/api/v1/nothing", "", bad}, 404},
	} {
		if got := l.denied(t, peer, test.request, test.status, 20); got != 20 {
			t.Errorf("%s: got 429 after %d requests", test.name, got)
		}
	}
	if diff := cmp.Diff(limit.FailureStats{}, l.limits.Stats()); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}
}

// TestFailureOfKnownToken: a token that is deleted after the caller was recognized by it
// counts once, also if the message turns out to be malformed.
func TestFailureOfKnownToken(t *testing.T) {
	const peer = "192.0.2.1:4711"
	for _, body := range []string{evaluateF, `{`} {
		l := &limitedServer{limits: limit.NewFailures(limit.FailureConfig{PerAddress: 1, Now: time.Now})}
		var other *service.Service
		l.server, _, other = newShared(t, cache.Freshness{}, required, func(c *handler.Config) { c.Failures = l.limits })
		token, a, err := l.service.CreateToken(t.Context(), service.Write{}, service.TokenInput{Name: "t"})
		if err != nil {
			t.Fatal(err)
		}
		r := request{"POST", evaluatePath, body, []string{"Authorization", "Bearer " + token}}
		if got := l.from(peer, r); got.status == 401 {
			t.Errorf("before: %d %s", got.status, got.body)
		}
		if err := other.DeleteAuthentication(t.Context(), service.Write{}, a.ID); err != nil {
			t.Fatal(err)
		}
		if got := l.from(peer, r); got.status != 401 {
			t.Errorf("after: %d %s", got.status, got.body)
		}
		if diff := cmp.Diff(limit.FailureStats{Denied: 1}, l.limits.Stats()); diff != "" {
			t.Errorf("%s: counted (-want +got):\n%s", body, diff)
		}
	}
}

// TestFailureTotal: the limit of the total applies to all addresses. Who has a valid token
// does not notice.
func TestFailureTotal(t *testing.T) {
	l := newLimitedServer(t, limit.FailureConfig{PerAddress: 1, Total: 2})
	for i, want := range []int{10, 10, 0} {
		if got := l.denied(t, []string{"192.0.2.1:1", "[2001:db8::1]:1", "192.0.2.3:1"}[i], listing, 401, 20); got != want {
			t.Errorf("address %d: %d requests got 401, want %d", i, got, want)
		}
	}
	if r := l.from("192.0.2.3:1", request{"GET", "/api/v1/namespaces", "", []string{"Authorization", "Bearer " + l.token("")}}); r.status != 200 {
		t.Errorf("a valid token: %d %s", r.status, r.body)
	}
}

// TestFailureAddress: behind trusted proxies callers are limited by their own address, and
// others cannot choose theirs.
func TestFailureAddress(t *testing.T) {
	with := func(forwarded ...string) request {
		r := listing
		for _, value := range forwarded {
			r.headers = append(r.headers[:len(r.headers):len(r.headers)], "X-Forwarded-For", value)
		}
		return r
	}
	for _, test := range []struct {
		name, peer string
		request    request
		limited    bool // once 192.0.2.1 is
	}{
		{"itself", "192.0.2.1:9999", with(), true},
		{"with a header", "192.0.2.1:4711", with("192.0.2.2"), true},
		{"behind a proxy", "10.0.0.1:4711", with("192.0.2.1"), true},
		{"behind a proxy, with a made-up entry", "10.0.0.1:4711", with("198.51.100.1, 192.0.2.1"), true},
		{"behind two proxies, with a made-up header", "10.0.0.1:4711", with("127.0.0.1", "192.0.2.1", "10.0.0.2"), true},
		{"behind a proxy on this machine", "127.0.0.1:4711", with("192.0.2.1"), true},
		{"mapped", "[::ffff:192.0.2.1]:4711", with(), true},
		{"another one behind a proxy", "10.0.0.1:4711", with("192.0.2.2"), false},
		{"the proxy", "10.0.0.1:4711", with(), false},
		{"this machine", "127.0.0.1:4711", with(), false},
		{"an address that is not known", "@", with("192.0.2.1"), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLimitedServer(t, limit.FailureConfig{PerAddress: 1})
			l.denied(t, "192.0.2.1:4711", listing, 401, 20)
			if got := l.from(test.peer, test.request).status == 429; got != test.limited {
				t.Errorf("limited: %t, want %t", got, test.limited)
			}
		})
	}
}

// TestFailureLoopback: callers on this machine are limited only if that is configured.
func TestFailureLoopback(t *testing.T) {
	for loopback, want := range map[bool]int{false: 500, true: 10} {
		for _, peer := range []string{"127.0.0.1:4711", "127.1.2.3:4711", "[::1]:4711"} {
			l := newLimitedServer(t, limit.FailureConfig{PerAddress: 1, Total: 1, Loopback: loopback})
			if got := l.denied(t, peer, listing, 401, 500); got != want {
				t.Errorf("loopback %t, from %s: %d requests got 401, want %d", loopback, peer, got, want)
			}
		}
	}
}

// TestFailureLocal: calls within this process are no failures.
func TestFailureLocal(t *testing.T) {
	l := newLimitedServer(t, limit.FailureConfig{PerAddress: 1, Total: 1, Loopback: true})
	l.denied(t, "127.0.0.1:1", listing, 401, 20)
	before := l.limits.Stats()
	for range 20 {
		_, err := l.handler.Invoke(t.Context(), operation(t, "ListNamespaces"), call.Request{
			Message: &flipt.ListNamespaceRequest{}, Transport: "local", Actor: &change.Actor{ID: "cli"},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(before, l.limits.Stats()); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}
}

// TestFailureOnLambda: on AWS Lambda, the address is that of the event, behind every front.
// A caller cannot make it a loopback address.
func TestFailureOnLambda(t *testing.T) {
	for _, front := range lambdatest.Fronts() {
		t.Run(front.Name, func(t *testing.T) {
			l := newLimitedServer(t, limit.FailureConfig{PerAddress: 1})
			f := lambda.New(lambda.Config{Handler: l.handler})
			through := front.Handler(func(r *http.Request, event []byte) (lambdatest.Result, error) {
				payload, err := f.Invoke(r.Context(), event)
				return lambdatest.Result{Payload: payload}, err
			})
			from := func(peer string) (statuses []int) {
				for range 12 {
					request := httptest.NewRequest("GET", "/api/v1/namespaces", nil)
					request.RemoteAddr = peer
					request.Header.Set("Authorization", "Bearer gdn_unknown")
					request.Header.Set("X-Forwarded-For", "127.0.0.1")
					w := httptest.NewRecorder()
					through.ServeHTTP(w, request)
					statuses = append(statuses, w.Code)
				}
				return statuses
			}
			want := []int{401, 401, 401, 401, 401, 401, 401, 401, 401, 401, 429, 429}
			for _, peer := range []string{"192.0.2.1:4711", "[2001:db8::1]:4711", "127.0.0.1:4711"} {
				if diff := cmp.Diff(want, from(peer)); diff != "" {
					t.Errorf("from %s (-want +got):\n%s", peer, diff)
				}
			}
		})
	}
}

// TestFailureEvent: the log says that a request was limited, and why its credential is not
// valid, but not the credential.
func TestFailureEvent(t *testing.T) {
	l := newLimitedServer(t, limit.FailureConfig{PerAddress: 1})
	l.denied(t, "192.0.2.1:1", listing, 401, 20)
	r := listing
	r.headers = append(r.headers[:len(r.headers):len(r.headers)], "X-Request-Id", "limited")
	l.from("192.0.2.1:1", r)
	events, all := l.logs.find(t, "limited", 1)
	if strings.Contains(all, "gdn_unknown") {
		t.Error("the log shows the credential")
	}
	got := events[0]
	want := limitedMessage + ": request was not authenticated: the token is unknown or has expired"
	if got["code"] != "limited" || got["status"] != 429.0 || got["level"] != "INFO" || got["error"] != want {
		t.Errorf("got %v, want the code limited, the status 429 and the error %q", got, want)
	}
}

// TestStreamFailures: the failure of a stream that was open does not count. Its client has
// not tried anything.
func TestStreamFailures(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		limits := limit.NewFailures(limit.FailureConfig{PerAddress: 1, Now: time.Now})
		j := newJournal()
		j.setTokens(&service.Authentication{ID: "id", Method: service.MethodToken, TokenHash: service.HashToken("secret")})
		h, _ := streaming(j, required, func(c *handler.Config) { c.Failures = limits })
		l := listen(t, h, eventsPath+"?namespace=default", "Authorization", "Bearer secret")
		l.begun(refetch("1", "1"))
		time.Sleep(time.Second)
		j.setTokens()
		if time.Sleep(3 * time.Second); !l.ended() {
			t.Error("has not ended")
		}
		synctest.Wait()
		if diff := cmp.Diff(limit.FailureStats{}, limits.Stats()); diff != "" {
			t.Errorf("counted (-want +got):\n%s", diff)
		}
	})
}
