package handler_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/handler"
)

const (
	notFound   = `{"code":5,"message":"Not Found","details":[]}`
	notAllowed = `{"code":12,"message":"Method Not Allowed","details":[]}`
)

// TestUnknownRoutes tests contract 1.6.
func TestUnknownRoutes(t *testing.T) {
	s := newServer(t)
	for _, test := range []struct {
		method, path string
		status       int
		body         string
	}{
		{"GET", "/api/v1/nope", 404, notFound},
		{"GET", "/api/v1", 404, notFound},
		{"GET", "/api/v1/", 404, notFound},
		{"BREW", "/api/v1/nope", 404, notFound},
		{"GET", "/evaluate/v1/nope", 404, notFound},
		{"GET", "/internal/v1/nope", 404, notFound},
		{"GET", "/auth/v1/nope", 404, notFound},
		{"GET", "/meta/nope", 404, notFound},
		{"GET", "/health/nope", 404, notFound},
		// Disabled sign-in methods are not registered.
		{"POST", "/auth/v1/method/token", 404, notFound},
		{"POST", "/auth/v1/method/kubernetes/serviceaccount", 404, notFound},
		{"GET", "/auth/v1/method/oidc/google/authorize", 404, notFound},
		{"GET", "/auth/v1/method/codehost/authorize", 404, notFound},
		// Except with PUT, "order" is an id, for which POST is not allowed.
		{"POST", "/api/v1/flags/f/rules/order", 501, notAllowed},
		{"PATCH", "/api/v1/namespaces", 501, notAllowed},
		{"OPTIONS", "/api/v1/namespaces", 501, notAllowed},
		{"DELETE", "/api/v1/namespaces", 501, notAllowed},
		{"BREW", "/api/v1/namespaces", 501, notAllowed},
		{"TRACE", "/api/v1/flags/f", 501, notAllowed},
		{"GET", "/evaluate/v1/variant", 501, notAllowed},
		{"POST", "/auth/v1/method", 501, notAllowed},
		{"POST", "/meta/info", 501, notAllowed},
		{"POST", "/health", 501, notAllowed},
		{"GET", "/", 404, "404 page not found\n"},
		{"GET", "/favicon.ico", 404, "404 page not found\n"},
		{"GET", "/apiary", 404, "404 page not found\n"},
		{"GET", "/api/v10/flags", 404, "404 page not found\n"},
		{"GET", "/metrics", 404, "404 page not found\n"},
		{"GET", "/debug/pprof/", 404, "404 page not found\n"},
	} {
		t.Run(test.method+" "+test.path, func(t *testing.T) {
			s := *s
			s.t = t
			s.do(test.method, test.path, "").check(t, test.status, test.body)
		})
	}
	// HEAD is rejected like any other wrong method, but without a body.
	s.do(http.MethodHead, "/api/v1/namespaces", "").check(t, 501, "")
	header := s.do(http.MethodGet, "/nonsense", "").header
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "X-Content-Type-Options": "nosniff",
		"Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
	} {
		if got := header.Get(name); got != want {
			t.Errorf("/nonsense has %s %q, want %q", name, got, want)
		}
	}
}

