package handler_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/stream"
)

// Headers that a browser adds to requests of pages, and credentials.
var (
	crossSite = []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example", "Content-Type", "text/plain"}
	sameSite  = []string{"Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:1", "Content-Type", "text/plain"}
	ownPage   = []string{"Sec-Fetch-Site", "same-origin"}
	unknown   = []string{"Authorization", "Bearer nobody"}
	basic     = []string{"Authorization", "Basic YTpi"}
	apiKey    = []string{"X-API-Key", "nobody"}
	session   = []string{"Cookie", "service_client_token=nobody"}
)

func excluding(config *handler.Config) {
	required(config)
	config.Authentication.ExcludeManagement = true
}

var pathVariable = regexp.MustCompile(`\{[^}]*\}`)

// TestCrossOriginOperations sends a request of a page of another origin to every route of
// every operation. A write is rejected before its credential and its body are checked,
// unless it has a token in the header and the operation checks credentials.
func TestCrossOriginOperations(t *testing.T) {
	reads := []string{ // with a body
		"Variant", "Boolean", "Batch", "Evaluate", "BatchEvaluate", "Explain", "ExplainBatch", "ExplainSegment", "ExplainFlags", "PreviewFlag", "PreviewFlagReach", "PreviewSegment", "MergeFlag", "MergeSegment", "Plan",
	}
	const writes, none, all = "writes", "", "all" // which requests of unsafe methods are rejected
	for _, test := range []struct {
		name      string
		configure func(*handler.Config)
		headers   []string
		tokens    string // rejected for the operations on tokens
		others    string
	}{
		{"open, another site", tokens, crossSite, writes, writes},
		{"open, another origin of the site", tokens, sameSite, writes, writes},
		{"open, a credential that is not checked", tokens, slices.Concat(crossSite, unknown, apiKey), writes, writes},
		{"open, with a cookie", tokens, slices.Concat(crossSite, session), all, all},
		{"open, with a cookie and a credential that is not checked", tokens, slices.Concat(crossSite, session, unknown, apiKey), all, all},
		{"open, our own page", tokens, ownPage, none, none},
		{"open, no browser", tokens, nil, none, none},
		{"required, another site", required, crossSite, writes, writes},
		{"required, with a token", required, slices.Concat(crossSite, unknown), none, none},
		{"required, with an API key, which does not count", required, slices.Concat(crossSite, apiKey), writes, writes},
		{"required, with an empty Authorization", required, slices.Concat(crossSite, []string{"Authorization", ""}), writes, writes},
		{"required, with the credential of a proxy", required, slices.Concat(crossSite, basic), writes, writes},
		{"required, with a cookie and an empty Authorization", required, slices.Concat(crossSite, session, []string{"Authorization", ""}), all, all},
		{"required, with a cookie and the credential of a proxy", required, slices.Concat(crossSite, session, basic), all, all},
		{"required, with a cookie", required, slices.Concat(crossSite, session), all, all},
		{"required, with a cookie and a token", required, slices.Concat(crossSite, session, unknown), none, none},
		{"required, with a cookie and an API key, which does not count", required, slices.Concat(crossSite, session, apiKey), all, all},
		{"required, with a cookie on our own page", required, slices.Concat(ownPage, session), none, none},
		{"management excluded, another site", excluding, crossSite, writes, writes},
		{"management excluded, with a token", excluding, slices.Concat(crossSite, unknown), none, writes},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(t, test.configure, withEveryMethod)
			for _, o := range handler.Operations() {
				rejected := test.others
				if o.Area == call.AreaAuthentication || o.Area == call.AreaWebhooks || o.Has(call.SignsInOrOut) {
					rejected = test.tokens
				}
				if rejected == writes && slices.Contains(reads, o.Method()) {
					rejected = none
				}
				for _, route := range o.Routes {
					want := rejected != none && route.Method != http.MethodGet
					if o.Area == call.AreaPublic && slices.Contains(test.headers, crossSite[1]) { // no credential is checked
						want = o.Has(call.SignsInOrOut)
					}
					path := pathVariable.ReplaceAllString(route.Pattern, "nope")
					r := s.do(route.Method, path, "{", test.headers...)
					if got := r.status == 403 && strings.Contains(r.body, "cross-origin request"); got != want {
						t.Errorf("%s %s: %d %s, want it rejected: %t", route.Method, path, r.status, r.body, want)
					}
				}
			}
			for _, path := range []string{"/ofrep/v1/evaluate/flags", "/ofrep/v1/evaluate/flags/f"} {
				r := s.do("POST", path, "{", test.headers...)
				// OFREP accepts API keys.
				want := test.others == all && !(strings.HasPrefix(test.name, "required") && slices.Contains(test.headers, "X-API-Key"))
				if got := r.status == 403 && strings.Contains(r.body, "cross-origin request"); got != want {
					t.Errorf("%s: %d %s, want it rejected: %t", path, r.status, r.body, want)
				}
			}
		})
	}
}

