package lambda

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/integration/harness/dbtest"
	"github.com/guidonhq/guidon/runtimes/lambda/lambdatest"
)

// invoke invokes the function and returns its result.
func invoke(t testing.TB, f *lambdatest.Function, event string) lambdatest.Result {
	t.Helper()
	result, err := f.Invoke(t.Context(), []byte(event))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

const migrateEvent = `{"guidon":"migrate"}`

// TestLambdaSchema: with another schema than its own, a function rejects requests with an
// error that names the remedy. After that, the same process serves requests.
func TestLambdaSchema(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		f := harness.Function(t, s.Empty(t))
		api := harness.Behind(t, f, lambdatest.HTTPAPI("prod"))
		for path, body := range map[string]any{
			"/api/v1/namespaces/default/flags": nil,
			"/evaluate/v1/variant":             map[string]any{"flagKey": "a", "entityId": "b"},
			"/ofrep/v1/evaluate/flags/a":       map[string]any{"context": map[string]any{"targetingKey": "b"}},
		} {
			method := http.MethodGet
			if body != nil {
				method = http.MethodPost
			}
			a, err := api.Call(t.Context(), method, path, body)
			if err != nil || a.Status != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" {
				t.Errorf("%s: got %d, error %v, want 503 with Retry-After", path, a.Status, err)
			}
			if text := strings.ReplaceAll(string(a.Body), `\"`, `"`); !strings.Contains(text, "guidon migrate up") || !strings.Contains(text, migrateEvent) {
				t.Errorf("%s: the message does not name the remedy: %s", path, a.Body)
			}
		}
		api.Must(t, "GET", "/health", nil, nil)
		for _, want := range []string{`{"applied":[{"step":9,"name":"additions"},{"step":1,`, `{"applied":[]}`} {
			if result := invoke(t, f, migrateEvent); result.FunctionError != "" || !strings.HasPrefix(string(result.Payload), want) || result.Cold {
				t.Errorf("got %+v with %s, want %s", result, result.Payload, want)
			}
		}
		api.Must(t, "GET", "/api/v1/namespaces/default/flags", nil, nil)
	})
}

// TestLambdaFronts: behind each front the service works, with tokens. A write through one
// function is visible to the next request to another.
func TestLambdaFronts(t *testing.T) {
	const secret = "the-first-token"
	const auth = "Authorization: Bearer " + secret
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		database := s.Empty(t)
		settings := []string{
			"GUIDON_AUTHENTICATION_REQUIRED=true", "GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED=true",
			"GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN=" + secret,
		}
		writer, reader := harness.Function(t, database, settings...), harness.Function(t, database, settings...)
		if result := invoke(t, writer, migrateEvent); result.FunctionError != "" {
			t.Fatalf("migrate: %s", result.Payload)
		}
		for i, front := range lambdatest.Fronts() {
			t.Run(front.Name, func(t *testing.T) {
				namespace := fmt.Sprintf("front-%d", i)
				from, to := harness.Behind(t, writer, front), harness.Behind(t, reader, front)
				if a, err := from.Call(t.Context(), "GET", "/api/v1/namespaces", nil); err != nil || a.Status != http.StatusUnauthorized {
					t.Errorf("without a token: got %d, error %v", a.Status, err)
				}
				from.Must(t, "POST", "/api/v1/namespaces", map[string]any{"key": namespace, "name": "Shop ä <&>"}, nil, auth)
				flags := "/api/v1/namespaces/" + namespace + "/flags"
				from.Must(t, "POST", flags, map[string]any{"key": "new", "name": "New", "type": "BOOLEAN_FLAG_TYPE", "enabled": false}, nil, auth)
				evaluation := map[string]any{"namespaceKey": namespace, "flagKey": "new", "entityId": "user-1"}
				for _, enabled := range []bool{true, false, true} {
					a := from.Must(t, "PUT", flags+"/new", map[string]any{"name": "New", "enabled": enabled}, nil, auth)
					var got struct{ Enabled bool }
					b := to.Must(t, "POST", "/evaluate/v1/boolean", evaluation, &got, auth)
					if got.Enabled != enabled || a.Header.Get("Guidon-Revision") != b.Header.Get("Guidon-Revision") {
						t.Errorf("got %t at revision %s, want %t at %s", got.Enabled, b.Header.Get("Guidon-Revision"), enabled, a.Header.Get("Guidon-Revision"))
					}
				}
				var ofrep struct{ Value bool }
				to.Must(t, "POST", "/ofrep/v1/evaluate/flags/new", map[string]any{"context": map[string]any{"targetingKey": "u"}}, &ofrep, auth, "X-Guidon-Namespace: "+namespace)
				if !ofrep.Value {
					t.Error("OFREP: got false")
				}
				var list struct{ TotalCount int }
				to.Must(t, "GET", flags+"?limit=1&orderBy=", nil, &list, auth, "Accept-Encoding: gzip")
				if list.TotalCount != 1 {
					t.Errorf("got %d flags", list.TotalCount)
				}
				if a, err := to.Call(t.Context(), "GET", flags+"/a%3Fb", nil, auth); err != nil || a.Status != http.StatusNotFound || !strings.Contains(string(a.Body), "a?b") {
					t.Errorf("a flag that does not exist: got %d %s, error %v", a.Status, a.Body, err)
				}
			})
		}
		if result := invoke(t, writer, `{"version":"0","detail-type":"Scheduled Event","source":"aws.events","detail":{}}`); result.FunctionError != "" ||
			string(result.Payload) != `{"tokens":0,"changes":0,"more":false,"skipped":[]}` {
			t.Errorf("cleanup: got %s %s", result.FunctionError, result.Payload)
		}
	})
}

