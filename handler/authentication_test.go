package handler_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/service"
)

// token creates a token that is limited to the namespace, unless namespace is "".
func (s *server) token(namespace string) string {
	s.t.Helper()
	token, _, err := s.service.CreateToken(s.t.Context(), service.Write{}, service.TokenInput{Name: "t", Namespace: namespace})
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

const unauthenticated = "request was not authenticated"

// TestTokens follows a token from its creation to its expiry (contract 10.4).
func TestTokens(t *testing.T) {
	s := newServer(t, required)
	admin := "Bearer " + s.token("")
	created := s.must("", "POST", "/auth/v1/method/token",
		`{"name":"ci","description":"d","namespaceKey":"shop","expiresAt":"2999-01-02T03:04:05.5+01:00","metadata":{"team":"x","empty":null}}`,
		"Authorization", admin)
	metadata := `{"empty":"","io.service.auth.token.created_by":"token:ID","io.service.auth.token.description":"d","io.service.auth.token.name":"ci","io.service.auth.token.namespace":"shop","team":"x"}`
	authentication := `{"id":"ID","method":"METHOD_TOKEN","expiresAt":"2999-01-02T02:04:05.500Z",` + times + `,"metadata":` + metadata + `}`
	created.check(t, 200, `{"clientToken":"TOKEN","authentication":`+authentication+`}`)
	if got := created.header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("the response with the token has Cache-Control %q, want no-store", got)
	}
	list := s.must("", "GET", "/auth/v1/tokens?method=METHOD_TOKEN&limit=1&pageToken=1", "", "Authorization", admin)
	list.check(t, 200, `{"authentications":[`+authentication+`],"nextPageToken":""}`)
	if strings.Contains(list.body, created.field(t, "clientToken")) {
		t.Error("the list contains the token")
	}
	s.must("", "GET", "/auth/v1/tokens?method=5", "", "Authorization", admin).check(t, 200, `{"authentications":[],"nextPageToken":""}`)
	s.must("self", "GET", "/auth/v1/self", "", "Authorization", admin)
	s.must("", "GET", "/auth/v1/tokens/{self}", "", "Authorization", admin)

	other := "Bearer " + s.token("")
	s.must("other", "GET", "/auth/v1/self", "", "Authorization", other)
	s.must("", "DELETE", "/auth/v1/tokens/{other}", "", "Authorization", admin).check(t, 200, `{}`)
	s.must("", "DELETE", "/auth/v1/tokens/{other}", "", "Authorization", admin).check(t, 200, `{}`)
	s.do("GET", "/auth/v1/self", "", "Authorization", other).fails(t, 401, 16, unauthenticated)

	// The time is in the query and may be in the future. A body is ignored.
	s.must("", "PUT", "/auth/v1/self/expire?expiresAt=2999-01-01T00:00:00Z", `{"expiresAt":"2001-01-01T00:00:00Z"}`, "Authorization", admin)
	if got := s.must("", "GET", "/auth/v1/self", "", "Authorization", admin).field(t, "expiresAt"); got != "2999-01-01T00:00:00Z" {
		t.Errorf("expires at %s", got)
	}
	// An expiry cannot be extended, and no time is mistaken for no expiry.
	s.do("PUT", "/auth/v1/self/expire?expiresAt=2999-01-01T00:00:00.000001Z", "", "Authorization", admin).
		fails(t, 400, 3, "invalid field expiresAt: must not be later than the expiry of the token itself")
	for _, at := range []string{"0001-01-01T00:00:00Z", "0001-01-01T01:00:00+01:00", "1969-12-31T23:59:59.999999999Z"} {
		dead := s.must("", "POST", "/auth/v1/method/token", `{"name":"dead","expiresAt":"`+at+`"}`, "Authorization", admin)
		if want := `"expiresAt":"1970-01-01T00:00:00Z"`; !strings.Contains(dead.body, want) {
			t.Errorf("%s: got %s, want %s in it", at, dead.body, want)
		}
		s.do("GET", "/auth/v1/self", "", "Authorization", "Bearer "+dead.field(t, "clientToken")).fails(t, 401, 16, unauthenticated)
		self := "Bearer " + s.token("")
		s.must("", "PUT", "/auth/v1/self/expire?expiresAt="+url.QueryEscape(at), "", "Authorization", self)
		s.do("GET", "/auth/v1/self", "", "Authorization", self).fails(t, 401, 16, unauthenticated)
	}
	s.do("PUT", "/auth/v1/self/expire", "", "Authorization", admin).
		fails(t, 400, 3, "this is the only way in which anybody is an administrator; make another token or binding with the role admin first")
	s.token("")
	expired := s.must("", "PUT", "/auth/v1/self/expire", "", "Authorization", admin)
	expired.check(t, 200, `{}`)
	if got := cleared(expired); !slices.Equal(got, []string{"service_client_state", "service_client_token"}) {
		t.Errorf("expiring clears %v", got)
	}
	s.do("GET", "/auth/v1/self", "", "Authorization", admin).fails(t, 401, 16, unauthenticated)
}

