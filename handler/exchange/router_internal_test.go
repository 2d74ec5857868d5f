package exchange

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/limit"
	"github.com/guidonhq/guidon/service"
)

// echoForm is a form that responds with the operation and the path.
type echoForm struct{}

func (echoForm) Serve(x *Exchange, o *call.Operation) {
	x.Reply(http.StatusOK, "text/plain", fmt.Appendf(nil, "%s %s", o.Name, x.Path()))
}

func (echoForm) Error(x *Exchange, err error) {
	x.Reply(http.StatusTeapot, "text/plain", []byte(err.Error()))
}

// newRouter returns a router with routes of every kind.
func newRouter(mounts ...Mount) *Router {
	row := func(method, pattern string, area call.Area) Row {
		return Row{Operation: call.NewOperation(call.Route{Method: method, Pattern: pattern}, area, 0, nil).Light().ForEveryIdentity(), Form: echoForm{}}
	}
	tail := row(http.MethodPost, "/tails/v1/{key}", call.AreaOFREP)
	tail.Rest = true
	return newRouterOf([]Row{
		row(http.MethodPost, "/api/v1/plain", call.AreaEvaluation),
		row(http.MethodGet, "/api/v1/things", call.AreaEvaluation),
		row(http.MethodGet, "/api/v1/things/{key}", call.AreaEvaluation),
		row(http.MethodPost, "/tails/v1", call.AreaOFREP),
		tail,
	}, mounts)
}

func newRouterOf(rows []Row, mounts []Mount) *Router {
	invoker := call.NewInvoker(call.Config{Budget: limit.NewBudget(0), Logger: slog.New(slog.DiscardHandler)})
	return NewRouter(rows, nil, mounts, Config{Invoker: invoker, Prefixes: []Prefix{
		{Path: "/api/v1", Errors: Messages, TrailingSlash: true},
		{Path: "/tails", Errors: echoForm{}, TrailingSlash: true, LeadingSlash: true},
	}})
}

// TestFastRoutes: a request for a route that needs no search gets the same response as by
// the search.
func TestFastRoutes(t *testing.T) {
	fast, general := newRouter(), newRouter()
	general.exact, general.tails = nil, nil
	found := 0
	for _, path := range []string{
		"/api/v1/plain", "/api/v1/plain/", "/api/v1//plain", "/api/v1/other", "/api/v1/things", "/api/v1/things/", "/api/v1/things/a", "/api/v1/things//",
		"/tails/v1", "/tails/v1/", "/tails/v1//", "/tails/v1/a", "/tails/v1/a/", "/tails/v1/a/b", "/tails/v1/a%2Fb", "/tails/v1/%20",
		"//tails/v1", "//tails/v1/a", "/tails", "/tails/v1a", "/",
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodHead, http.MethodOptions, "OTHER"} {
			request := func() *http.Request {
				return httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+path, strings.NewReader("{"))
			}
			if fast.find(request()) != nil {
				found++
			}
			got, want := httptest.NewRecorder(), httptest.NewRecorder()
			fast.ServeHTTP(got, request())
			general.ServeHTTP(want, request())
			if got.Code != want.Code || got.Body.String() != want.Body.String() {
				t.Errorf("%s %s: got %d %s, want %d %s", method, path, got.Code, got.Body, want.Code, want.Body)
			}
		}
	}
	if found != 5 {
		t.Errorf("%d requests without a search, want 5", found)
	}
}

