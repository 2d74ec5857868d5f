package browser

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"go.yaml.in/yaml/v3"

	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/runtimes/lambda/lambdatest"
)

// adminToken is the bootstrap token of all servers.
const adminToken = "bootstrap-token-secret" // #nosec G101 -- for tests

// shop is a service with the example shop: its namespaces default and warehouse, and
// staging, which is default with some differences, and empty, which has nothing.
type shop struct {
	*harness.Server
	public string // the address for browsers
	tokens map[role]string
}

// role is what a visitor may do.
type role string

// The roles of visitors. A guest has not signed in.
const (
	admin  role = "admin"
	viewer role = "viewer"
	guest  role = "guest"
)

// signInSettings make everybody sign in with a token.
var signInSettings = []string{
	"GUIDON_AUTHENTICATION_REQUIRED=true", "GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED=true",
	"GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN=" + adminToken,
}

// with returns signInSettings and others, which may override them.
func with(settings ...string) []string { return slices.Concat(signInSettings, settings) }

// openShop starts a server with the shop, with additional settings in the environment.
func openShop(t testing.TB, settings ...string) *shop {
	t.Helper()
	s := harness.Start(t, harness.SQLiteURL(t), with(settings...)...)
	return stock(t, s, s.URL)
}

// openShopInstances is openShop with three servers on PostgreSQL, which answer in turn.
func openShopInstances(t testing.TB, settings ...string) *shop {
	t.Helper()
	harness.Postgres.Need(t)
	database := harness.Postgres.Migrated(t)
	var servers []*harness.Server
	var instances []*httputil.ReverseProxy
	for range 3 {
		s := harness.Start(t, database, with(settings...)...)
		servers, instances = append(servers, s), append(instances, proxyTo(t, s))
	}
	var next atomic.Uint32
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		instances[int(next.Add(1))%len(instances)].ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return stock(t, servers[0], front.URL)
}

func proxyTo(t testing.TB, s *harness.Server) *httputil.ReverseProxy {
	t.Helper()
	to, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return httputil.NewSingleHostReverseProxy(to)
}

// openShopBelow is openShop behind a proxy, which serves it below the path and removes that
// from requests.
func openShopBelow(t testing.TB, path string, settings ...string) *shop {
	t.Helper()
	proxy := httptest.NewUnstartedServer(nil)
	public := "http://" + proxy.Listener.Addr().String() + path
	s := harness.Start(t, harness.SQLiteURL(t), append(with(settings...), "GUIDON_SERVER_PUBLIC_URL="+public)...)
	proxy.Config.Handler = http.StripPrefix(path, proxyTo(t, s))
	proxy.Start()
	t.Cleanup(proxy.Close)
	return stock(t, s, public)
}

// openShopFunction is openShop for visitors of the function for AWS Lambda, behind an HTTP
// API with the stage, below which it is unless that is "$default". It needs PostgreSQL. A
// server on the same database takes the API requests.
func openShopFunction(t testing.TB, stage string, settings ...string) *shop {
	t.Helper()
	harness.Postgres.Need(t)
	database := harness.Postgres.Migrated(t)
	handler, path := harness.Function(t, database, with(settings...)...).Serve(lambdatest.HTTPAPI(stage)), ""
	if stage != "$default" {
		path = "/" + stage
		handler = http.StripPrefix(path, handler) // to which the API adds it
	}
	api := httptest.NewServer(handler)
	t.Cleanup(api.Close)
	return stock(t, harness.Start(t, database, with(settings...)...), api.URL+path)
}

// stock imports the shop and creates the tokens.
func stock(t testing.TB, s *harness.Server, public string) *shop {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(harness.ModuleDir(t), "examples", "shop.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	// All flags are new, so that only a review date that has passed makes one unused.
	wishlist := []byte("  - key: wishlist\n    name: Wishlist\n")
	file = bytes.Replace(file, wishlist, append(wishlist, "    metadata: {review: \"2026-01-02\"}\n"...), 1)
	load := harness.Command(t, "", "import", "-", "--address", s.URL, "-m", "Open the shop")
	load.Env = append(load.Env, "GUIDON_TOKEN="+adminToken)
	load.Stdin = io.MultiReader(bytes.NewReader(file), bytes.NewReader([]byte("\n---\n")), bytes.NewReader(staging(t, file)))
	harness.Ends(t, load, true, "")

	s.Must(t, "POST", "/api/v1/namespaces", map[string]any{"key": "empty", "name": "Empty"}, nil, "Authorization: Bearer "+adminToken)
	var created struct{ ClientToken string }
	s.Must(t, "POST", "/auth/v1/method/token", map[string]any{"name": "viewer", "role": "viewer"}, &created, "Authorization: Bearer "+adminToken)
	return &shop{Server: s, public: public, tokens: map[role]string{admin: adminToken, viewer: created.ClientToken}}
}

// staging returns the first document of the file as that of another namespace, in which a
// flag is missing, one has another name, and a segment and a flag are new.
func staging(t testing.TB, file []byte) []byte {
	t.Helper()
	var document map[string]any
	if err := yaml.Unmarshal(file, &document); err != nil {
		t.Fatal(err)
	}
	document["namespace"] = map[string]any{"key": "staging", "name": "Staging"}
	flags := document["flags"].([]any)[1:]
	flags[0].(map[string]any)["name"] = "Shipping that costs nothing"
	document["flags"] = append(flags, map[string]any{"key": "only-in-staging", "name": "Only in staging", "type": "BOOLEAN_FLAG_TYPE", "enabled": true})
	document["segments"] = append(document["segments"].([]any), map[string]any{"key": "testers", "name": "Testers", "match_type": "ALL_MATCH_TYPE"})
	text, err := yaml.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// visitor returns a new visitor with the role, who has signed in by the form.
func (s *shop) visitor(t testing.TB, as role) *visitor {
	t.Helper()
	v := newVisitor(t, s.public)
	if as == guest {
		return v
	}
	v.Visit(t, "/sign-in")
	v.Do(t, chromedp.SendKeys(chromedp.ID("token"), s.tokens[as]))
	v.Follow(t, click(named("button", "Sign in with token")))
	if cookie := eval[string](t, v, "document.cookie"); cookie != "" {
		t.Errorf("scripts can read the cookie %s", cookie)
	}
	if status := eval[int](t, v, "fetch('"+s.public+"/auth/v1/self').then(r => r.status)"); status != http.StatusOK {
		t.Fatalf("signing in as %s: then /auth/v1/self has status %d", as, status)
	}
	return v
}