// cleared returns the names of the cookies that the response makes the browser delete.
func cleared(r reply) []string {
	var names []string
	for _, c := range (&http.Response{Header: r.header}).Cookies() {
		if c.MaxAge < 0 && c.Value == "" && c.Path == "/" && c.HttpOnly {
			names = append(names, c.Name)
		}
	}
	return names
}

// TestTokenErrors tests validation that the reference lacks (operations 1.3).
func TestTokenErrors(t *testing.T) {
	s := newServer(t, tokens)
	s.do("POST", "/auth/v1/method/token", `{}`).fails(t, 400, 3, "invalid field name: must not be empty")
	s.do("POST", "/auth/v1/method/token", `{"name":"n","namespaceKey":"a b"}`).fails(t, 400, 3, "invalid field namespaceKey: is not a namespace key")
	s.do("GET", "/auth/v1/tokens?limit=-1", "").fails(t, 400, 3, "invalid field limit: must be greater than or equal to '0'")
	s.do("POST", "/auth/v1/method/token", `{"name":"n"}`, "If-Match", "1").fails(t, 400, 3, "invalid header If-Match: does not apply to CreateToken")
	s.do("DELETE", "/auth/v1/tokens/x", "", "If-Match", "1").fails(t, 400, 3, "invalid header If-Match: does not apply to DeleteAuthentication")
}

// TestMethods tests the public list of contract 10.4.
func TestMethods(t *testing.T) {
	for on, option := range map[string]func(*handler.Config){"true": required, "false": func(*handler.Config) {}} {
		newServer(t, option).do("GET", "/auth/v1/method", "").check(t, 200, `{"methods":[`+
			`{"method":"METHOD_TOKEN","enabled":`+on+`,"sessionCompatible":false},`+
			`{"method":"METHOD_CODEHOST","enabled":false,"sessionCompatible":true},`+
			`{"method":"METHOD_OIDC","enabled":false,"sessionCompatible":true,"metadata":{"providers":{}}},`+
			`{"method":"METHOD_KUBERNETES","enabled":false,"sessionCompatible":false},`+
			`{"method":"METHOD_JWT","enabled":false,"sessionCompatible":false}]}`)
	}
}

