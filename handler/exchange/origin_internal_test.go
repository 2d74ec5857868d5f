package exchange

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/limit"
)

// originConfig is a configuration with every kind of origin.
func originConfig(a call.AuthenticationConfig, cookie call.SessionCookie) Config {
	return Config{
		Invoker: call.NewInvoker(call.Config{
			Budget: limit.NewBudget(0), Logger: slog.New(slog.DiscardHandler),
			Authentication: a, Session: cookie,
		}),
		CORS:         &CORSConfig{AllowedOrigins: []string{"https://listed.example", "*"}},
		PublicOrigin: "https://flags.example", TrustedOrigins: []string{"https://trusted.example"},
	}
}

// routeKind is a kind of route, as far as cross-origin requests are concerned.
type routeKind struct {
	name          string
	writes, signs bool
	mount, plain  bool
	area          call.Area
}

var routeKinds = []routeKind{
	{name: "reads", area: call.AreaManagement},
	{name: "writes", area: call.AreaManagement, writes: true},
	{name: "evaluates", area: call.AreaEvaluation},
	{name: "ofrep", area: call.AreaOFREP},
	{name: "exchanges", area: call.AreaPublic, writes: true},
	{name: "signs-in", area: call.AreaPublic, writes: true, signs: true},
	{name: "signs-out", area: call.AreaAuthentication, writes: true, signs: true},
	{name: "mount", mount: true, writes: true, signs: true},
	{name: "plain", plain: true},
}

// originMethods are the methods of requests. Every kind of route has all of them, except
// mounts.
var originMethods = []string{
	http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
}

// newOriginRouter returns a router with a route of each kind for each method, at /<kind>.
// They respond with 200.
func newOriginRouter(config Config) *Router {
	serve := func(x *Exchange) { x.Reply(http.StatusOK, "text/plain", []byte("served")) }
	var rows []Row
	var plain []Plain
	var mounts []Mount
	for _, kind := range routeKinds {
		if kind.mount {
			mounts = append(mounts, Mount{Prefixes: []string{"/" + kind.name}, Serve: serve, Error: func(x *Exchange, err error) {
				x.Reply(http.StatusTeapot, "text/plain", []byte(err.Error()))
			}})
			continue
		}
		for _, method := range originMethods {
			if kind.plain {
				plain = append(plain, Plain{Method: method, Pattern: "/" + kind.name, AnyHost: true, Serve: serve})
				continue
			}
			o := call.NewOperation(call.Route{Method: method, Pattern: "/" + kind.name}, kind.area, 0, nil).Light().ForEveryIdentity()
			if kind.writes {
				o.With(call.Writes)
			}
			if kind.signs {
				o.With(call.SignsInOrOut)
			}
			rows = append(rows, Row{Operation: o, Form: echoForm{}})
		}
	}
	return NewRouter(rows, plain, mounts, config)
}

// originRequest is a request, as far as the checks are concerned.
type originRequest struct {
	method       string
	site, origin []string // the values of Sec-Fetch-Site and of Origin
	cookie       bool
	credential   originCredential
}

// originCredential is the credential in the header of a request.
type originCredential struct {
	authorization, apiKey []string // the values of the headers
	token, key            bool     // whether they count where they are used
}

var originCredentials = []originCredential{
	{},
	{authorization: []string{"Bearer x"}, token: true},
	{authorization: []string{"JWT x"}, token: true},
	{authorization: []string{"Bearer x", "Basic YTpi"}, token: true},
	// These are no tokens. A browser adds some of them by itself.
	{authorization: []string{""}},
	{authorization: []string{"Basic YTpi"}},
	{authorization: []string{"Negotiate YTpi"}},
	{authorization: []string{"Basic YTpi", "Bearer x"}},
	{authorization: []string{"Bearer"}},
	{authorization: []string{"Bearer "}},
	{authorization: []string{"bearer x"}},
	{authorization: []string{"JWT "}},
	{apiKey: []string{"x"}, key: true},
	{apiKey: []string{""}},
	{apiKey: []string{"", "x"}},
	{authorization: []string{"Basic YTpi"}, apiKey: []string{"x"}},
	{authorization: []string{""}, apiKey: []string{"x"}},
}

