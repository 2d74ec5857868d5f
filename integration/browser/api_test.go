package browser

import (
	"cmp"
	"net/http"
	"strconv"
	"testing"
)

const authorized = "Authorization: Bearer " + adminToken

// get requests a path of the API for an admin, past the browser.
func (s *shop) get(t *testing.T, path string, result any) {
	t.Helper()
	s.Must(t, http.MethodGet, path, nil, result, authorized)
}

// revisionOf returns the revision of a namespace.
func (s *shop) revisionOf(t *testing.T, namespace string) int64 {
	t.Helper()
	a := s.Must(t, http.MethodGet, "/api/v1/namespaces/"+namespace, nil, nil, authorized)
	n, err := strconv.ParseInt(a.Header.Get("Guidon-Revision"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// content returns a flag or segment, such as "flags/dark-mode", as one text.
func (s *shop) content(t *testing.T, namespace, object string) string {
	t.Helper()
	return string(s.Must(t, http.MethodGet, "/api/v1/namespaces/"+namespace+"/"+object+"/content", nil, nil, authorized).Body)
}

// answersOf returns what entities get from a flag by the API, as pages call it.
func (s *shop) answersOf(t *testing.T, namespace, flag string, entities []string, context map[string]string) (all []string) {
	t.Helper()
	var requests []any
	for _, entity := range entities {
		requests = append(requests, map[string]any{"namespaceKey": namespace, "flagKey": flag, "entityId": entity, "context": context})
	}
	var answers struct {
		Responses []struct {
			VariantResponse *struct{ VariantKey string }
			BooleanResponse *struct{ Enabled bool }
		}
	}
	s.Must(t, http.MethodPost, "/evaluate/v1/batch", map[string]any{"requests": requests}, &answers, authorized)
	for _, a := range answers.Responses {
		switch {
		case a.VariantResponse != nil:
			all = append(all, cmp.Or(a.VariantResponse.VariantKey, "Nothing"))
		case a.BooleanResponse.Enabled:
			all = append(all, "On")
		default:
			all = append(all, "Off")
		}
	}
	if len(all) != len(entities) {
		t.Fatalf("got %d answers, want %d", len(all), len(entities))
	}
	return all
}

// answers checks what an entity gets by the API.
func (s *shop) answers(t *testing.T, namespace, flag, entity string, context map[string]string, want string) {
	t.Helper()
	if got := s.answersOf(t, namespace, flag, []string{entity}, context)[0]; got != want {
		t.Errorf("%s gets %s of %s, want %s", entity, got, flag, want)
	}
}