// TestCredentials tests contract 10.2 and operations 1.1.
func TestCredentials(t *testing.T) {
	s := newServer(t, required)
	good := s.token("")
	expired, _, err := s.service.CreateToken(t.Context(), service.Write{}, service.TokenInput{Name: "old", ExpiresAt: new(time.Now().Add(-time.Second))})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		headers []string
		ok      bool
	}{
		{"none", nil, false},
		{"a bearer token", []string{"Authorization", "Bearer " + good}, true},
		{"the cookie", []string{"Cookie", "a=b; service_client_token=" + good}, true},
		{"the cookie in a second line", []string{"Cookie", "a=b", "Cookie", "service_client_token=" + good}, true},
		{"the cookie twice", []string{"Cookie", "service_client_token=" + good + "; service_client_token=" + good}, false},
		{"the cookie beside another's", []string{"Cookie", "service_client_token=" + good, "Cookie", "service_client_token=nobody"}, false},
		{"the cookie beside an empty one", []string{"Cookie", "service_client_token=; service_client_token=" + good}, true},
		{"an empty cookie", []string{"Cookie", "service_client_token="}, false},
		{"the reference's cookie", []string{"Cookie", "flipt_client_token=" + good}, false},
		{"the scheme in another case", []string{"Authorization", "bearer " + good}, false},
		{"two spaces", []string{"Authorization", "Bearer  " + good}, false},
		{"no token", []string{"Authorization", "Bearer "}, false},
		{"no scheme", []string{"Authorization", good}, false},
		{"an unknown token", []string{"Authorization", "Bearer gdn_x"}, false},
		{"an expired token", []string{"Authorization", "Bearer " + expired}, false},
		{"a JWT, which is disabled", []string{"Authorization", "JWT a.b.c"}, false},
		{"an invalid header overrides the cookie", []string{"Authorization", "Basic x", "Cookie", "service_client_token=" + good}, false},
		{"only the first header counts", []string{"Authorization", "Bearer x", "Authorization", "Bearer " + good}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := *s
			s.t = t
			r := s.do("GET", "/api/v1/namespaces", "", test.headers...)
			if test.ok {
				if r.status != 200 {
					t.Errorf("%d %s", r.status, r.body)
				}
				return
			}
			r.fails(t, 401, 16, unauthenticated)
			if got := r.header.Get("WWW-Authenticate"); got != unauthenticated {
				t.Errorf("WWW-Authenticate %q", got)
			}
		})
	}
}

// TestClearedCookies tests the end of contract 10.4: a 401 ends the browser's session
// only for a request under /auth that has the token cookie.
func TestClearedCookies(t *testing.T) {
	s := newServer(t, required)
	both := []string{"service_client_state", "service_client_token"}
	for _, test := range []struct {
		path, cookie string
		want         []string
	}{
		{"/auth/v1/self", "service_client_token=x", both},
		{"/auth/v1/self", "other=x", nil},
		{"/api/v1/flags", "service_client_token=x", nil},
		{"/auth/v1/method", "service_client_token=x", nil},
	} {
		if diff := cmp.Diff(test.want, cleared(s.do("GET", test.path, "", "Cookie", test.cookie))); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", test.path, test.cookie, diff)
		}
	}
}

// TestAreas tests operations 1.2: which areas need no credential.
func TestAreas(t *testing.T) {
	for _, test := range []struct {
		name                 string
		management, evaluate bool // excluded
	}{{"nothing excluded", false, false}, {"management excluded", true, false}, {"evaluation excluded", false, true}} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(t, required, func(c *handler.Config) {
				c.Authentication.ExcludeManagement, c.Authentication.ExcludeEvaluation = test.management, test.evaluate
			})
			for path, open := range map[string]bool{
				"GET /health": true, "GET /auth/v1/method": true, "GET /openapi.yaml": true,
				"GET /auth/v1/self": false, "GET /auth/v1/tokens": false, "POST /auth/v1/method/token": false,
				"GET /meta/info": false, "GET /meta/config": false, "GET /internal/v1/analytics/namespaces/n/flags/f": false,
				"GET /api/v1/flags": test.management, "POST /api/v1/flags": test.management,
				"GET /api/v1/namespaces/default/export": test.management, "GET /api/v1/namespaces/default/changes": test.management,
				"POST /api/v1/namespaces/default/import": test.management, "POST /api/v1/evaluate": test.management,
				"POST /evaluate/v1/batch": test.evaluate,
			} {
				method, path, _ := strings.Cut(path, " ")
				r := s.do(method, path, "")
				if got := r.status != 401; got != open {
					t.Errorf("%s %s: %d", method, path, r.status)
				}
			}
		})
	}
}

