package handler_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/exchange"
)

// TestOFREPAuthentication tests OFREP 5 and 10: both schemes, and the namespace of a
// token that is limited to one.
func TestOFREPAuthentication(t *testing.T) {
	s := newServer(t, required)
	s.load("namespace: {key: shop, name: Shop}\nflags: [{key: shop, name: N, type: BOOLEAN_FLAG_TYPE}]")
	whole, shop := s.token(""), s.token("shop")
	const (
		refused   = `{"key":"shop","errorCode":"GENERAL","errorDetails":"request was not authenticated"}`
		forbidden = `{"key":"shop","errorCode":"GENERAL","errorDetails":"permission denied: the token is limited to another namespace"}`
		unknown   = `{"key":"shop","errorCode":"FLAG_NOT_FOUND","errorDetails":"flag \"default/shop\" not found"}`
		found     = `{"key":"shop","value":false,"variant":"false","reason":"STATIC"}`
	)
	for _, test := range []struct {
		name, query string
		headers     []string
		status      int
		want        string
	}{
		{"no credential", "", nil, 401, refused},
		{"a wrong one", "", []string{"Authorization", "Bearer nope"}, 401, refused},
		{"a wrong key", "", []string{"X-API-Key", "nope"}, 401, refused},
		{"another scheme", "", []string{"Authorization", "Basic " + whole}, 401, refused},
		{"Authorization takes precedence over the key", "", []string{"Authorization", "Bearer nope", "X-API-Key", whole}, 401, refused},
		{"bearer", "", []string{"Authorization", "Bearer " + whole}, 404, unknown},
		{"key", "", []string{"X-API-Key", whole}, 404, unknown},
		{"a namespace in the header", "", []string{"X-API-Key", whole, "X-Flipt-Namespace", "shop"}, 200, found},
		{"a namespace in our own header", "", []string{"X-API-Key", whole, "X-Guidon-Namespace", "shop", "X-Flipt-Namespace", "default"}, 200, found},
		{"a namespace in the query", "?namespace=shop", []string{"X-API-Key", whole}, 200, found},
		{"the header takes precedence over the query", "?namespace=default", []string{"X-API-Key", whole, "X-Flipt-Namespace", "shop"}, 200, found},
		{"the token's own namespace", "", []string{"X-API-Key", shop}, 200, found},
		{"the token's namespace named", "", []string{"Authorization", "Bearer " + shop, "X-Flipt-Namespace", "shop"}, 200, found},
		{"another than the token's", "", []string{"X-API-Key", shop, "X-Flipt-Namespace", "default"}, 403, forbidden},
		{"another than the token's, in the query", "?namespace=default", []string{"X-API-Key", shop}, 403, forbidden},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := *s
			s.t = t
			r := s.do("POST", ofrepPath+"/shop"+test.query, `{}`, test.headers...)
			r.check(t, test.status, test.want)
			if got := r.header.Get("WWW-Authenticate"); got != "" {
				t.Errorf("WWW-Authenticate %q (contract 1.4)", got)
			}
		})
	}
	s.do("POST", ofrepPath, `{}`).check(t, 401, `{"errorCode":"GENERAL","errorDetails":"request was not authenticated"}`)
	s.do("GET", "/ofrep/v1/configuration", "").check(t, 401, `{"errorCode":"GENERAL","errorDetails":"request was not authenticated"}`)
	s.do("POST", ofrepPath, `{}`, "X-API-Key", shop).check(t, 200, `{"flags":[`+found+`],"metadata":{"flagSetId":"shop","version":"1"}}`)

	open := newServer(t, required, func(c *handler.Config) { c.Authentication.ExcludeOFREP = true })
	open.do("POST", ofrepPath, `{}`).check(t, 200, `{"flags":[],"metadata":{"flagSetId":"default","version":"1"}}`)
	open.do("POST", "/evaluate/v1/variant", `{}`).fails(t, 401, 16, unauthenticated)
}

// TestOFREPCORS tests OFREP 10: preflight requests need no credential, and pages can read
// the headers that they need of every response.
func TestOFREPCORS(t *testing.T) {
	s := newServer(t, required, func(c *handler.Config) { c.CORS = &exchange.CORSConfig{} })
	preflight := s.do("OPTIONS", ofrepPath, "", "Origin", "https://a.example", "Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", "authorization,content-type,if-none-match,x-api-key,x-flipt-namespace,x-flipt-environment,traceparent")
	preflight.check(t, http.StatusNoContent, "")
	if got := preflight.header.Get("Access-Control-Allow-Headers"); got != "authorization,content-type,if-none-match,x-api-key,x-flipt-namespace,x-flipt-environment,traceparent" {
		t.Errorf("Access-Control-Allow-Headers %q", got)
	}
	if got := preflight.header.Get("Access-Control-Max-Age"); got == "" {
		t.Error("no Access-Control-Max-Age")
	}
	token := s.token("")
	answer := s.must("", "POST", ofrepPath, `{}`, "Origin", "https://a.example", "X-API-Key", token)
	for _, r := range []reply{
		answer,
		s.do("POST", ofrepPath, `{}`, "Origin", "https://a.example", "X-API-Key", token, "If-None-Match", answer.header.Get("ETag")),
		s.do("POST", ofrepPath, `{}`, "Origin", "https://a.example"),
		s.do("GET", ofrepPath, "", "Origin", "https://a.example"),
	} {
		exposed := r.header.Get("Access-Control-Expose-Headers")
		if r.header.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(exposed, "ETag") || !strings.Contains(exposed, "Retry-After") {
			t.Errorf("%d: %v", r.status, corsHeaders(r))
		}
		if got := strings.Count(strings.Join(r.header.Values("Vary"), ","), "Origin"); got != 1 {
			t.Errorf("%d: Origin is %d times in Vary", r.status, got)
		}
	}
}
