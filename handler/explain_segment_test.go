package handler_test

import (
	"regexp"
	"strings"
	"testing"
)

// constraintID is the id of a constraint in JSON.
var constraintID = regexp.MustCompile(`"id":"[^"]+"`)

// TestExplainSegment: a segment, or what saving an edited one would make of it, is compared
// with an entity, constraint by constraint.
func TestExplainSegment(t *testing.T) {
	s := newServer(t)
	s.must("", "POST", "/api/v1/namespaces/default/import", `{"document":{"segments":[
		{"key":"risky","name":"Risky","matchType":"ANY_MATCH_TYPE","constraints":[
			{"type":"NUMBER_COMPARISON_TYPE","property":"score","operator":"gt","value":"0.87"},
			{"type":"ENTITY_ID_COMPARISON_TYPE","property":"entityId","operator":"eq","value":"u-1"}]},
		{"key":"all","name":"All"}]}}`)
	const path = "/api/v1/namespaces/default/segments/"
	constraint := func(kind, property, operator, expected, actual string, present, matched bool, problem string) string {
		text := map[bool]string{true: "true", false: "false"}
		return `{"id":"ID","type":"` + kind + `","property":"` + property + `","operator":"` + operator + `","expected":"` + expected +
			`","actual":"` + actual + `","present":` + text[present] + `,"matched":` + text[matched] + `,"problem":"` + problem + `"}`
	}
	answer := func(entity, key, matched, match string, constraints ...string) string {
		return `{"namespaceKey":"default","entityId":"` + entity + `","segment":{"key":"` + key + `","exists":true,"matched":` + matched +
			`,"matchType":"` + match + `","constraints":[` + strings.Join(constraints, ",") + `],"constraintsOmitted":false}}`
	}
	const number, entity = "NUMBER_COMPARISON_TYPE", "ENTITY_ID_COMPARISON_TYPE"
	for _, test := range []struct{ key, body, want string }{
		{"risky", `{"entityId":"u-2","context":{"score":0.91}}`, answer("u-2", "risky", "true", "ANY_MATCH_TYPE",
			constraint(number, "score", "gt", "0.87", "0.91", true, true, ""), constraint(entity, "entityId", "eq", "u-1", "u-2", true, false, ""))},
		{"risky", `{"entityId":"u-1"}`, answer("u-1", "risky", "true", "ANY_MATCH_TYPE",
			constraint(number, "score", "gt", "0.87", "", false, false, "there is no value"), constraint(entity, "entityId", "eq", "u-1", "u-1", true, true, ""))},
		{"risky", `{"entityId":"u-2","context":{"score":"high"},"segment":{"name":"R","constraints":[{"type":2,"property":"score","operator":"GT","value":"1"}]}}`,
			answer("u-2", "risky", "false", "ALL_MATCH_TYPE", constraint(number, "score", "gt", "1", "high", true, false, "the value is not a number"))},
		{"risky", `{"entityId":"u-2","context":{"app":"beta"},"segment":{"name":"R","constraints":[{"type":1000,"property":"app","operator":"lt","value":"2","negate":true}]}}`,
			answer("u-2", "risky", "true", "ALL_MATCH_TYPE",
				strings.TrimSuffix(constraint("VERSION_COMPARISON_TYPE", "app", "lt", "2", "beta", true, true, "the value is not a version"), "}")+`,"negate":true}`)},
		{"new", `{"entityId":"u-2","segment":{"name":"N"}}`, answer("u-2", "new", "true", "ALL_MATCH_TYPE")},
		{"all", `{}`, answer("", "all", "true", "ALL_MATCH_TYPE")},
	} {
		r := s.do("POST", path+test.key+"/explain", test.body)
		r.body = constraintID.ReplaceAllString(r.body, `"id":"ID"`)
		r.check(t, 200, test.want)
	}
	for _, test := range []struct {
		key, body    string
		status, code int
		want         string
	}{
		{"none", `{}`, 404, 5, `segment "default/none" not found`},
		{"risky", `{"segment":{"key":"other","name":"O"}}`, 400, 3, `invalid field key: the edited object has the key "other" instead of "risky"`},
		{"risky", `{"segment":{"name":"R","constraints":[{"type":2,"property":"p","operator":"prefix","value":"x"}]}}`, 400, 3,
			`segment: constraints[0]: constraint operator "prefix" is not valid for type number; it must be one of eq, neq, lt, lte, gt, gte, isoneof, isnotoneof, present, notpresent`},
		{"risky", `{"context":` + properties(1001) + `}`, 400, 3, "invalid field context: must not have more than 1000 properties"},
	} {
		s.do("POST", path+test.key+"/explain", test.body).fails(t, test.status, test.code, test.want)
	}
	past := s.must("", "POST", "/api/v1/namespaces/default@2/segments/risky/explain", `{"entityId":"u-1"}`)
	if !strings.Contains(past.body, `"matched":true`) {
		t.Errorf("an earlier state: got %s", past.body)
	}
}
