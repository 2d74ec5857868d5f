package lambda

import (
	"fmt"
	"net/http"
	"path"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/runtimes/lambda/lambdatest"
)

// TestLambdaDifferences covers the differences between a function and a server that
// docs/operations.md lists.
func TestLambdaDifferences(t *testing.T) {
	harness.Postgres.Need(t)
	database := largeNamespace(t)
	f := harness.Function(t, database)
	const flags = "/api/v1/namespaces/default/flags"
	const none = `"Not Found"`
	sent := map[string]any{"x": strings.Repeat("k", 7<<20)}
	for _, front := range lambdatest.Fronts() {
		t.Run(front.Name, func(t *testing.T) {
			api := harness.Behind(t, f, front)
			api.Must(t, "GET", flags, nil, nil, "Host: flags.example") // not in server.allowed_hosts
			for _, test := range []struct {
				front, name  string // front is a pattern
				method, path string
				body         any
				headers      []string
				status       int
				text         string // contained in the response
			}{
				{"*", "a stream for OFREP", "GET", "/ofrep/v1/events", nil, nil, 404, none},
				{"*", "a stream of changes", "GET", "/api/v1/namespaces/default/changes/stream", nil, nil, 404, none},
				{"*", "metrics", "GET", "/metrics", nil, nil, 404, "There is no such page"},
				{"*", "the profiler", "GET", "/debug/pprof/", nil, nil, 404, "There is no such page"},
				{"*", "a large request", "POST", "/api/v1/namespaces/default/import", sent, nil, 413, `{"message":"Request Too Long"}`},
				{"*", "a large response", "GET", exportPath, nil, []string{"Accept-Encoding: identity"}, 413, `{"code":8,"message":"the response is larger than the 6 MiB`},
				{"*", "a large response that is small when compressed", "GET", exportPath, nil, []string{"Accept-Encoding: gzip"}, 200, "\x1f\x8b"},
				{"HTTP API*", "a path that is not UTF-8", "GET", flags + "/%ff", nil, nil, 404, `"flag \"default/` + "\uFFFD" + `\" not found"`},
				{"*", "a message that is not UTF-8", "POST", flags, map[string]any{"key": "x", "name": "X"}, []string{"Guidon-Message: \xff"}, 400, "invalid field message: "},
				{"REST API", "a malformed query", "GET", flags + "?limit=%zz", nil, nil, 200, `"totalCount":7`},
				{"load balancer", "a parameter twice", "GET", "/api/v1/namespaces?limit=x&limit=1", nil, nil, 200, `"totalCount":1`},
			} {
				if ok, _ := path.Match(test.front, front.Name); !ok {
					continue
				}
				a, err := api.Call(t.Context(), test.method, test.path, test.body, test.headers...)
				if err != nil || a.Status != test.status || !strings.Contains(string(a.Body), test.text) {
					t.Errorf("%s: got %d %.300q, error %v, want %d with %s", test.name, a.Status, a.Body, err, test.status, test.text)
				}
			}
		})
	}
	request, err := http.NewRequestWithContext(t.Context(), "DELETE", harness.Behind(t, f, lambdatest.LoadBalancer(false)).URL+flags+"/flag-0", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header["If-Match"] = []string{"x", "1"}
	answer, err := harness.Client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusPreconditionFailed { // not 400 because of two headers
		t.Errorf("load balancer: a header twice: got %d", answer.StatusCode)
	}
}

// TestLambdaStreaming: a function that streams its responses, behind a front that supports
// that, has no limit of 6 MB.
func TestLambdaStreaming(t *testing.T) {
	harness.Postgres.Need(t)
	f := harness.Function(t, largeNamespace(t), "GUIDON_LAMBDA_STREAMING=true")
	for _, front := range []lambdatest.Front{lambdatest.FunctionURL(), lambdatest.RESTAPI()} {
		a := harness.Behind(t, f, front).Must(t, "GET", exportPath, nil, nil, "Accept-Encoding: identity")
		if len(a.Body) <= lambdatest.MaxPayload {
			t.Errorf("%s: got %d bytes", front.Name, len(a.Body))
		}
	}
}

const exportPath = "/api/v1/namespaces/default/export"

// largeNamespace returns the URL of a database whose default namespace is larger than the
// limit of a function's response.
func largeNamespace(t *testing.T) string {
	t.Helper()
	database := harness.Postgres.Migrated(t)
	s := harness.Start(t, database)
	for i := range 7 {
		flag := map[string]any{"key": fmt.Sprint("flag-", i), "name": "F"}
		variant := map[string]any{"key": "v", "attachment": `"` + strings.Repeat("a", 1_000_000) + `"`}
		s.Must(t, "POST", "/api/v1/namespaces/default/flags", flag, nil)
		s.Must(t, "POST", fmt.Sprintf("/api/v1/namespaces/default/flags/flag-%d/variants", i), variant, nil)
	}
	return database
}