// own reports whether the browser says that the request is from our own page or a trusted
// one, or says nothing.
func (r originRequest) own(trusted ...string) bool {
	site, origin := strings.Join(r.site, ""), strings.Join(r.origin, "")
	switch {
	case r.method == "GET", r.method == "HEAD", r.method == "OPTIONS":
		return true
	case len(r.origin) > 1, len(r.site) > 1:
		return false
	case site == "same-origin", site == "none":
		return true
	case origin == "":
		return site == ""
	}
	return slices.Contains(trusted, origin) || site == "" && origin == "http://inside.local:8080"
}

// wantServed is the rule. A token in the header is a credential only where the route checks
// credentials: pages, public routes and open areas ignore it. An API key is one under OFREP
// only, without Authorization. Without such a token, a request that has the session cookie,
// or signs somebody in or out, must be from our own page or a trusted one. The same holds for
// all other writes, but pages of origins that CORS lists may send these too.
func (r originRequest) wantServed(kind routeKind, a call.AuthenticationConfig) bool {
	const public, trusted, listed = "https://flags.example", "https://trusted.example", "https://listed.example"
	checks := a.Required && !kind.mount && !kind.plain && kind.area != call.AreaPublic && !(a.ExcludeManagement && kind.area == call.AreaManagement)
	if checks && (r.credential.token || r.credential.key && kind.area == call.AreaOFREP) {
		return true
	}
	if (r.cookie || kind.signs) && !r.own(public, trusted) {
		return false
	}
	return !kind.writes || r.own(public, trusted, listed)
}

// TestCrossOrigin sends every kind of request to every kind of route.
func TestCrossOrigin(t *testing.T) {
	sites := [][]string{nil, {"same-origin"}, {"none"}, {"same-site"}, {"cross-site"}, {"garbage"}, {"same-origin", "cross-site"}, {"cross-site", "same-origin"}}
	origins := [][]string{
		nil, {"https://flags.example"}, {"http://inside.local:8080"}, {"https://trusted.example"}, {"https://listed.example"}, {"https://evil.example"},
		{"http://flags.example"}, {"https://flags.example.evil.example"}, {"null"}, {"%"},
		{"https://flags.example", "https://evil.example"}, {"https://evil.example", "https://flags.example"}, {"https://flags.example, https://evil.example"},
	}
	for _, authentication := range []call.AuthenticationConfig{{}, {Required: true}, {Required: true, ExcludeManagement: true}} {
		cookie := call.SessionCookie{HostPrefix: authentication.Required}
		router := newOriginRouter(originConfig(authentication, cookie))
		sent, rejected := 0, 0
		send := func(kind routeKind, r originRequest) {
			if kind.mount && !slices.Contains(mountMethods, r.method) {
				return
			}
			request := httptest.NewRequestWithContext(t.Context(), r.method, "http://inside.local:8080/"+kind.name, nil)
			request.Header = http.Header{"Origin": r.origin, "Sec-Fetch-Site": r.site, "Authorization": r.credential.authorization, "X-Api-Key": r.credential.apiKey}
			if r.cookie {
				request.Header.Set("Cookie", strings.Split(cookie.Set("x"), ";")[0])
			}
			got := httptest.NewRecorder()
			router.ServeHTTP(got, request)
			want := r.wantServed(kind, authentication)
			if served := got.Code == http.StatusOK; served != want || !served && !strings.Contains(got.Body.String(), "cross-origin request") {
				t.Errorf("%s, %+v, %+v: got %d %s, want it served: %t", kind.name, authentication, r, got.Code, got.Body, want)
			}
			if sent++; !want {
				rejected++
			}
		}
		for _, kind := range routeKinds {
			for _, method := range originMethods {
				credentials := originCredentials
				if method != http.MethodGet && method != http.MethodPost {
					credentials = credentials[:5]
				}
				for _, site := range sites {
					for _, origin := range origins {
						for _, credential := range credentials {
							send(kind, originRequest{method, site, origin, false, credential})
							send(kind, originRequest{method, site, origin, true, credential})
						}
					}
				}
			}
		}
		if sent < 40_000 || rejected < 10_000 {
			t.Errorf("only %d requests, of which %d are rejected", sent, rejected)
		}
	}
}

