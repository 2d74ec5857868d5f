package openapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
)

// TestRequired checks that a request fails without a property that is required: the others
// are those of an example that works.
func TestRequired(t *testing.T) {
	s := newShop(t)
	routes := routesOf(false)
	schemas := at(tree(t), "components", "schemas")
	for _, step := range scenario {
		to, message := routes[step.operation], s.fill(step.request)
		for _, name := range requiredOf(to, schemas) {
			var members map[string]any
			if err := json.Unmarshal([]byte(message), &members); err != nil {
				t.Fatal(err)
			}
			delete(members, name)
			without, err := json.Marshal(members)
			if err != nil {
				t.Fatal(err)
			}
			if status, body := s.send(to, string(without)); status < 400 || status >= 500 {
				t.Errorf("%s without %s: status %d: %s", step.operation, name, status, body)
			}
		}
		if status, body := s.send(to, message); status != http.StatusOK {
			t.Fatalf("%s %s: status %d: %s", step.operation, message, status, body)
		} else if step.save != "" {
			s.saved[step.save] = idOf(t, body)
		}
	}
}

// requiredOf returns the required properties of a request.
func requiredOf(to target, schemas any) []string {
	i := slices.IndexFunc(handler.Operations(), func(o *call.Operation) bool { return o.Name == to.name })
	if i < 0 || !to.inBody {
		return nil
	}
	name := string(handler.Operations()[i].NewRequest().ProtoReflect().Descriptor().Name())
	var names []string
	required, _ := at(schemas, name, "required").([]any)
	for _, name := range required {
		names = append(names, name.(string))
	}
	return names
}

// TestOlderPaths checks that the examples work at the older paths too, with the same
// responses.
func TestOlderPaths(t *testing.T) {
	older := newShop(t)
	older.older = true
	got, want := older.play(), examples(t)
	for name, example := range want {
		if diff := cmp.Diff(string(example.Response), string(got[name].Response)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestScenario checks that the scenario has a request for every operation.
func TestScenario(t *testing.T) {
	for _, o := range append(handler.Operations(), handler.OperationsOverHTTP()...) {
		if !slices.ContainsFunc(scenario, func(s sent) bool { return s.operation == o.Name }) {
			t.Errorf("%s has no request in the scenario", o.Name)
		}
	}
}