// TestPaths tests contract 1.5: a path is decoded, loses one trailing slash under the API
// prefixes, and is not cleaned.
func TestPaths(t *testing.T) {
	s := newServer(t)
	s.must("", "POST", "/api/v1/namespaces", `{"key":"n","name":"N"}`)
	s.must("", "POST", "/api/v1/namespaces//flags", `{"key":"f","name":"F"}`)
	s.must("", "POST", "/api/v1/namespaces/n/flags", `{"key":"f","name":"F","type":"BOOLEAN_FLAG_TYPE"}`)
	flags := `{"flags":[{"key":"f","name":"F","description":"","enabled":false,"createdAt":"TIME","updatedAt":"TIME","variants":[],` +
		`"namespaceKey":"default","type":"VARIANT_FLAG_TYPE"}],"nextPageToken":"","totalCount":1}`
	flag := `{"key":"f","name":"F","description":"","enabled":false,"createdAt":"TIME","updatedAt":"TIME","variants":[],` +
		`"namespaceKey":"default","type":"VARIANT_FLAG_TYPE"}`
	for _, test := range []struct {
		name, method, path, body string
		status                   int
		want                     string
	}{
		{"an empty namespace is the default one", "GET", "/api/v1/namespaces//flags", "", 200, flags},
		{"the legacy alias is about the default one", "GET", "/api/v1/flags", "", 200, flags},
		{"a trailing slash is ignored", "GET", "/api/v1/flags/", "", 200, flags},
		{"an empty namespace and a trailing slash", "GET", "/api/v1/namespaces//flags/", "", 200, flags},
		{"only one slash is ignored", "GET", "/api/v1/flags//", "", 400, `{"code":3,"message":"invalid field key: must not be empty","details":[]}`},
		{"an empty flag key in the middle", "GET", "/api/v1/namespaces//flags//rules/", "", 400, `{"code":3,"message":"invalid field flagKey: must not be empty","details":[]}`},
		{"an empty id at the end", "PUT", "/api/v1/flags/f/rules//", "{}", 400, `{"code":3,"message":"invalid field id: must not be empty","details":[]}`},
		{"the empty namespace itself", "GET", "/api/v1/namespaces//", "", 200, `{"key":"default","name":"Default","description":"Default namespace","protected":true,"createdAt":"TIME","updatedAt":"TIME"}`},
		{"an extra leading slash makes another path", "GET", "//api/v1/flags", "", 404, "404 page not found\n"},
		{"dots are not special", "GET", "/api/v1/x/../flags", "", 404, notFound},
		{"the path is decoded", "GET", "/api/v1/%66lags/%66", "", 200, flag},
		{"the path is split after decoding", "GET", "/api/v1/flags/f%2Frules", "", 200, `{"rules":[],"nextPageToken":"","totalCount":0}`},
		{"a legacy path with the namespace in the query", "GET", "/api/v1/flags/f?namespaceKey=nope", "", 404, `{"code":5,"message":"flag \"nope/f\" not found","details":[]}`},
		{"a legacy path with the namespace in the body", "POST", "/api/v1/flags", `{"key":"g","name":"G","namespaceKey":"nope"}`, 404, `{"code":5,"message":"namespace \"nope\" not found","details":[]}`},
		{"the path takes precedence over the body", "POST", "/api/v1/namespaces/nope/flags", `{"key":"g","name":"G","namespaceKey":"n"}`, 404, `{"code":5,"message":"namespace \"nope\" not found","details":[]}`},
		{"order is an order for PUT", "PUT", "/api/v1/flags/f/rules/order", "{}", 400, `{"code":3,"message":"invalid field ruleIds: must contain atleast 2 elements","details":[]}`},
		{"order is an id for GET", "GET", "/api/v1/flags/f/rules/order", "", 404, `{"code":5,"message":"rule \"default/order\" not found","details":[]}`},
		{"order is an id for DELETE", "DELETE", "/api/v1/flags/f/rules/order", "", 200, `{}`},
		{"an id that starts with order", "PUT", "/api/v1/flags/f/rules/orders", `{"segmentKey":"s"}`, 404, `{"code":5,"message":"rule \"default/orders\" not found","details":[]}`},
		{"order is an id of rollouts, too", "GET", "/api/v1/namespaces/n/flags/f/rollouts/order", "", 404, `{"code":5,"message":"rollout \"n/order\" not found","details":[]}`},
		{"a namespace called flags", "GET", "/api/v1/namespaces/flags", "", 404, `{"code":5,"message":"namespace \"flags\" not found","details":[]}`},
		{"health keeps its slash", "GET", "/health/", "", 404, notFound},
		{"invalid UTF-8 in the path", "GET", "/api/v1/flags/%ff", "", 400, `{"code":3,"message":"parsing field \"key\": not valid UTF-8","details":[]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := *s
			s.t = t
			s.do(test.method, test.path, test.body).check(t, test.status, test.want)
		})
	}
}

// TestEnabled tests contract 10: a handler without a method lacks only the operations of
// that method.
func TestEnabled(t *testing.T) {
	off := handler.New(handler.Config{})
	for _, o := range off.Operations() {
		if got, want := o.Enabled(), !strings.HasPrefix(o.Name, "/flipt.auth.AuthenticationMethod"); got != want {
			t.Errorf("%s: enabled %v", o.Name, got)
		}
	}
}
