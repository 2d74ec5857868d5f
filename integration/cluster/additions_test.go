package cluster

import (
	"net/http"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
)

// TestAdditions: instances on a database that an earlier release has created refuse additions,
// however they are written, and accept them without a restart once the command has run.
func TestAdditions(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		database := s.Migrated(t)
		harness.Execute(t, harness.OpenStore(t, database).SQL(), "DELETE FROM schema_steps WHERE version_id = 9")
		const ns = "/api/v1/namespaces/default"
		constraint := object{"type": "STRING_COMPARISON_TYPE", "property": "p", "operator": "eq", "value": "v", "negate": true}
		content := object{"name": "S", "constraints": []any{constraint}}
		document := object{"segments": []any{object{"key": "imported", "name": "S", "constraints": []any{constraint}}}}
		writes := []struct {
			method, path string
			body         object
		}{
			{"POST", "/segments/s/constraints", constraint},
			{"PUT", "/segments/put/content", object{"segment": content}},
			{"POST", "/patch", object{"segments": []any{object{"put": object{"key": "patched", "name": "S", "constraints": []any{constraint}}}}}},
			{"POST", "/import", object{"document": document}},
			{"POST", "/flags/f/rules", object{"rank": 1, "everyone": true}},
			{"PUT", "/flags/put/content", object{"flag": object{"name": "F", "rules": []any{object{"segmentKeys": []any{"s"}, "portion": object{"percentage": 10}}}}}},
		}
		instances := []*harness.Server{harness.Start(t, database), harness.Start(t, database)}
		instances[0].Must(t, "POST", ns+"/segments", object{"key": "s", "name": "S", "matchType": "ALL_MATCH_TYPE"}, nil)
		instances[0].Must(t, "POST", ns+"/flags", object{"key": "f", "name": "F"}, nil)
		for i, instance := range instances {
			for _, w := range writes {
				a, err := instance.Call(t.Context(), w.method, ns+w.path, w.body)
				if err != nil || a.Status != http.StatusPreconditionFailed || !strings.Contains(string(a.Body), "run guidon migrate additions") {
					t.Errorf("instance %d, %s: got %d %s, %v", i, w.path, a.Status, a.Body, err)
				}
			}
		}
		harness.Ends(t, harness.Command(t, database, "migrate", "additions"), true, "applied 9 additions")
		for i, w := range writes {
			instances[i%2].Must(t, w.method, ns+w.path, w.body, nil)
		}
		harness.Start(t, database)
	})
}
