package flag_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/guidonhq/guidon/handler/web/webtest"
)

const flags = "/namespaces/default/flags/"

// content returns the flag as the API has it.
func content(t *testing.T, s *webtest.Server, key string) map[string]any {
	t.Helper()
	r := s.Get("/api/v1/namespaces/default/flags/" + key + "/content")
	var c struct{ Flag map[string]any }
	if err := json.Unmarshal([]byte(r.Body), &c); err != nil || r.Status != 200 {
		t.Fatalf("%s: %d %s", key, r.Status, r.Body)
	}
	return c.Flag
}

// body returns a value as JSON.
func body(t *testing.T, value any) string {
	t.Helper()
	b, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// press sends the form of a page with a button, and with changed fields: names and values in
// turn.
func press(t *testing.T, s *webtest.Server, r *webtest.Reply, do string, changed ...string) *webtest.Reply {
	t.Helper()
	action, form := formOf(r)
	for i := 0; i+1 < len(changed); i += 2 {
		form.Set(changed[i], changed[i+1])
	}
	form.Set("do", do)
	return s.Post(action, form)
}

// formOf returns the form of a page.
func formOf(r *webtest.Reply) (string, url.Values) {
	if strings.Contains(r.Body, `id="question"`) {
		return r.Form("question")
	}
	return r.Form("edit")
}

// putFlag stores a flag by the API, as somebody else.
func putFlag(t *testing.T, s *webtest.Server, document string) {
	t.Helper()
	s.Import("default", []byte("namespace:\n  key: default\n  name: Default\n"+document))
}