// TestNotRequired tests contract 10.1: credentials are ignored, even malformed ones.
func TestNotRequired(t *testing.T) {
	s := newServer(t, tokens)
	good := "Bearer " + s.token("")
	s.must("", "GET", "/api/v1/namespaces", "", "Authorization", "nonsense")
	s.do("GET", "/auth/v1/self", "", "Authorization", good).fails(t, 401, 16, unauthenticated)
	s.do("PUT", "/auth/v1/self/expire", "", "Authorization", good).fails(t, 401, 16, unauthenticated)
	s.must("", "POST", "/auth/v1/method/token", `{"name":"open"}`)
}

// TestTokenChanges: a client that may list the tokens may read the records of their
// changes, under any namespace, and have webhooks of all namespaces. Nobody else may.
func TestTokenChanges(t *testing.T) {
	const path = "/api/v1/namespaces/default/changes?kind=authentication"
	excluded := func(c *handler.Config) { c.Authentication.ExcludeManagement = true }
	for _, test := range []struct {
		name    string
		options []func(*handler.Config)
		scope   string // of the token, or "none" for a request without a token
		ok      bool
	}{
		{"a token", []func(*handler.Config){required}, "", true},
		{"a limited token", []func(*handler.Config){required}, "default", false},
		{"no token", []func(*handler.Config){required}, "none", false},
		{"a token, with management excluded", []func(*handler.Config){required, excluded}, "", true},
		{"a limited token, with management excluded", []func(*handler.Config){required, excluded}, "default", false},
		{"no token, with management excluded", []func(*handler.Config){required, excluded}, "none", false},
		{"no token, and none required", []func(*handler.Config){tokens}, "none", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(t, test.options...)
			admin := "Bearer " + s.token("")
			s.must("", "POST", "/auth/v1/method/token", `{"name":"ci"}`, "Authorization", admin) // so that there are two
			var headers []string
			if test.scope != "none" {
				headers = []string{"Authorization", "Bearer " + s.token(test.scope)}
			}
			list := s.do("GET", "/auth/v1/tokens", "", headers...)
			if got := list.status == 200; got != test.ok {
				t.Errorf("the tokens: %d %s", list.status, list.body)
			}
			const webhook = `{"name":"all","url":"https://receiver.example","events":["change","authentication"]}`
			created := s.do("POST", "/api/v1/webhooks", webhook, headers...)
			if !test.ok {
				s.do("POST", "/api/v1/webhooks", `{"name":"all","url":"https://receiver.example"}`, headers...).fails(t, 401, 16, unauthenticated)
				s.do("GET", "/api/v1/webhooks", "", headers...).fails(t, 401, 16, unauthenticated)
				s.do("POST", "/api/v1/webhooks/any/test", "{}", headers...).fails(t, 401, 16, unauthenticated)
				s.do("GET", path, "", headers...).fails(t, 401, 16, unauthenticated)
				created.fails(t, 401, 16, unauthenticated)
				s.do("PUT", "/api/v1/webhooks/any", webhook, headers...).fails(t, 401, 16, unauthenticated)
				return
			}
			if created.status != 200 {
				t.Errorf("a webhook for them: %d %s", created.status, created.body)
			}
			const each = `"kind":"authentication"`
			all := s.must("", "GET", path, "", headers...)
			ids := regexp.MustCompile(`"id":"([0-9a-f-]+)"`).FindAllStringSubmatch(list.body, -1)
			for _, id := range ids { // there may be records of others, which have been deleted
				if got := strings.Count(all.body, `"key":"`+id[1]+`","action":"create"`); got != 1 {
					t.Errorf("got %d records of the creation of %s, want 1: %s", got, id[1], all.body)
				}
			}
			if len(ids) < 2 {
				t.Errorf("got %d tokens, want at least 2: %s", len(ids), list.body)
			}
			if got, want := all.header.Get("Cache-Control"), "no-store"; got != want {
				t.Errorf("Cache-Control %q, want %q", got, want)
			}
			if got := all.header.Get("Guidon-Revision"); got != "" {
				t.Errorf("the response states revision %s, which is that of the namespace", got)
			}
			if strings.Contains(all.body, "gdn_") || strings.Contains(strings.ToLower(all.body), "hash") {
				t.Errorf("the records contain a token or a hash: %s", all.body)
			}
			first := s.must("", "GET", path+"&limit=1", "", headers...)
			next := s.must("", "GET", path+"&pageToken="+url.QueryEscape(first.field(t, "nextPageToken")), "", headers...)
			if one, rest := strings.Count(first.body, each), strings.Count(next.body, each); one != 1 || one+rest != strings.Count(all.body, each) {
				t.Errorf("pages of %d and %d records: %s %s", one, rest, first.body, next.body)
			}
			if r := s.must("", "GET", "/api/v1/namespaces/default/changes", "", headers...); strings.Contains(r.body, each) {
				t.Errorf("the records of the namespace include those of tokens: %s", r.body)
			}
		})
	}
}

