package handler_test

import (
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
)

// newUnreadable starts a server over a database in which a newer release has written the flag
// "newer", and the segment "newer", which the flag "user" refers to. The flag "fine" is neither.
func newUnreadable(t *testing.T) *server {
	t.Helper()
	db := newDB(t)
	over := func() *server {
		return newInside(t, "it damages rows of the database", func(c *handler.Config) { c.Service = service.NewService(cache.New(db), time.Now) })
	}
	s := over()
	for _, key := range []string{"newer", "user", "fine"} {
		s.must("", "POST", "/api/v1/flags", `{"key":"`+key+`","name":"`+key+`","type":"BOOLEAN_FLAG_TYPE"}`)
	}
	s.must("", "POST", "/api/v1/segments", `{"key":"newer","name":"Newer"}`)
	s.must("", "POST", "/api/v1/segments", `{"key":"mentioned","name":"Mentioned"}`)
	s.must("", "POST", "/api/v1/namespaces/default/flags/user/rollouts", `{"rank":1,"segment":{"segmentKey":"newer","value":true}}`)
	s.must("", "POST", "/api/v1/namespaces/default/flags/newer/rollouts", `{"rank":1,"segment":{"segmentKey":"mentioned","value":true}}`)
	for _, statement := range []string{
		`UPDATE flags SET body = REPLACE(body, 'BOOLEAN_FLAG_TYPE', 'NEWER_FLAG_TYPE') WHERE flag_key = 'newer'`,
		`UPDATE segments SET body = REPLACE(body, 'ALL_MATCH_TYPE', 'NEWER_MATCH_TYPE') WHERE segment_key = 'newer'`,
	} {
		if _, err := db.SQL().ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return over()
}

// TestUnreadable: only what depends on an unreadable flag or segment fails, in the form in which
// each operation fails for one flag, and nothing replaces it.
func TestUnreadable(t *testing.T) {
	s := newUnreadable(t)
	const flag, segment = `flag \"newer\" needs a newer release of Guidon`, `segment \"newer\" needs a newer release of Guidon`
	const user = `flag \"user\" cannot be evaluated: ` + segment
	for _, test := range []struct {
		method, path, body string
		status             int
		want               []string // in the body; those that begin with ! are not
	}{
		{"POST", "/evaluate/v1/boolean", `{"flagKey":"newer","entityId":"e"}`, 501, []string{`"code":12`, flag}},
		{"POST", "/evaluate/v1/variant", `{"flagKey":"newer","entityId":"e"}`, 501, []string{flag}},
		{"POST", "/evaluate/v1/boolean", `{"flagKey":"user","entityId":"e"}`, 501, []string{user}},
		{"POST", "/evaluate/v1/boolean", `{"flagKey":"fine","entityId":"e"}`, 200, []string{`"enabled":false`}},
		{"POST", "/evaluate/v1/batch", `{"requests":[{"flagKey":"newer","entityId":"e"},{"flagKey":"fine","entityId":"e"},{"flagKey":"user","entityId":"e"},{"flagKey":"none","entityId":"e"}]}`, 200, []string{
			`"errorResponse":{"flagKey":"newer","namespaceKey":"","reason":"UNKNOWN_ERROR_EVALUATION_REASON"}`,
			`"errorResponse":{"flagKey":"user","namespaceKey":"","reason":"UNKNOWN_ERROR_EVALUATION_REASON"}`,
			`"errorResponse":{"flagKey":"none","namespaceKey":"","reason":"NOT_FOUND_ERROR_EVALUATION_REASON"}`, `"flagKey":"fine"`,
		}},
		{"POST", "/api/v1/evaluate", `{"flagKey":"newer","entityId":"e"}`, 501, []string{flag}},
		{"POST", "/ofrep/v1/evaluate/flags/newer", `{"context":{"targetingKey":"e"}}`, 501, []string{`"key":"newer","errorCode":"GENERAL"`, flag}},
		{"POST", "/ofrep/v1/evaluate/flags", `{"context":{"targetingKey":"e"}}`, 200, []string{
			`{"key":"newer","errorCode":"GENERAL","errorDetails":"` + flag, `{"key":"user","errorCode":"GENERAL","errorDetails":"` + user, `{"key":"fine","value":false`,
		}},
		{"GET", "/internal/v1/evaluation/snapshot/namespace/default", "", 200, []string{`"key":"fine"`, `!"key":"newer"`, `!"key":"user"`}},
		{"GET", "/internal/v1/evaluation/snapshot/namespace/default?pretty", "", 200, []string{`"fine"`, `!"newer"`, `!"user"`}},

		{"GET", "/api/v1/flags", "", 200, []string{`"key":"fine"`, `"key":"user"`, `!"key":"newer"`, `"totalCount":2,"unreadableKeys":["newer"]`}},
		{"GET", "/api/v1/segments", "", 200, []string{`"totalCount":1,"unreadableKeys":["newer"]`}},
		{"GET", "/api/v1/flags/newer", "", 501, []string{flag}},
		{"GET", "/api/v1/namespaces/default/flags/newer/rollouts", "", 501, []string{flag}},
		{"GET", "/api/v1/flags/newer/rules", "", 501, []string{flag}},
		{"GET", "/api/v1/segments/newer", "", 501, []string{segment}},
		{"GET", "/api/v1/flags/user", "", 200, []string{`"key":"user"`}},
		{"GET", "/api/v1/namespaces/default/export", "", 501, []string{`flag \"newer\", segment \"newer\"`}},
		{"GET", "/api/v1/namespaces/default/changes", "", 200, []string{`"key":"newer"`}},

		{"PUT", "/api/v1/flags/newer", `{"name":"Changed"}`, 501, []string{flag}},
		{"POST", "/api/v1/flags", `{"key":"newer","name":"Again"}`, 501, []string{flag}},
		{"POST", "/api/v1/flags/newer/variants", `{"key":"v"}`, 501, []string{flag}},
		{"PUT", "/api/v1/segments/newer", `{"name":"Changed"}`, 501, []string{segment}},
		{"POST", "/api/v1/segments/newer/constraints", `{"type":"STRING_COMPARISON_TYPE","property":"p","operator":"eq","value":"v"}`, 501, []string{segment}},
		{"DELETE", "/api/v1/segments/mentioned", "", 400, []string{`segment \"default/mentioned\" is in use`}},
		{"POST", "/api/v1/namespaces/default/import", `{"mode":"UPDATE_IMPORT_MODE","document":{"flags":[{"key":"newer","name":"Imported"}]}}`, 501, []string{flag}},
		{"POST", "/api/v1/namespaces/default/import", `{"mode":"REPLACE_IMPORT_MODE","document":{"flags":[{"key":"fine","name":"Imported"}]}}`, 501, []string{flag}},
		{"POST", "/api/v1/namespaces/default/plan", `{"mode":"UPDATE_PLAN_MODE","document":{"flags":[{"key":"newer","name":"Imported"}]}}`, 501, []string{flag}},
		{"POST", "/api/v1/namespaces/default/plan", `{"mode":"REPLACE_PLAN_MODE","document":{"flags":[{"key":"fine","name":"Imported"}]}}`, 501, []string{"needs a newer release of Guidon"}},
		{"POST", "/api/v1/namespaces/default/plan", `{"mode":"UPDATE_PLAN_MODE","document":{"flags":[{"key":"fine","name":"Imported"}]}}`, 200, []string{`"key":"fine"`}},
		{"POST", "/api/v1/namespaces/default/import", `{"mode":"UPDATE_IMPORT_MODE","document":{"flags":[{"key":"fine","name":"Imported"}]}}`, 200, nil},
		{"PUT", "/api/v1/flags/fine", `{"name":"Changed"}`, 200, nil},
		{"POST", "/api/v1/namespaces", `{"key":"copy","name":"Copy"}`, 200, nil},
		{"POST", "/api/v1/namespaces/copy/plan", `{"mode":"UPDATE_PLAN_MODE","sourceNamespaceKey":"default"}`, 501, []string{`flag \"newer\"`}},
		{"POST", "/api/v1/namespaces/copy/plan", `{"mode":"UPDATE_PLAN_MODE","sourceNamespaceKey":"default","flagKeys":["user"]}`, 501, []string{segment}},
		{"POST", "/api/v1/namespaces/copy/plan", `{"mode":"UPDATE_PLAN_MODE","sourceNamespaceKey":"default","flagKeys":["fine"]}`, 200, []string{`"key":"fine"`}},
		{"GET", "/api/v1/namespaces/default/compare?with=copy&diff=true", "", 200, []string{`"kind":"flag","key":"newer"`, `"kind":"flag","key":"fine"`}},
		{"GET", "/api/v1/namespaces/default/compare?with=default@9&diff=true", "", 200, []string{`"key":"fine"`, `!"key":"newer"`}},

		{"POST", "/evaluate/v1/boolean", `{"flagKey":"newer","entityId":"e"}`, 501, []string{flag}},
		{"DELETE", "/api/v1/flags/newer", "", 200, nil},
		{"GET", "/api/v1/flags", "", 200, []string{`!unreadableKeys`}},
	} {
		r := s.do(test.method, test.path, test.body)
		failed := r.status != test.status
		for _, want := range test.want {
			unwanted, not := strings.CutPrefix(want, "!")
			failed = failed || not == strings.Contains(r.body, unwanted)
		}
		if failed {
			t.Errorf("%s %s %s: got %d %s, want %d with %q", test.method, test.path, test.body, r.status, r.body, test.status, test.want)
		}
	}
}
