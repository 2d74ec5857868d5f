package web_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/runtimes/lambda"
	"github.com/guidonhq/guidon/service"
)

// classed returns the elements with the class.
func classed(r *webtest.Reply, class string) (found []*html.Node) {
	for _, n := range r.All("") {
		for name := range strings.FieldsSeq(webtest.Attribute(n, "class")) {
			if name == class {
				found = append(found, n)
			}
		}
	}
	return found
}

// TestInterface: the operator's theme, color, label and message are on every page, also
// before somebody has signed in.
func TestInterface(t *testing.T) {
	plain := webtest.New(t, webtest.Options{})
	s := webtest.New(t, webtest.Options{Page: func(c *page.Config) {
		c.Interface = page.Interface{DefaultTheme: page.ThemeDark, TopbarColor: "#c0ffee", TopbarLabel: "Production EU", Message: "Maintenance on Friday"}
	}})
	for _, path := range []string{"/sign-in", "/sign-in/nothing", "/settings/profile", "/namespaces/default/settings", "/namespaces/none/settings"} {
		for _, visitor := range []*webtest.Server{s, s.As("")} {
			r := visitor.Get(path)
			if r.Status == http.StatusSeeOther {
				continue // to the first one
			}
			if got := webtest.Attribute(r.All("html")[0], "data-theme"); got != "dark" {
				t.Errorf("%s: the theme is %q", path, got)
			}
			bars := classed(r, "topbar")
			if len(bars) != 1 || webtest.TextOf(bars[0]) != "Production EU" {
				t.Fatalf("%s: %d bars", path, len(bars))
			}
			color := ""
			for n := range bars[0].Descendants() {
				color += webtest.Attribute(n, "fill")
			}
			if color != "#c0ffee" {
				t.Errorf("%s: the color is %q", path, color)
			}
			r.Contains("Maintenance on Friday")
			light := visitor.Get(path, "Cookie", "guidon_preferences=theme=light")
			if got := webtest.Attribute(light.All("html")[0], "data-theme"); got != "light" {
				t.Errorf("%s: the visitor’s theme is %q", path, got)
			}
		}
		r := plain.Get(path)
		if got := webtest.Attribute(r.All("html")[0], "data-theme"); got != "" || len(classed(r, "topbar")) > 0 {
			t.Errorf("%s: without a configuration: %q, %d bars", path, got, len(classed(r, "topbar")))
		}
	}
}