// TestOrderOfChecks: authentication, decoding, authorization, validation.
func TestOrderOfChecks(t *testing.T) {
	s := newServer(t, required)
	admin, shop := "Bearer "+s.token(""), "Bearer "+s.token("shop")
	for _, call := range []struct{ method, path, body, code string }{
		{"POST", "/api/v1/flags", `{`, "unexpected EOF"},
		{"GET", "/api/v1/flags?limit=x", ``, `parsing field "limit": strconv.ParseInt: parsing "x": invalid syntax`},
		{"POST", "/api/v1/flags", `{}`, "invalid field key: must not be empty"},
		{"POST", "/api/v1/namespaces/default/import", `{`, "unexpected EOF"},
		{"POST", "/evaluate/v1/boolean", `{`, "unexpected EOF"},
	} {
		s.do(call.method, call.path, call.body).fails(t, 401, 16, unauthenticated)
		s.do(call.method, call.path, call.body, "Authorization", "Bearer wrong").fails(t, 401, 16, unauthenticated)
		s.do(call.method, call.path, call.body, "Authorization", admin).fails(t, 400, 3, call.code)
	}
	s.do("POST", "/api/v1/flags", `{}`, "Authorization", shop).fails(t, 401, 16, unauthenticated)
}

// TestScopedTokens tests operations 1.6.
func TestScopedTokens(t *testing.T) {
	s := newServer(t, required)
	admin := "Bearer " + s.token("")
	s.must("", "POST", "/api/v1/namespaces", `{"key":"shop","name":"Shop"}`, "Authorization", admin)
	shop, byDefault := "Bearer "+s.token("shop"), "Bearer "+s.token("default")
	for _, test := range []struct {
		name, token, method, path, body string
		ok                              bool
	}{
		{"its namespace", shop, "GET", "/api/v1/namespaces/shop/flags", "", true},
		{"another namespace", shop, "GET", "/api/v1/namespaces/default/flags", "", false},
		{"without a namespace", shop, "GET", "/api/v1/flags", "", false},
		{"without a namespace, for the default one", byDefault, "GET", "/api/v1/flags", "", true},
		{"an empty segment, for the default one", byDefault, "GET", "/api/v1/namespaces//flags", "", true},
		{"a legacy path that names it", shop, "GET", "/api/v1/flags?namespaceKey=shop", "", true},
		{"the namespace itself", shop, "GET", "/api/v1/namespaces/shop", "", true},
		{"another namespace itself", shop, "GET", "/api/v1/namespaces/default", "", false},
		{"renaming itself", shop, "PUT", "/api/v1/namespaces/shop", `{"name":"S"}`, true},
		{"renaming another", shop, "PUT", "/api/v1/namespaces/default", `{"name":"S"}`, false},
		{"creating another", shop, "POST", "/api/v1/namespaces", `{"key":"x","name":"X"}`, false},
		{"deleting another", shop, "DELETE", "/api/v1/namespaces/default?force=true", "", false},
		{"all namespaces", shop, "GET", "/api/v1/namespaces", "", false},
		{"writing", shop, "POST", "/api/v1/namespaces/shop/flags", `{"key":"f","name":"F","enabled":true}`, true},
		{"writing elsewhere", shop, "POST", "/api/v1/namespaces/default/flags", `{"key":"f","name":"F"}`, false},
		{"evaluation", shop, "POST", "/evaluate/v1/variant", `{"flagKey":"f","namespaceKey":"shop"}`, true},
		{"evaluation elsewhere", shop, "POST", "/evaluate/v1/variant", `{"flagKey":"f"}`, false},
		{"a batch", shop, "POST", "/evaluate/v1/batch", `{"requests":[{"flagKey":"f","namespaceKey":"shop"},{"namespaceKey":"shop"}]}`, true},
		{"a batch with another namespace", shop, "POST", "/evaluate/v1/batch", `{"requests":[{"flagKey":"f","namespaceKey":"shop"},{"flagKey":"f"}]}`, false},
		{"an empty batch", shop, "POST", "/evaluate/v1/batch", `{}`, false},
		{"legacy evaluation", shop, "POST", "/api/v1/namespaces/shop/evaluate", `{"flagKey":"f","entityId":"e"}`, true},
		{"legacy batch", shop, "POST", "/api/v1/namespaces/shop/batch-evaluate", `{"requests":[{"flagKey":"f"},{"flagKey":"f","namespaceKey":"shop"}]}`, true},
		{"a legacy batch with another namespace", shop, "POST", "/api/v1/namespaces/shop/batch-evaluate", `{"requests":[{"flagKey":"f","namespaceKey":"x"}]}`, false},
		{"an empty legacy batch", shop, "POST", "/api/v1/namespaces/shop/batch-evaluate", `{}`, false},
		{"changes", shop, "GET", "/api/v1/namespaces/shop/changes", "", true},
		{"changes elsewhere", shop, "GET", "/api/v1/namespaces/default/changes", "", false},
		{"changes of the tokens", shop, "GET", "/api/v1/namespaces/shop/changes?kind=authentication", "", false},
		{"export", shop, "GET", "/api/v1/namespaces/shop/export", "", true},
		{"import", shop, "POST", "/api/v1/namespaces/shop/import", `{"document":{},"mode":2}`, true},
		{"import elsewhere", shop, "POST", "/api/v1/namespaces/default/import", `{"document":{},"mode":2}`, false},
		{"itself", shop, "GET", "/auth/v1/self", "", false},
		{"expiring itself", shop, "PUT", "/auth/v1/self/expire", "", false},
		{"the tokens", shop, "GET", "/auth/v1/tokens", "", false},
		{"a new token for its namespace", shop, "POST", "/auth/v1/method/token", `{"name":"n","namespaceKey":"shop"}`, false},
		{"info", shop, "GET", "/meta/info", "", false},
		{"analytics", shop, "GET", "/internal/v1/analytics/namespaces/shop/flags/f", "", false},
		{"the public list", shop, "GET", "/auth/v1/method", "", true},
		{"deleting itself", shop, "DELETE", "/api/v1/namespaces/shop?force=true", "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := *s
			s.t = t
			r := s.do(test.method, test.path, test.body, "Authorization", test.token)
			if test.ok && r.status != 200 {
				t.Errorf("%d %s", r.status, r.body)
			}
			if !test.ok {
				r.fails(t, 401, 16, unauthenticated)
			}
		})
	}
}