// TestMount: a mount gets every path under its prefixes, knows the caller, and answers
// errors in its own form, those of the checks before it included.
func TestMount(t *testing.T) {
	pages := Mount{
		Prefixes: []string{"/", "/ui"},
		Serve: func(x *Exchange) {
			if _, err := x.Identify(call.Credentials{Authorization: x.Request.Header["Authorization"], Cookie: x.Request.Header["Cookie"]}, service.Demand{}); err != nil {
				x.ReplyError(err)
				return
			}
			x.Reply(http.StatusOK, "text/html", []byte("page "+x.Request.URL.Path))
		},
		Error: func(x *Exchange, err error) {
			x.Reply(call.HTTPStatus(guidon.CodeOf(err)), "text/html", []byte("sorry: "+guidon.PublicMessage(err)))
		},
	}
	router := newRouter(pages)
	for _, test := range []struct {
		name, method, path, from string
		status                   int
		want                     string
	}{
		{"the root", "GET", "/", "", 401, "sorry: "},
		{"the prefix", "GET", "/ui", "", 401, "sorry: "},
		{"below it", "GET", "/ui/flags/a", "", 401, "sorry: "},
		{"a form of a page of its own", "POST", "/ui/flags/a", "same-origin", 401, "sorry: "},
		{"a form of another origin", "POST", "/ui/flags/a", "cross-site", 403, "sorry: permission denied: cross-origin"},
		{"a link on another origin", "GET", "/ui/flags/a", "cross-site", 401, "sorry: "},
		{"a method that pages do not use", "DELETE", "/ui/flags/a", "", 501, "sorry: Method Not Allowed"},
		{"a path that nothing owns", "GET", "/uid", "", 404, "sorry: Not Found"},
		{"an operation", "GET", "/api/v1/things", "", 200, "/api/v1/things /api/v1/things"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), test.method, "http://localhost"+test.path, nil)
			if test.from != "" {
				r.Header.Set("Sec-Fetch-Site", test.from)
			}
			got := httptest.NewRecorder()
			router.ServeHTTP(got, r)
			if got.Code != test.status || !strings.HasPrefix(got.Body.String(), test.want) {
				t.Errorf("got %d %s, want %d %s", got.Code, got.Body, test.status, test.want)
			}
		})
	}
}

// TestOverlaps: a path has one owner.
func TestOverlaps(t *testing.T) {
	for _, test := range []struct {
		prefixes []string
		owned    bool
	}{
		{[]string{"/", "/ui", "/sign-in"}, false},
		{[]string{"/ui", "/ui"}, true},
		{[]string{"/ui", "/ui/flags"}, true},
		{[]string{"/api"}, true},
		{[]string{"/api/v1/things"}, true},
		{[]string{"/api/v1/things/more"}, true}, // could be a key
		{[]string{"/apis"}, false},
	} {
		t.Run(strings.Join(test.prefixes, " "), func(t *testing.T) {
			defer func() {
				if owned := recover() != nil; owned != test.owned {
					t.Errorf("rejected: %t, want %t", owned, test.owned)
				}
			}()
			newRouter(Mount{Prefixes: test.prefixes})
		})
	}
}

// TestUnstatedNeed: an operation that does not state what role it needs is refused.
func TestUnstatedNeed(t *testing.T) {
	unstated := call.NewOperation(call.Route{Method: http.MethodGet, Pattern: "/api/v1/unstated"}, call.AreaEvaluation, 0, nil)
	defer func() {
		got, want := fmt.Sprint(recover()), unstated.Name+" does not state which role it needs"
		if got != want {
			t.Errorf("got panic %q, want %q", got, want)
		}
	}()
	newRouterOf([]Row{{Operation: unstated, Form: echoForm{}}}, nil)
}

// TestUnstatedCost: so is one that does not state its cost.
func TestUnstatedCost(t *testing.T) {
	unstated := call.NewOperation(call.Route{Method: http.MethodGet, Pattern: "/api/v1/unstated"}, call.AreaEvaluation, 0, nil).ForEveryIdentity()
	defer func() {
		got, want := fmt.Sprint(recover()), unstated.Name+" does not state whether it is light or heavy"
		if got != want {
			t.Errorf("got panic %q, want %q", got, want)
		}
	}()
	newRouterOf([]Row{{Operation: unstated, Form: echoForm{}}}, nil)
}