// TestCounts: the navigation has how many flags, segments and unused flags there are.
func TestCounts(t *testing.T) {
	later := func() time.Time { return time.Date(2050, 1, 1, 0, 0, 0, 0, time.UTC) } // new flags are not unused
	s := webtest.New(t, webtest.Options{Now: later})
	for path, want := range map[string]string{
		"/namespaces/default/changes":   "Flags 26 Segments 15 Playground Changes Compare Unused flags 6",
		"/namespaces/warehouse/changes": "Flags 14 Segments 11 Playground Changes Compare Unused flags 2",
		"/settings/profile":             "Flags 26 Segments 15 Playground Changes Compare Unused flags 6",
	} {
		if got := webtest.TextOf(classed(s.Get(path).Check(http.StatusOK), "nav")[0]); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

// TestDefaultNamespace: visitors begin in the operator's namespace, if they may view it,
// unless they were in another one.
func TestDefaultNamespace(t *testing.T) {
	s := webtest.New(t, webtest.Options{Empty: true, Page: func(c *page.Config) { c.Interface.DefaultNamespace = "shop" }})
	for _, key := range []string{"shop", "pay"} {
		if _, _, err := s.Service.CreateNamespace(t.Context(), service.Write{}, service.NamespaceInput{Key: key, Name: key}); err != nil {
			t.Fatal(err)
		}
	}
	limited := s.As(s.SignIn(service.TokenInput{Name: "pay", Role: service.RoleViewer, Namespaces: []string{"pay"}}))
	for want, got := range map[string]*webtest.Reply{
		"/namespaces/shop/flags":    s.Get("/"),
		"/namespaces/default/flags": s.Get("/", "Cookie", "guidon_preferences=namespace=default"),
		"/namespaces/pay/flags":     limited.Get("/"),
	} {
		if got.Location() != want {
			t.Errorf("leads to %s, want %s", got.Location(), want)
		}
	}
}

// TestDisabled: without the web interface, only the pages of signing in are served, and the
// API as ever.
func TestDisabled(t *testing.T) {
	s := webtest.New(t, webtest.Options{Page: func(c *page.Config) { c.Interface.Disabled = true }})
	for path, want := range map[string]int{
		"/": 404, "/settings/profile": 404, "/namespaces/default/flags": 404, "/shortcuts": 404, "/search": 404, "/changes": 404,
		"/sign-in": 200, "/sign-in/cli": 400, "/api/v1/namespaces": 200,
	} {
		got := s.Get(path)
		if got.Status != want {
			t.Errorf("%s: got %d, want %d: %s", path, got.Status, want, got.Text())
		}
		if want == 404 && got.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: got the headers %v", path, got.Header)
		}
	}
	form := url.Values{"token": {"wrong"}, "return_to": {"/"}}
	r := s.As("").Post("/sign-in", form).Check(401)
	if _, fields := r.Form(""); fields.Get("return_to") != "/" {
		t.Errorf("the form has %v", fields)
	}
	if got := s.Post("/sign-in/out", nil).Location(); got != "/sign-in" {
		t.Errorf("signing out leads to %s", got)
	}
}

// TestNonsense: an address that nothing owns is a page that says so, with the headers of pages,
// for everybody and every method.
func TestNonsense(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	headers := s.Get("/sign-in/nothing").Check(404).Header
	for _, visitor := range []*webtest.Server{s, s.As("")} {
		for _, r := range []*webtest.Reply{visitor.Get("/nonsense"), visitor.Get("/apiary/x?a=secret"), visitor.Post("/nonsense", url.Values{"a": {"secret"}})} {
			r.Check(404).Contains("There is no such page", "Go to the start page").Lacks("secret")
			if links := r.Links(); !slices.Contains(links, "/") {
				t.Errorf("the links are %q", links)
			}
			for name, values := range headers {
				if got := r.Header[name]; name != "X-Request-Id" && name != "Date" && name != "Content-Length" && !slices.Equal(got, values) {
					t.Errorf("%s is %q, want %q", name, got, values)
				}
			}
		}
	}
	s.Get("/api/v1/nonsense").Check(404).Lacks("page")
}

// TestBelowStage: behind an API of AWS Lambda, the addresses on pages have the stage that
// the function has removed from the path.
func TestBelowStage(t *testing.T) {
	s := webtest.New(t, webtest.Options{Page: func(c *page.Config) { c.RemovedPath = lambda.RemovedPath }})
	f := lambda.New(lambda.Config{Handler: s.Handler(), BasePath: "/flags"})
	addresses := regexp.MustCompile(` (?:href|src|action)="([^"#]+)"`)
	for path, want := range map[string]string{"/prod/flags/sign-in": "/prod/flags", "/prod/flags/sign-in/nothing": "/prod/flags", "/prod/sign-in": "/prod"} {
		event, err := json.Marshal(map[string]any{
			"version": "2.0", "rawPath": path, "headers": map[string]string{"host": "api.example"},
			"requestContext": map[string]any{"stage": "prod", "domainName": "api.example", "http": map[string]any{"method": "GET", "path": path}},
		})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := f.Invoke(t.Context(), event)
		if err != nil {
			t.Fatal(err)
		}
		var response struct{ Body string }
		if err := json.Unmarshal(answer, &response); err != nil {
			t.Fatal(err)
		}
		found := addresses.FindAllStringSubmatch(response.Body, -1)
		if len(found) < 3 {
			t.Fatalf("%s: %s", path, answer)
		}
		for _, address := range found {
			if !strings.HasPrefix(address[1], want+"/") {
				t.Errorf("%s: the page has %s", path, address[1])
			}
		}
	}
}
