package handler_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/cache"
)

// database is a database with other writers, which counts queries and can become
// unavailable.
type database struct {
	*store.DB
	down    atomic.Bool
	queries atomic.Int64
}

var errDatabaseDown = guidon.Errorf(guidon.Unavailable, "the database cannot be reached")

func (d *database) Heads(ctx context.Context, keys []string) (map[string]guidon.Revision, error) {
	d.queries.Add(1)
	if d.down.Load() {
		return nil, errDatabaseDown
	}
	return d.DB.Heads(ctx, keys)
}

func (d *database) Update(ctx context.Context, namespace string, w service.Write, fn func(ctx context.Context, tx service.Tx) error) (int64, error) {
	if d.down.Load() {
		return 0, errDatabaseDown
	}
	return d.DB.Update(ctx, namespace, w, fn)
}

// newShared starts a server with a cache of the given freshness. It returns the server,
// its database, and a service that writes to the database without the cache.
func newShared(t *testing.T, freshness cache.Freshness, options ...func(*handler.Config)) (*server, *database, *service.Service) {
	t.Helper()
	db := newDB(t)
	d := &database{DB: db}
	shared := cache.NewShared(d, freshness)
	options = append(options, func(c *handler.Config) {
		c.Service, c.Outage = service.NewService(shared, time.Now), shared.Outage
	})
	return newServer(t, options...), d, service.NewService(db, time.Now)
}

// createFlag creates a flag through the other service.
func createFlag(t *testing.T, other *service.Service, key string) {
	t.Helper()
	_, _, err := other.CreateFlag(t.Context(), service.Write{}, "default", guidon.Flag{Key: key, Name: key, Type: guidon.BooleanFlag, Enabled: true})
	if err != nil {
		t.Fatal(err)
	}
}

const (
	evaluatePath = "/evaluate/v1/boolean"
	evaluateF    = `{"flagKey":"f","entityId":"e"}`
)

// TestFreshnessHeaders: a request can require fresher state than the mode of the cache
// guarantees.
func TestFreshnessHeaders(t *testing.T) {
	s := newSharing(t, cache.Freshness{MaxAge: time.Hour})
	revision := 1
	read := func(path string, headers ...string) reply {
		method, body := "GET", ""
		if path == evaluatePath {
			method, body = "POST", evaluateF
		}
		return s.do(method, path, body, headers...)
	}
	write := func() {
		revision++
		createFlag(t, s.service, fmt.Sprint("f", strings.Repeat("x", revision-2)))
	}
	write()
	for _, path := range []string{evaluatePath, "/api/v1/namespaces/default/flags/f", "/api/v1/namespaces/default/export"} {
		for _, test := range []struct {
			name    string
			headers []string
			fresh   bool
		}{
			{"nothing", nil, false},
			{"no-cache", []string{"Cache-Control", "no-cache"}, true},
			{"no-cache among others", []string{"Cache-Control", `max-age=0, No-Cache="Set-Cookie"`}, true},
			{"no-cache in a second line", []string{"Cache-Control", "no-transform", "Cache-Control", "no-cache"}, true},
			{"no-store, which is ignored", []string{"Cache-Control", "no-store"}, false},
			{"a directive with the same prefix", []string{"Cache-Control", "no-cached"}, false},
			{"another writer's revision", []string{"Guidon-Min-Revision", "+1"}, true},
			{"a cached revision", []string{"Guidon-Min-Revision", "1"}, false},
			{"blanks", []string{"Guidon-Min-Revision", " 1 "}, false},
		} {
			cached := read(path, "Cache-Control", "no-cache").header.Get("Guidon-Revision")
			write()
			for i, value := range test.headers {
				if value == "+1" {
					test.headers[i] = fmt.Sprint(revision)
				}
			}
			want := cached
			if test.fresh {
				want = fmt.Sprint(revision)
			}
			r := read(path, test.headers...)
			if got := r.header.Get("Guidon-Revision"); r.status != http.StatusOK || got != want {
				t.Errorf("%s with %s: %d, revision %s of %d, want %s: %s", path, test.name, r.status, got, revision, want, r.body)
			}
		}
	}
}

// TestMinRevisionRejected: malformed values and revisions that do not exist.
func TestMinRevisionRejected(t *testing.T) {
	s := newSharing(t, cache.Freshness{})
	createFlag(t, s.service, "f")
	for _, value := range []string{"x", "-1", "+1", "1.0", `"1"`, "1,2", "9223372036854775808", "0x1"} {
		r := s.do("POST", evaluatePath, evaluateF, "Guidon-Min-Revision", value)
		if r.status != http.StatusBadRequest || !strings.Contains(r.body, "Guidon-Min-Revision") {
			t.Errorf("%q: %d %s, want 400 that names the header", value, r.status, r.body)
		}
	}
	begin := time.Now()
	r := s.do("POST", evaluatePath, evaluateF, "Guidon-Min-Revision", "3")
	if r.status != http.StatusServiceUnavailable || r.header.Get("Retry-After") == "" || r.header.Get("Guidon-Revision") != "2" ||
		!strings.Contains(r.body, "revision 2") || !strings.Contains(r.body, "revision 3") {
		t.Errorf("%d, Retry-After %q, revision %q: %s", r.status, r.header.Get("Retry-After"), r.header.Get("Guidon-Revision"), r.body)
	}
	if took := time.Since(begin); took > service.MaxRevisionWait+5*time.Second {
		t.Errorf("took %v", took)
	}
	// A namespace that does not exist has no revision to wait for.
	r = s.do("GET", "/api/v1/namespaces/nope/flags/f", "", "Guidon-Min-Revision", "3")
	if r.status != http.StatusNotFound {
		t.Errorf("%d %s, want 404", r.status, r.body)
	}
	two := `{"requests":[{"flagKey":"f"},{"namespaceKey":"x","flagKey":"f"}]}`
	if r := s.do("POST", "/evaluate/v1/batch", two, "Guidon-Min-Revision", "2"); r.status != http.StatusBadRequest {
		t.Errorf("a batch of two namespaces: %d %s, want 400", r.status, r.body)
	}
}

