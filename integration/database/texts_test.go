package database

import (
	"net/http"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/integration/harness"
)

// TestNULInPaths: a NUL in a path gets 400 on every database, or 404 from an evaluation, but
// never an internal error.
func TestNULInPaths(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		server := harness.Start(t, s.Migrated(t), "GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED=true")
		for _, o := range handler.Operations() {
			if !o.Enabled() && o.Method() != "CreateToken" {
				continue // of a method that is off
			}
			for _, route := range o.Routes {
				for _, name := range route.Variables() {
					path := strings.Replace(route.Pattern, "{"+name+"}", "a%00b", 1)
					for _, other := range route.Variables() {
						path = strings.Replace(path, "{"+other+"}", "default", 1)
					}
					a, err := server.Call(t.Context(), route.Method, path, nil)
					if err != nil || a.Status != http.StatusBadRequest && (!o.Has(call.ServesStale) || a.Status >= 500) {
						t.Errorf("%s %s: got %d %s, error %v, want 400", route.Method, path, a.Status, a.Body, err)
					}
				}
			}
		}
		if a := server.Must(t, "GET", "/api/v1/namespaces/default/changes", nil, nil); strings.Count(string(a.Body), `"revision"`) != 1 {
			t.Errorf("something has changed: %s", a.Body)
		}
	})
}