// TestLambdaThaw: connections that were closed while the function was frozen are replaced
// without an error.
func TestLambdaThaw(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		database := s.Migrated(t)
		api := harness.Behind(t, harness.Function(t, database), lambdatest.FunctionURL())
		for i := range 3 {
			flag := map[string]any{"key": fmt.Sprintf("flag-%d", i), "name": "x"}
			api.Must(t, "POST", "/api/v1/namespaces/default/flags", flag, nil)
			cutConnections(t, database)
			api.Must(t, "GET", "/api/v1/namespaces/default/flags", nil, nil)
		}
		var list struct{ TotalCount int }
		if api.Must(t, "GET", "/api/v1/namespaces/default/flags", nil, &list); list.TotalCount != 3 {
			t.Errorf("got %d flags, want 3", list.TotalCount)
		}
	})
}

// TestLambdaCounts: the function writes what it has counted before a request ends, once in a period.
func TestLambdaCounts(t *testing.T) {
	harness.Postgres.Need(t)
	database := harness.Postgres.Migrated(t)
	api := harness.Behind(t, harness.Function(t, database, "GUIDON_ANALYTICS_BUFFER_FLUSH_PERIOD=10s"), lambdatest.FunctionURL())
	api.Must(t, "POST", "/api/v1/namespaces/default/flags", map[string]any{"key": "f", "name": "x", "type": "BOOLEAN_FLAG_TYPE"}, nil)
	db := harness.OpenStore(t, database)
	evaluated := 0
	for deadline := time.Now().Add(harness.Patience); ; time.Sleep(time.Second) { // the period must pass
		api.Must(t, "POST", "/evaluate/v1/boolean", map[string]any{"flagKey": "f", "entityId": "e"}, nil)
		evaluated++
		rows, err := db.Minutes(t.Context(), "default", nil, time.Now().Add(-time.Hour), time.Now().Add(time.Hour), maps.Clone)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) > 0 {
			if got := rows[0].Counts["f"].Sum(); len(rows) != 1 || got != uint64(evaluated) { // #nosec G115 -- small
				t.Errorf("got %d rows, the first with %d evaluations, want one with %d", len(rows), got, evaluated)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("nothing was stored")
		}
	}
}

