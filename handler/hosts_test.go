package handler_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/stream"
)

// anyHost is why the tests of host names need a server in this process.
const anyHost = "a function of AWS Lambda answers under any name"

// requestWithHost returns the response to a request with the Host. It calls the handler
// directly, because no client sends all of these values.
func requestWithHost(h http.Handler, host, method, path string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, path, strings.NewReader("{}"))
	request.Host = host
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, request)
	return recorder
}

// TestHosts: names that can be registered publicly are rejected if no credential is
// needed.
func TestHosts(t *testing.T) {
	s := newInside(t, anyHost, func(c *handler.Config) { c.AllowedHosts = []string{"Flags.Example", "rooted.example.", "guidon.flags"} })
	long := strings.Repeat("a.", 130)
	for want, hosts := range map[int][]string{
		http.StatusOK: {
			"localhost", "localhost:8080", "LocalHost:8080", "localhost.", "guidon.localhost", "a.b.localhost.:80",
			"127.0.0.1", "127.0.0.1:8080", "127.0.0.1.", "10.0.0.7:8080", "203.0.113.9", "[::1]", "[::1]:8080", "[fe80::1%eth0]:8080", "[fe80::1%25eth0]", "[::ffff:127.0.0.1]:80",
			"guidon", "guidon:8080", "GUIDON:8080", "guidon_1", "xn--p1ai", "guidon:",
			"guidon.flags.svc", "guidon.flags.svc.cluster.local:8080", "guidon.flags.svc.cluster.local.", "printer.LOCAL", "ip-10-0-0-7.ec2.internal",
			"unit.test", "nas.home.arpa", "flags.example", "FLAGS.example:8080", "flags.example.", "rooted.example", "guidon.flags:8080",
		},
		http.StatusForbidden: {
			"", ":8080", ".", ".local", "a..local", "evil.example", "evil.example:8080", "EVIL.example.", "a.flags.example", "flags.example.evil.example",
			"localhost.evil.example", "evillocal.example", "evil.notlocal", "evil.localhost.example", "svc.evil.example",
			"127.0.0.1.evil.example", "127.0.0.1.nip.io", "127.1", "0x7f.0.0.1", "com.", "guidon.",
			"user@localhost", "user:password@127.0.0.1", "localhost@evil.example", "localhost:8080:80", "localhost:http", "localhost:-1", "::1", "[::1", "[::1]x", "[127.0.0.1]", "[localhost]",
			"local host", "localhost/", "localhost?", "localhost#", "lоcalhost", "evil.xn--p1ai", "evil.рф", "%6cocalhost", "*", "*.localhost", long + "local",
		},
	} {
		for _, host := range hosts {
			if r := requestWithHost(s.handler, host, "GET", "/api/v1/namespaces"); r.Code != want ||
				want == http.StatusForbidden && !strings.Contains(r.Body.String(), "server.allowed_hosts") {
				t.Errorf("host %q: %d %s, want %d", host, r.Code, r.Body, want)
			}
		}
	}
	every := newInside(t, anyHost, func(c *handler.Config) { c.AllowedHosts = []string{"a.example", "*"} })
	for _, host := range []string{"evil.example", ""} {
		if r := requestWithHost(every.handler, host, "GET", "/api/v1/namespaces"); r.Code != http.StatusOK {
			t.Errorf("host %q with *: %d %s", host, r.Code, r.Body)
		}
	}
}

// TestHostsByRoute: which routes restrict host names, depending on whether their
// credentials are checked.
func TestHostsByRoute(t *testing.T) {
	page := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	const open, management = 1, 2 // restricted if nothing is required, if management is excluded
	service := newService(t)
	handlers := map[int]*handler.Handler{}
	for limit, authentication := range map[int]call.AuthenticationConfig{
		0:          {Required: true},
		open:       {},
		management: {Required: true, ExcludeManagement: true, ExcludeEvaluation: true, ExcludeOFREP: true},
	} {
		authentication.TokenMethod = true
		handlers[limit] = handler.New(handler.Config{
			Service: service, Authentication: authentication, Metrics: page, MetricsPublic: true, Profiling: page,
			Streams: stream.NewHub(stream.Config{}), // full: no stream is opened
		})
	}
	for _, test := range []struct {
		method, path string
		limited      int
	}{
		{"GET", "/health", 0},
		{"POST", "/evaluate/v1/variant", 0},
		{"POST", "/evaluate/v1/boolean", 0},
		{"POST", "/evaluate/v1/batch", 0},
		{"GET", "/internal/v1/evaluation/snapshot/namespace/default", 0},
		{"POST", "/api/v1/evaluate", 0},
		{"POST", "/api/v1/batch-evaluate", 0},
		{"POST", "/api/v1/namespaces/default/evaluate", 0},
		{"POST", "/ofrep/v1/evaluate/flags", 0},
		{"POST", "/ofrep/v1/evaluate/flags/f", 0},
		{"GET", "/ofrep/v1/configuration", 0},
		{"GET", "/ofrep/v1/events", 0},
		{"GET", "/nope", 0},
		{"GET", "/api/v1/flags", open | management},
		{"GET", "/api/v1/flags/", open | management},
		{"POST", "/api/v1/flags", open | management},
		{"GET", "/api/v1/namespaces/default/changes", open | management},
		{"GET", "/api/v1/namespaces/default/changes/stream", open | management},
		{"GET", "/api/v1/namespaces/default/export", open | management},
		{"POST", "/api/v1/namespaces/default/import", open | management},
		{"GET", "/auth/v1/method", open},
		{"POST", "/auth/v1/method/token", open},
		{"GET", "/auth/v1/tokens", open},
		{"GET", "/auth/v1/self", open},
		{"GET", "/meta/info", open},
		{"GET", "/meta/config", open},
		{"GET", "/openapi.yaml", open},
		{"GET", "/internal/v1/analytics/namespaces/default/flags/f", open},
		{"GET", "/metrics", open},
		{"GET", "/debug/pprof/", open},
	} {
		for limit, h := range handlers {
			r := requestWithHost(h, "evil.example", test.method, test.path)
			want := test.limited&limit != 0
			if got := r.Code == http.StatusForbidden && strings.Contains(r.Body.String(), `host \"evil.example\" is not in server.allowed_hosts`); got != want {
				t.Errorf("%s %s, configuration %d: %d %s, want it rejected: %t", test.method, test.path, limit, r.Code, r.Body, want)
			}
		}
	}
}