// TestCrossOriginRoutes sends requests with a session to every route of every kind. Of those
// of other origins, only the safe ones are served, unless the origin is trusted.
func TestCrossOriginRoutes(t *testing.T) {
	s := newServer(t, required, func(c *handler.Config) {
		c.SignIn, c.Mounts, c.Profiling = everyMethod{}, []exchange.Mount{greeting}, http.NotFoundHandler()
		c.Streams = stream.NewHub(stream.Config{}) // full: no stream is opened
		c.PublicOrigin, c.TrustedOrigins = "https://flags.example", []string{"https://trusted.example"}
	})
	routes := []call.Route{
		{Method: "GET", Pattern: "/ui"}, {Method: "HEAD", Pattern: "/ui"}, {Method: "POST", Pattern: "/"}, {Method: "POST", Pattern: "/ui/flags/f"},
		{Method: "GET", Pattern: "/debug/pprof/"}, {Method: "POST", Pattern: "/debug/pprof/symbol"}, {Method: "GET", Pattern: "/openapi.yaml"}, {Method: "GET", Pattern: "/health"},
	}
	checksTokens := map[string]bool{}
	for _, o := range slices.Concat(handler.Operations(), handler.OperationsOverHTTP()) {
		routes = append(routes, o.Routes...)
		for _, route := range o.Routes {
			checksTokens[route.Pattern] = o.Area != call.AreaPublic
		}
	}
	for _, test := range []struct {
		name    string
		headers []string
		served  bool // unsafe requests, unless a token is needed for it and not checked
	}{
		{"another site", crossSite, false},
		{"another origin of the site", sameSite, false},
		{"an unknown kind of site", []string{"Sec-Fetch-Site", "other"}, false},
		{"an old browser", []string{"Origin", "https://evil.example"}, false},
		{"a sandboxed page", []string{"Origin", "null"}, false},
		{"with another method in a header", slices.Concat(crossSite, []string{"X-HTTP-Method-Override", "GET"}), false},
		{"with a token", slices.Concat(crossSite, unknown), true},
		{"with an API key, which does not count", slices.Concat(crossSite, apiKey), false},
		{"with an empty Authorization", slices.Concat(crossSite, []string{"Authorization", ""}), false},
		{"with the credential of a proxy", slices.Concat(sameSite, basic), false},
		{"with the credential of a proxy and an API key", slices.Concat(crossSite, basic, apiKey), false},
		{"a trusted origin", []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://trusted.example"}, true},
		{"our own origin, by another name", []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://flags.example"}, true},
		{"our own origin, an old browser", []string{"Origin", "https://flags.example"}, true},
		{"our own page", ownPage, true},
		{"no browser", nil, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, route := range routes {
				path := pathVariable.ReplaceAllString(route.Pattern, "nope")
				r := s.do(route.Method, path, "{", slices.Concat(test.headers, session)...)
				served := test.served && !(slices.Contains(test.headers, "Authorization") && !checksTokens[route.Pattern])
				want := !served && route.Method != http.MethodGet && route.Method != http.MethodHead
				if strings.HasPrefix(path, "/ofrep") && slices.Contains(test.headers, "X-API-Key") && !slices.Contains(test.headers, "Authorization") {
					want = false // there it counts
				}
				if got := r.status == 403 && strings.Contains(r.body, "cross-origin request"); got != want {
					t.Errorf("%s %s: %d %s, want it rejected: %t", route.Method, path, r.status, r.body, want)
				}
			}
		})
	}
}

// TestCrossOriginSignIn: a page of another origin cannot sign its visitors in or out, also if
// they have no session. A page of a trusted origin can, but not one that CORS lists.
func TestCrossOriginSignIn(t *testing.T) {
	for _, authentication := range []func(*handler.Config){required, tokens} {
		s := newServer(t, authentication, func(c *handler.Config) {
			c.Mounts, c.CORS = []exchange.Mount{greeting}, &exchange.CORSConfig{AllowedOrigins: []string{"https://listed.example"}}
			c.TrustedOrigins = []string{"https://trusted.example"}
		})
		for origin, want := range map[string]int{"https://evil.example": 403, "https://listed.example": 403, "https://trusted.example": 200} {
			if r := s.do("POST", "/ui", "", "Sec-Fetch-Site", "cross-site", "Origin", origin); (r.status == 403) != (want == 403) {
				t.Errorf("%s sends the form of a page: %d %s", origin, r.status, r.body)
			}
			if r := s.do("PUT", "/auth/v1/self/expire", "", "Sec-Fetch-Site", "cross-site", "Origin", origin); (r.status == 403) != (want == 403) {
				t.Errorf("%s signs out: %d %s", origin, r.status, r.body)
			}
		}
	}
}

// TestCrossOriginSources checks which pages may write if no credential is required.
func TestCrossOriginSources(t *testing.T) {
	listed := []string{"https://A.example", "https://*.b.example", "*"}
	for _, test := range []struct {
		name    string
		allowed []string // nil is no CORS
		headers []string
		want    int
	}{
		{"no browser", nil, nil, 200},
		{"typed by the user", nil, []string{"Sec-Fetch-Site", "none"}, 200},
		{"another site", nil, crossSite, 403},
		{"an old browser", nil, []string{"Origin", "https://a.example"}, 403},
		{"an old browser on a sandboxed page", nil, []string{"Origin", "null"}, 403},
		{"an origin that is not a URL", nil, []string{"Origin", "%"}, 403},
		{"an unknown kind of site", nil, []string{"Sec-Fetch-Site", "other"}, 403},
		{"CORS for everybody", []string{"*"}, []string{"Origin", "https://a.example"}, 403},
		{"CORS by default", []string{}, []string{"Origin", "https://a.example"}, 403},
		{"listed exactly", listed, []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://a.example"}, 200},
		{"listed exactly, an old browser", listed, []string{"Origin", "https://a.example"}, 200},
		{"listed with another scheme", listed, []string{"Origin", "http://a.example"}, 403},
		{"listed with another port", listed, []string{"Origin", "https://a.example:8443"}, 403},
		{"matched by a pattern", listed, []string{"Origin", "https://shop.b.example"}, 403},
		{"the pattern itself", listed, []string{"Origin", "https://*.b.example"}, 403},
		{"listed, with a cookie", listed, slices.Concat([]string{"Origin", "https://a.example"}, session), 403},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(t, func(c *handler.Config) {
				if test.allowed != nil {
					c.CORS = &exchange.CORSConfig{AllowedOrigins: test.allowed}
				}
			})
			r := s.do("POST", "/api/v1/flags", `{"key":"f","name":"F"}`, test.headers...)
			if r.status != test.want {
				t.Errorf("%d %s, want %d", r.status, r.body, test.want)
			}
			if got := s.do("GET", "/api/v1/flags/f", "").status; (got == 200) != (test.want == 200) {
				t.Errorf("then the flag: %d", got)
			}
		})
	}
	t.Run("an old browser on our own page", func(t *testing.T) {
		s := newInside(t, "a front may have another Host")
		if r := s.do("POST", "/api/v1/flags", `{"key":"f","name":"F"}`, "Origin", s.url); r.status != 200 {
			t.Errorf("%d %s", r.status, r.body)
		}
	})
}

