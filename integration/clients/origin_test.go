package clients

import (
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
)

// raw is a request as a test writes it.
type raw struct {
	method, path, host, body string
	headers                  []string // "Name: value"
}

// status sends the request to the server and returns the status and body of the response.
func (r raw) status(t *testing.T, url string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), r.method, url+r.path, strings.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	if r.host != "" {
		request.Host = r.host
	}
	for _, h := range r.headers {
		name, value, _ := strings.Cut(h, ": ")
		request.Header.Add(name, value)
	}
	response, err := harness.Client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// TestPagesOfOtherOrigins attacks a real server as a web page could: with requests that
// need no preflight, and by DNS rebinding, under a host name that resolves to the server.
func TestPagesOfOtherOrigins(t *testing.T) {
	const (
		imports  = "/api/v1/namespaces/default/import"
		replace  = `{"mode":"REPLACE_IMPORT_MODE","document":{"version":"1.4","namespace":{"key":"default"},"flags":[]}}`
		newFlag  = `{"key":"evil","name":"Evil"}`
		evaluate = `{"flagKey":"kept","entityId":"e"}`
		text     = "Content-Type: text/plain"
		origin   = "Origin: https://evil.example"
		fetched  = "Sec-Fetch-Site: cross-site"
		rebound  = "evil.example:8080"
		token    = "origin-test-token"
		bearer   = "Authorization: Bearer " + token
		cookie   = "Cookie: service_client_token=" + token
	)
	tokens := []string{
		"GUIDON_AUTHENTICATION_REQUIRED=true", "GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED=true",
		"GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN=" + token,
	}
	type attack struct {
		raw
		want int
	}
	for name, test := range map[string]struct {
		settings []string
		known    []string // headers of the legitimate client
		attacks  []attack
	}{
		"open": {nil, nil, []attack{
			{raw{"POST", imports, "", replace, []string{text, origin, fetched}}, 403},
			{raw{"POST", imports, "", replace, []string{text, origin}}, 403},
			{raw{"POST", "/api/v1/flags", "", newFlag, []string{text, "Origin: null"}}, 403},
			{raw{"POST", imports, rebound, replace, []string{"Origin: http://" + rebound}}, 403},
			{raw{"DELETE", "/api/v1/flags/kept", rebound, "", []string{"Sec-Fetch-Site: same-origin"}}, 403},
			{raw{"GET", "/api/v1/flags", rebound, "", nil}, 403},
			{raw{"GET", "/meta/config", rebound, "", nil}, 403},
			{raw{"GET", "/health", rebound, "", nil}, 200},
			{raw{"POST", "/evaluate/v1/boolean", rebound, evaluate, []string{text, origin, fetched}}, 200},
			{raw{"POST", "/api/v1/evaluate", rebound, evaluate, []string{origin}}, 400}, // not a variant flag
			{raw{"POST", "/ofrep/v1/evaluate/flags/kept", rebound, "{}", []string{origin, fetched}}, 200},
			{raw{"GET", "/api/v1/flags", "guidon:8080", "", nil}, 200},
			{raw{"GET", "/api/v1/flags", "guidon.flags.svc.cluster.local:8080", "", nil}, 200},
		}},
		"open, with names and origins": {
			[]string{"GUIDON_SERVER_ALLOWED_HOSTS=flags.example", "GUIDON_CORS_ENABLED=true", "GUIDON_CORS_ALLOWED_ORIGINS=https://admin.example https://*.example"}, nil, []attack{
				{raw{"GET", "/api/v1/flags", "flags.example", "", nil}, 200},
				{raw{"GET", "/api/v1/flags", rebound, "", nil}, 403},
				{raw{"PUT", "/api/v1/flags/kept", "", `{"name":"Kept"}`, []string{"Origin: https://admin.example", fetched}}, 200},
				{raw{"PUT", "/api/v1/flags/kept", "", `{"name":"Kept"}`, []string{origin, fetched}}, 403},
			}},
		"required": {tokens, []string{bearer}, []attack{
			{raw{"POST", imports, "", replace, []string{text, origin, fetched, cookie}}, 403},
			{raw{"POST", imports, "", replace, []string{text, origin, fetched}}, 403},
			{raw{"POST", imports, "", replace, []string{text, origin, fetched, cookie, "X-API-Key: x"}}, 403},
			{raw{"PUT", "/auth/v1/self/expire", "", "", []string{origin, cookie}}, 403},
			{raw{"POST", "/auth/v1/method/token", "", `{"name":"evil"}`, []string{text, origin, cookie}}, 403},
			{raw{"POST", "/evaluate/v1/boolean", "", evaluate, []string{text, origin, cookie}}, 403},
			{raw{"POST", "/evaluate/v1/boolean", "", evaluate, []string{text, origin, fetched, bearer}}, 200},
			{raw{"PUT", "/api/v1/flags/kept", rebound, `{"name":"Kept"}`, []string{origin, fetched, bearer}}, 200},
			{raw{"POST", "/api/v1/flags", rebound, newFlag, []string{"Origin: http://" + rebound}}, 401},
		}},
		"management excluded": {append(tokens, "GUIDON_AUTHENTICATION_EXCLUDE_MANAGEMENT=true"), []string{bearer}, []attack{
			{raw{"POST", imports, "", replace, []string{text, origin, fetched, bearer}}, 403},
			{raw{"POST", imports, rebound, replace, []string{"Origin: http://" + rebound, bearer}}, 403},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := harness.Start(t, "file:"+filepath.Join(t.TempDir(), "guidon.db"), test.settings...)
			s.Must(t, "POST", "/api/v1/flags", map[string]any{"key": "kept", "name": "Kept", "type": "BOOLEAN_FLAG_TYPE"}, nil, test.known...)
			for _, a := range test.attacks {
				if status, body := a.status(t, s.URL); status != a.want {
					t.Errorf("%s %s as %q with %q: %d %s, want %d", a.method, a.path, a.host, a.headers, status, body, a.want)
				}
			}
			if list := s.Must(t, "GET", "/api/v1/flags", nil, nil, test.known...); !strings.Contains(string(list.Body), `"kept"`) || strings.Contains(string(list.Body), `"evil"`) {
				t.Errorf("the flags have changed: %s", list.Body)
			}
			s.Must(t, "GET", "/auth/v1/method", nil, nil)
		})
	}
}

// TestDiagnosticsAddress: if diagnostics have their own listener, the main one does not
// serve the profiler, not even to clients on this machine.
func TestDiagnosticsAddress(t *testing.T) {
	s := harness.Start(t, "file:"+filepath.Join(t.TempDir(), "guidon.db"), "GUIDON_SERVER_DIAGNOSTICS_ADDRESS=127.0.0.1:0",
		"GUIDON_DIAGNOSTICS_PROFILING_ENABLED=true", "GUIDON_METRICS_PUBLIC=false")
	found := regexp.MustCompile(`"M":"serving diagnostics","address":"([^"]+)"`).FindStringSubmatch(s.Log())
	if found == nil {
		t.Fatalf("the log does not name the address:\n%s", s.Log())
	}
	for path, want := range map[string]struct{ main, own int }{
		"/health": {200, 200}, "/metrics": {403, 200}, "/debug/pprof/cmdline": {403, 200}, "/api/v1/flags": {200, 404},
	} {
		for url, status := range map[string]int{s.URL: want.main, found[1]: want.own} {
			if got, body := (raw{method: "GET", path: path}).status(t, url); got != status {
				t.Errorf("%s%s: %d %s, want %d", url, path, got, body, status)
			}
		}
	}
}