// TestCrossOriginOfOtherCookie: with a prefix, only a cookie with the prefix makes a request
// one with a session.
func TestCrossOriginOfOtherCookie(t *testing.T) {
	for prefix, want := range map[bool]int{false: http.StatusTeapot, true: http.StatusOK} {
		router := newOriginRouter(originConfig(call.AuthenticationConfig{Required: true}, call.SessionCookie{HostPrefix: prefix}))
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://inside.local/reads", nil)
		request.Header = http.Header{"Origin": {"https://evil.example"}, "Cookie": {"service_client_token=x"}}
		got := httptest.NewRecorder()
		if router.ServeHTTP(got, request); got.Code != want {
			t.Errorf("prefix %t: got %d %s, want %d", prefix, got.Code, got.Body, want)
		}
	}
}

// TestCrossOriginFirst: the check comes before anything else of the request is looked at.
func TestCrossOriginFirst(t *testing.T) {
	router := newOriginRouter(originConfig(call.AuthenticationConfig{Required: true}, call.SessionCookie{}))
	for _, host := range []string{"inside.local", "evil.example"} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+host+"/signs-in", unread{t})
		request.Header = http.Header{"Sec-Fetch-Site": {"cross-site"}, "Grpc-Timeout": {"x"}, "If-Match": {"x"}, "X-Http-Method-Override": {"GET"}}
		got := httptest.NewRecorder()
		router.ServeHTTP(got, request)
		if want := guidon.PublicMessage(errPageOrigin); got.Body.String() != want {
			t.Errorf("host %s: got %d %s, want %s", host, got.Code, got.Body, want)
		}
	}
}

// unread is a body that must not be read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, http.ErrBodyNotAllowed
}

// TestPublicHost: the host of the public origin is one of the allowed ones.
func TestPublicHost(t *testing.T) {
	for _, test := range []struct {
		public, host string
		want         int
	}{
		{"https://flags.example", "flags.example", http.StatusOK},
		{"https://flags.example:8443", "flags.example", http.StatusOK}, // a port is no part of a name
		{"https://FLAGS.example", "Flags.Example:443", http.StatusOK},
		{"https://flags.example.", "flags.example", http.StatusOK},
		{"https://flags.example", "evil.example", http.StatusTeapot},
		{"https://flags.example", "flags.example.evil.example", http.StatusTeapot},
		{"", "flags.example", http.StatusTeapot},
		{"https://flags.example", "trusted.example", http.StatusTeapot},
	} {
		config := originConfig(call.AuthenticationConfig{}, call.SessionCookie{})
		config.PublicOrigin = test.public
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/reads", nil)
		request.Host = test.host
		got := httptest.NewRecorder()
		if newOriginRouter(config).ServeHTTP(got, request); got.Code != test.want {
			t.Errorf("public origin %q, host %q: got %d %s, want %d", test.public, test.host, got.Code, got.Body, test.want)
		}
	}
}

// TestInvalidOrigin: a router is not made with an origin that would silently match nothing.
func TestInvalidOrigin(t *testing.T) {
	for field, set := range map[string]func(c *Config){
		"PublicOrigin":   func(c *Config) { c.PublicOrigin = "https://flags.example/base" },
		"TrustedOrigins": func(c *Config) { c.TrustedOrigins = []string{"https://a.example", "*"} },
	} {
		config := originConfig(call.AuthenticationConfig{Required: true}, call.SessionCookie{})
		set(&config)
		func() {
			defer func() {
				if got, want := fmt.Sprint(recover()), "Config."+field+" must be an origin such as"; !strings.HasPrefix(got, want) {
					t.Errorf("got panic %q, want %q", got, want)
				}
			}()
			newOriginRouter(config)
		}()
	}
}