// TestCrossOriginErrors checks the format of the errors, and that they state the remedy.
func TestCrossOriginErrors(t *testing.T) {
	const begin = "permission denied: cross-origin request: "
	const page = begin + "only pages of this service can send it, and those of authentication.session.csrf.trusted_origins"
	for _, test := range []struct {
		configure func(*handler.Config)
		headers   []string
		want      string
	}{
		{tokens, crossSite, begin + "name the page's origin in cors.allowed_origins (exactly, not by a pattern)"},
		{required, crossSite, begin + "present a token in the Authorization header, or name the page's origin in cors.allowed_origins (exactly, not by a pattern)"},
		{required, slices.Concat(crossSite, session), begin + "pages of other origins cannot use the session cookie; present a token in the Authorization header"},
		{tokens, slices.Concat(crossSite, session), page},
	} {
		s := newServer(t, test.configure)
		s.do("PUT", "/api/v1/namespaces/default", "{}", test.headers...).fails(t, 403, 7, test.want)
	}
	s := newServer(t)
	s.do("POST", "/ofrep/v1/evaluate/flags/f", "{}", slices.Concat(crossSite, session)...).check(t, 403,
		`{"key":"f","errorCode":"GENERAL","errorDetails":"`+page+`"}`)
}

// TestCrossOriginSession checks that a page of another origin cannot use a valid session.
// Our own pages, and a client that sends the same token itself, can.
func TestCrossOriginSession(t *testing.T) {
	s := newServer(t, required)
	token := s.token("")
	cookie := []string{"Cookie", "service_client_token=" + token}
	const document = `{"document":{"version":"1.4","namespace":{"key":"default"}},"mode":"REPLACE_IMPORT_MODE"}`
	s.must("", "POST", "/api/v1/flags", `{"key":"kept","name":"Kept"}`, "Authorization", "Bearer "+token)
	for _, path := range []string{"/api/v1/namespaces/default/import", "/auth/v1/method/token", "/evaluate/v1/boolean"} {
		if r := s.do("POST", path, document, slices.Concat(crossSite, cookie)...); r.status != 403 {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
	s.must("", "GET", "/api/v1/flags/kept", "", slices.Concat(crossSite, cookie)...) // a read: the browser keeps the response from the page
	s.must("", "PUT", "/api/v1/flags/kept", `{"name":"Changed"}`, slices.Concat(ownPage, cookie)...)
	s.must("", "PUT", "/api/v1/flags/kept", `{"name":"Again"}`, slices.Concat(crossSite, cookie, []string{"Authorization", "Bearer " + token})...)
}