// TestLambdaTick: the event of each minute delivers what has been changed to webhooks and audit sinks, and answers when
// nothing is left.
func TestLambdaTick(t *testing.T) {
	harness.Postgres.Need(t)
	received := make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		received <- r.URL.Path + " " + string(body)
	}))
	defer receiver.Close()
	f := harness.Function(t, harness.Postgres.Migrated(t), "GUIDON_WEBHOOKS_ALLOW_HTTP=true", "GUIDON_WEBHOOKS_ALLOWED_NETWORKS=127.0.0.0/8",
		"GUIDON_AUDIT_SINKS_WEBHOOK_ENABLED=true", "GUIDON_AUDIT_SINKS_WEBHOOK_URL="+receiver.URL+"/audit", "GUIDON_AUDIT_EVENTS=flag:*")
	tick := func() {
		t.Helper()
		if got := invoke(t, f, `{"guidon":"tick"}`); string(got.Payload) != "{}" {
			t.Fatalf("got %s", got.Payload)
		}
	}
	api := harness.Behind(t, f, lambdatest.FunctionURL())
	api.Must(t, "POST", "/api/v1/webhooks", map[string]any{"namespaceKey": "default", "name": "w", "url": receiver.URL + "/hook"}, nil)
	tick() // the sink begins here
	api.Must(t, "POST", "/api/v1/namespaces/default/flags", map[string]any{"key": "f", "name": "x", "type": "BOOLEAN_FLAG_TYPE"}, nil)
	tick()
	close(received)
	var got []string
	for text := range received {
		path, body, _ := strings.Cut(text, " ")
		var event struct {
			Data struct{ Changes []struct{ Key string } }
		}
		if err := json.Unmarshal([]byte(body), &event); err != nil || len(event.Data.Changes) != 1 {
			t.Fatalf("got %s, %v", text, err)
		}
		got = append(got, path+" "+event.Data.Changes[0].Key)
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"/audit f", "/hook f"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// cutConnections ends all other connections to the database.
func cutConnections(t *testing.T, database string) {
	t.Helper()
	db, err := harness.OpenSQL(database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if strings.HasPrefix(database, "postgres") {
		if _, err := db.ExecContext(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`); err != nil {
			t.Fatal(err)
		}
		return
	}
	rows, err := db.QueryContext(t.Context(), `SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if _, err := db.ExecContext(t.Context(), fmt.Sprintf("KILL %d", id)); err != nil { // #nosec G202 -- a number
			t.Fatal(err)
		}
	}
}

// TestLambdaColdStarts: more functions start concurrently than the database has
// connections. Each responds with success or with 503, and none hangs.
func TestLambdaColdStarts(t *testing.T) {
	harness.Postgres.Need(t)
	if harness.Postgres.Private == nil {
		harness.Skip(t, "needs a private PostgreSQL with few connections")
	}
	own := harness.StartPrivate(t, func() (*dbtest.Server, error) { return dbtest.Postgres(t.Context(), "max_connections=20") })
	if result := invoke(t, harness.Function(t, own.URL), migrateEvent); result.FunctionError != "" {
		t.Fatalf("migrate: %s", result.Payload)
	}
	const starts = 50
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for range starts {
		api := harness.Behind(t, harness.Function(t, own.URL), lambdatest.HTTPAPI("$default"))
		all.Go(func() {
			began := time.Now()
			a, err := api.Call(t.Context(), "GET", "/api/v1/namespaces/default/flags", nil)
			if err != nil || a.Status != http.StatusOK && (a.Status != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "") {
				t.Errorf("got %d %s, error %v", a.Status, a.Body, err)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("took %s", took)
			}
			mu.Lock()
			defer mu.Unlock()
			statuses[a.Status]++
		})
	}
	all.Wait()
	t.Logf("statuses: %v", statuses)
	if statuses[http.StatusOK] == 0 {
		t.Error("no request succeeded")
	}
}

// TestLambdaTimeout: the platform kills a function in the middle of a write. The write is
// stored completely or not at all.
func TestLambdaTimeout(t *testing.T) {
	harness.Postgres.Need(t)
	database := harness.Postgres.Migrated(t)
	f := harness.Function(t, database)
	api := harness.Behind(t, f, lambdatest.RESTAPI())
	namespace := "/api/v1/namespaces/default"
	api.Must(t, "GET", namespace+"/flags", nil, nil)

	// Another transaction locks the namespace until the function has been killed.
	db, err := harness.OpenSQL(database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	holder, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Rollback() }()
	if _, err := holder.ExecContext(t.Context(), "UPDATE namespaces SET revision = revision WHERE namespace_key = 'default'"); err != nil {
		t.Fatal(err)
	}
	f.Timeout = 500 * time.Millisecond
	event, err := lambdatest.RESTAPI().Event(httptest.NewRequest("POST", namespace+"/flags", strings.NewReader(`{"key":"late","name":"Late"}`)))
	if err != nil {
		t.Fatal(err)
	}
	result := invoke(t, f, string(event))
	var a struct{ StatusCode int }
	if err := json.Unmarshal(result.Payload, &a); err != nil || a.StatusCode != http.StatusGatewayTimeout {
		t.Errorf("got %s, want a response before the platform ends the function", result.Payload)
	}
	f.Kill() // as the platform would have
	if err := holder.Rollback(); err != nil {
		t.Fatal(err)
	}
	f.Timeout = harness.Patience
	var list struct{ TotalCount int }
	got := api.Must(t, "GET", namespace+"/flags", nil, &list)
	if list.TotalCount != 0 || got.Header.Get("Guidon-Revision") != "1" {
		t.Errorf("got %d flags at revision %s, want none at 1", list.TotalCount, got.Header.Get("Guidon-Revision"))
	}
}

// TestLambdaRefuses: with a configuration that only a server supports, the function ends
// and logs the reason.
func TestLambdaRefuses(t *testing.T) {
	for setting, want := range map[string]string{
		"GUIDON_DB_URL=file:/tmp/guidon.db":             "must be the URL of a database server",
		"GUIDON_DB_MIGRATE_ON_START=true":               "invoke the function with",
		"GUIDON_DIAGNOSTICS_PROFILING_ENABLED=true":     "is not supported on AWS Lambda",
		"GUIDON_DB_URL=postgres://user:secret@[/guidon": "",
		"GUIDON_CACHE_MOD=strict":                       "did you mean GUIDON_CACHE_MODE?",
	} {
		var log harness.Buffer
		f := harness.Function(t, "postgres://user:secret@db.invalid/guidon", setting)
		f.Log = &log
		result := invoke(t, f, migrateEvent)
		if !strings.Contains(string(result.Payload), "Runtime.ExitError") || !strings.Contains(log.String(), want) || strings.Contains(log.String(), "secret") {
			t.Errorf("%s: got %s and the log %s", setting, result.Payload, log.String())
		}
	}
}

// TestLambdaSize: the program, which is loaded at each cold start, stays small.
func TestLambdaSize(t *testing.T) {
	const bound = 36 << 20
	for _, architecture := range []string{"amd64", "arm64"} {
		t.Run(architecture, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "bootstrap")
			if err := harness.BuildFunction(path, "GOARCH="+architecture); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if info.Size() >= bound {
				t.Errorf("the function is %d bytes, want less than %d", info.Size(), bound)
			}
		})
	}
}

// TestLambdaStart: no package does much before the function handles its first event. Times
// depend on the machine, so this counts what is allocated.
func TestLambdaStart(t *testing.T) {
	const bound = 256 << 10
	var log harness.Buffer
	f := harness.Function(t, "postgres://user@db.invalid/guidon", "GODEBUG=inittrace=1")
	f.Log = &log
	invoke(t, f, migrateEvent)
	packages := regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, \d+ allocs$`).FindAllStringSubmatch(log.String(), -1)
	if len(packages) < 50 {
		t.Errorf("%d packages were initialized: %s", len(packages), log.String())
	}
	for _, p := range packages {
		if bytes, err := strconv.Atoi(p[2]); err != nil || bytes > bound {
			t.Errorf("%s allocates %s bytes when it is initialized, want at most %d", p[1], p[2], bound)
		}
	}
}
