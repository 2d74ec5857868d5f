package cluster

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/integration/harness/dbtest"
)

const (
	outageToken   = "outage-token-of-the-tests"
	authorization = "Authorization: Bearer " + outageToken
)

// TestEvaluationOutlastsDatabase freezes or kills the database of three instances: one in
// mode strict, one in mode bounded, and one that must not serve stale state. The first two
// continue to evaluate and report the age of the state. None accepts writes, and all
// recover without intervention.
func TestEvaluationOutlastsDatabase(t *testing.T) {
	t.Parallel() // it mostly waits
	for _, s := range harness.PrivateServers {
		for _, outage := range []struct {
			name  string
			begin func(*dbtest.Server)
			end   func(*testing.T, *dbtest.Server)
		}{
			{"frozen", (*dbtest.Server).Freeze, func(_ *testing.T, p *dbtest.Server) { p.Thaw() }},
			{"killed", (*dbtest.Server).Kill, func(t *testing.T, p *dbtest.Server) {
				if err := p.Restart(t.Context()); err != nil {
					t.Fatal(err)
				}
			}},
		} {
			t.Run(s.Name+" "+outage.name, func(t *testing.T) {
				process, database := harness.OwnDatabase(t, s)
				env := []string{
					failingFast, "GUIDON_AUTHENTICATION_REQUIRED=true", "GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED=true",
					"GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN=" + outageToken,
				}
				strict := harness.Start(t, database, env...)
				lasting := cluster{strict, harness.Start(t, database, append(env, bounded(time.Second)...)...)}
				refusing := harness.Start(t, database, append(env, "GUIDON_CACHE_MAX_STALE=0s")...)
				all := append(cluster{refusing}, lasting...)
				created := createBoolean(t, strict, "f")
				for _, s := range all {
					if a := evaluate(t, s, "f"); a.Status != http.StatusOK || a.Header.Get("Guidon-Stale") != "" {
						t.Fatalf("status %d, Guidon-Stale %q: %s", a.Status, a.Header.Get("Guidon-Stale"), a.Body)
					}
					if got := databaseHealth(t, s); got != "SERVING" {
						t.Errorf("the health of the database is %q", got)
					}
				}

				outage.begin(process)
				for i, s := range lasting {
					goesOn(t, s, i, created)
				}
				untilAnswer(t, refusing, "a 503", func(a harness.Answer) bool { return a.Status == http.StatusServiceUnavailable })
				for _, s := range all {
					failsFast(t, s, requestTimeout+harness.Slack, "POST", "/api/v1/namespaces/default/flags", map[string]any{"key": "g", "name": "g"}, authorization)
					failsFast(t, s, requestTimeout+harness.Slack, "GET", "/api/v1/namespaces/default/flags", nil, authorization)
				}

				outage.end(t, process)
				for i, s := range all {
					untilAnswer(t, s, "the end of the outage", func(a harness.Answer) bool {
						if a.Status != http.StatusOK && s != refusing {
							t.Errorf("instance %d: status %d during recovery: %s", i, a.Status, a.Body)
						}
						return a.Status == http.StatusOK && a.Header.Get("Guidon-Stale") == ""
					})
					createBoolean(t, s, fmt.Sprint("after-", i))
					if got := databaseHealth(t, s); got != "SERVING" {
						t.Errorf("the health of the database is %q", got)
					}
				}
			})
		}
	}
}

// goesOn checks that the server evaluates while the database is unavailable.
func goesOn(t *testing.T, s *harness.Server, instance int, revision string) {
	t.Helper()
	begin := time.Now()
	untilAnswer(t, s, "a stale response", func(a harness.Answer) bool {
		if a.Status != http.StatusOK || a.Header.Get("Guidon-Revision") != revision {
			t.Fatalf("instance %d: status %d, revision %s: %s", instance, a.Status, a.Header.Get("Guidon-Revision"), a.Body)
		}
		return a.Header.Get("Guidon-Stale") != ""
	})
	noticed := time.Since(begin)
	var slowest time.Duration
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
		begin := time.Now()
		a := evaluate(t, s, "f")
		slowest = max(slowest, time.Since(begin))
		if a.Status != http.StatusOK || a.Header.Get("Guidon-Stale") == "" {
			t.Fatalf("instance %d: status %d, Guidon-Stale %q: %s", instance, a.Status, a.Header.Get("Guidon-Stale"), a.Body)
		}
	}
	t.Logf("instance %d detected the outage after %v, slowest response then %v", instance, noticed, slowest)
	if slowest > harness.Slack {
		t.Errorf("instance %d: a response took %v", instance, slowest)
	}
	if got := databaseHealth(t, s); got != "NOT_SERVING" {
		t.Errorf("instance %d: the health of the database is %q", instance, got)
	}
	a, err := s.Call(t.Context(), "GET", "/metrics", nil, authorization)
	if err == nil && a.Status == http.StatusOK && !strings.Contains(string(a.Body), "guidon_cache_stale_answers_total") {
		t.Errorf("instance %d: the metrics lack guidon_cache_stale_answers_total", instance)
	}
	if a := evaluate(t, s, "f", "Guidon-Min-Revision: 1000"); a.Status != http.StatusServiceUnavailable {
		t.Errorf("instance %d: a later revision: status %d", instance, a.Status)
	}
	if a := evaluate(t, s, "f", "Authorization: Bearer nobody"); a.Status != http.StatusUnauthorized {
		t.Errorf("instance %d: an unknown token: status %d", instance, a.Status)
	}
}

// untilAnswer evaluates the flag until wanted returns true for the response.
func untilAnswer(t *testing.T, s *harness.Server, what string, wanted func(harness.Answer) bool) {
	t.Helper()
	for end := time.Now().Add(harness.Patience); !wanted(evaluate(t, s, "f")); {
		if time.Now().After(end) {
			t.Fatalf("%s did not occur", what)
		}
	}
}

func evaluate(t *testing.T, s *harness.Server, flag string, headers ...string) harness.Answer {
	t.Helper()
	body := map[string]string{"flagKey": flag, "entityId": "e"}
	a, err := s.Call(t.Context(), "POST", "/evaluate/v1/boolean", body, append([]string{authorization}, headers...)...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// createBoolean creates a flag and returns the resulting revision.
func createBoolean(t *testing.T, s *harness.Server, key string) string {
	t.Helper()
	body := map[string]any{"key": key, "name": key, "type": "BOOLEAN_FLAG_TYPE", "enabled": true}
	return s.Must(t, "POST", "/api/v1/namespaces/default/flags", body, nil, authorization).Header.Get("Guidon-Revision")
}

// databaseHealth returns the status of the database in the full health check.
func databaseHealth(t *testing.T, s *harness.Server) string {
	t.Helper()
	var health struct{ Database struct{ Status string } }
	a := s.Must(t, "GET", "/health?full", nil, nil)
	if err := json.Unmarshal(a.Body, &health); err != nil {
		t.Fatal(err)
	}
	return health.Database.Status
}