// TestOneQueryPerRequest: in strict mode, a request needs a single query for the
// revisions of both the tokens and the namespace.
func TestOneQueryPerRequest(t *testing.T) {
	s, d, other := newShared(t, cache.Freshness{}, required)
	createFlag(t, other, "f")
	token, created, err := other.CreateToken(t.Context(), service.Write{}, service.TokenInput{Name: "t"})
	if err != nil {
		t.Fatal(err)
	}
	authorization := []string{"Authorization", "Bearer " + token}
	for _, call := range []struct{ method, path, body string }{
		{"POST", evaluatePath, evaluateF},
		{"POST", "/evaluate/v1/batch", `{"requests":[{"flagKey":"f"},{"flagKey":"g"}]}`},
		{"POST", "/api/v1/evaluate", `{"flagKey":"f","entityId":"e"}`},
		{"GET", "/api/v1/namespaces/default/flags/f", ""},
		{"GET", "/api/v1/namespaces/default", ""},
		{"GET", "/internal/v1/evaluation/snapshot/namespace/default", ""},
	} {
		for range 2 {
			before := d.queries.Load()
			if r := s.do(call.method, call.path, call.body, authorization...); r.status == http.StatusUnauthorized {
				t.Fatalf("%s: %d %s", call.path, r.status, r.body)
			}
			if got := d.queries.Load() - before; got != 1 {
				t.Errorf("%s: %d queries, want 1", call.path, got)
			}
		}
	}
	if err := other.DeleteAuthentication(t.Context(), service.Write{}, created.ID); err != nil {
		t.Fatal(err)
	}
	if r := s.do("POST", evaluatePath, evaluateF, authorization...); r.status != http.StatusUnauthorized {
		t.Errorf("the next request after its token was deleted: %d, want 401", r.status)
	}
}

// TestDatabaseUnavailable: evaluations are served from memory and marked as stale. All
// other requests fail.
func TestDatabaseUnavailable(t *testing.T) {
	s, d, other := newShared(t, cache.Freshness{MaxStale: time.Hour}, required)
	createFlag(t, other, "f")
	token, _, err := other.CreateToken(t.Context(), service.Write{}, service.TokenInput{Name: "t"})
	if err != nil {
		t.Fatal(err)
	}
	authorization := []string{"Authorization", "Bearer " + token}
	evaluations := map[string]string{
		evaluatePath:         evaluateF,
		"/evaluate/v1/batch": `{"requests":[{"flagKey":"f"}]}`,
	}
	full := func() string { return s.do("GET", "/health?full", "").body }
	for path, body := range evaluations {
		if r := s.must("", "POST", path, body, authorization...); r.header.Get("Guidon-Stale") != "" {
			t.Errorf("%s: the response is marked as stale", path)
		}
	}
	if got, want := full(), `{"status":"SERVING","database":{"status":"SERVING"}}`; got != want {
		t.Errorf("health: got %s, want %s", got, want)
	}
	d.down.Store(true)
	for path, body := range evaluations {
		r := s.must("", "POST", path, body, authorization...)
		if r.header.Get("Guidon-Stale") == "" || r.header.Get("Guidon-Revision") != "2" {
			t.Errorf("%s: Guidon-Stale %q, revision %s", path, r.header.Get("Guidon-Stale"), r.header.Get("Guidon-Revision"))
		}
	}
	for _, call := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
	}{
		{"a cached revision", "POST", evaluatePath, evaluateF, []string{"Guidon-Min-Revision", "2"}, 200},
		{"a revision that is not cached", "POST", evaluatePath, evaluateF, []string{"Guidon-Min-Revision", "3"}, 503},
		{"no-cache", "POST", evaluatePath, evaluateF, []string{"Cache-Control", "no-cache"}, 503},
		{"a management read", "GET", "/api/v1/namespaces/default/flags/f", "", nil, 503},
		{"a write", "DELETE", "/api/v1/namespaces/default/flags/f", "", nil, 503},
		{"the tokens", "GET", "/auth/v1/tokens", "", nil, 503},
		{"an unknown token", "POST", evaluatePath, evaluateF, []string{"Authorization", "Bearer nobody"}, 401},
		{"health", "GET", "/health", "", nil, 200},
	} {
		headers := call.headers
		if len(headers) == 0 || headers[0] != "Authorization" {
			headers = append(headers, authorization...)
		}
		if r := s.do(call.method, call.path, call.body, headers...); r.status != call.status || r.status == 503 && r.header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s, want %d", call.name, r.status, r.body, call.status)
		}
	}
	if got, want := full(), `{"status":"SERVING","database":{"status":"NOT_SERVING","staleSeconds":`; !strings.HasPrefix(got, want) {
		t.Errorf("health: got %s, want %s…", got, want)
	}
	d.down.Store(false)
	for end := time.Now().Add(30 * time.Second); ; { // the pause after a failure
		r := s.must("", "POST", evaluatePath, evaluateF, authorization...)
		if r.header.Get("Guidon-Stale") == "" {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the end of the outage was not detected")
		}
	}
	s.must("", "DELETE", "/api/v1/namespaces/default/flags/f", "", authorization...)
}
