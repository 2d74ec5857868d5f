package handler_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// newExplained has a variant flag with two rules, and a boolean flag with two rollouts.
func newExplained(t *testing.T) *server {
	s := newServer(t)
	s.must("", "POST", "/api/v1/namespaces/default/import", `{"document":{
		"flags":[
			{"key":"checkout","name":"Checkout","enabled":true,
				"variants":[{"key":"classic","default":true},{"key":"one-page","attachment":"{\"a\":1}"},{"key":"unused"}],
				"rules":[
					{"segmentKeys":["staff"],"distributions":[{"variant":"one-page","rollout":100}]},
					{"segmentKeys":["big"],"distributions":[{"variant":"classic","rollout":50},{"variant":"one-page","rollout":50}]}]},
			{"key":"banner","name":"Banner","type":"BOOLEAN_FLAG_TYPE",
				"rollouts":[{"description":"pro","segment":{"segmentKeys":["big"],"value":true}},{"threshold":{"percentage":1,"value":true}}]}],
		"segments":[
			{"key":"staff","name":"Staff","matchType":"ANY_MATCH_TYPE","constraints":[
				{"type":"STRING_COMPARISON_TYPE","property":"email","operator":"suffix","value":"@guidon.example"}]},
			{"key":"big","name":"Big","constraints":[
				{"type":"STRING_COMPARISON_TYPE","property":"plan","operator":"eq","value":"pro"},
				{"type":"NUMBER_COMPARISON_TYPE","property":"seats","operator":"gte","value":"100"}]}]}}`)
	return s
}

// TestExplain compares whole responses.
func TestExplain(t *testing.T) {
	s := newExplained(t)
	const path = "/api/v1/namespaces/default/flags/"
	const staff = `{"key":"staff","exists":true,"matched":false,"matchType":"ANY_MATCH_TYPE","constraints":[` +
		`{"id":"ID","type":"STRING_COMPARISON_TYPE","property":"email","operator":"suffix","expected":"@guidon.example","actual":"","present":false,"matched":false,"problem":"there is no value"}],"constraintsOmitted":false}`
	big := func(matched, planMatches bool, plan string, seatsMatch bool, seats, problem string) string {
		return fmt.Sprintf(`{"key":"big","exists":true,"matched":%t,"matchType":"ALL_MATCH_TYPE","constraints":[`+
			`{"id":"ID","type":"STRING_COMPARISON_TYPE","property":"plan","operator":"eq","expected":"pro","actual":%q,"present":true,"matched":%t,"problem":""},`+
			`{"id":"ID","type":"NUMBER_COMPARISON_TYPE","property":"seats","operator":"gte","expected":"100","actual":%q,"present":true,"matched":%t,"problem":%q}],"constraintsOmitted":false}`,
			matched, plan, planMatches, seats, seatsMatch, problem)
	}
	for _, test := range []struct{ name, flag, body, want string }{
		{
			"a variant flag without a match", "checkout",
			`{"entityId":"user-1","requestId":"r","context":{"plan":"free","seats":120}}`,
			`{"namespaceKey":"default","flagKey":"checkout","flagType":"VARIANT_FLAG_TYPE","enabled":true,"entityId":"user-1",` +
				`"result":{"type":"VARIANT_EVALUATION_RESPONSE_TYPE","variantResponse":{"match":false,"segmentKeys":[],"reason":"DEFAULT_EVALUATION_REASON","variantKey":"classic","variantAttachment":"","requestId":"r","requestDurationMillis":MS,"timestamp":"TIME","flagKey":"checkout"}},` +
				`"decidedBy":0,"steps":[` +
				`{"number":1,"id":"ID","rank":1,"description":"","outcome":"not_matched","text":"did not match","segmentOperator":"OR_SEGMENT_OPERATOR","segments":[` + staff + `],"value":false},` +
				`{"number":2,"id":"ID","rank":2,"description":"","outcome":"not_matched","text":"did not match","segmentOperator":"OR_SEGMENT_OPERATOR","segments":[` + big(false, false, "free", true, "120", "") + `],"value":false}],` +
				`"others":[` +
				`{"match":true,"variantKey":"classic","enabled":false,"verdict":"reachable","text":"if plan were \"pro\"; then rule 2 decides","step":2,` +
				`"changes":[{"property":"plan","actual":"free","example":"pro","outcomes":[{"segmentKey":"big","constraintId":"ID","operator":"eq","expected":"pro","match":true}]}],"smallest":true,"obstacles":[]},` +
				`{"match":true,"variantKey":"one-page","enabled":false,"verdict":"reachable","text":"if email ended with @guidon.example, such as \"y@guidon.example\"; then rule 1 decides","step":1,` +
				`"changes":[{"property":"email","actual":"","example":"y@guidon.example","outcomes":[{"segmentKey":"staff","constraintId":"ID","operator":"suffix","expected":"@guidon.example","match":true}]}],"smallest":true,"obstacles":[]},` +
				`{"match":true,"variantKey":"unused","enabled":false,"verdict":"impossible","text":"no rule gives it","step":0,"changes":[],"smallest":false,` +
				`"obstacles":[{"step":0,"reason":"no_rule","by":0,"segmentKey":"","property":"","text":"no rule gives it"}]}],"limited":false}`,
		},
		{
			"a boolean flag whose value does not parse", "banner",
			`{"entityId":"user-1","context":{"plan":"pro","seats":[1]}}`,
			`{"namespaceKey":"default","flagKey":"banner","flagType":"BOOLEAN_FLAG_TYPE","enabled":false,"entityId":"user-1",` +
				`"result":{"type":"BOOLEAN_EVALUATION_RESPONSE_TYPE","booleanResponse":{"enabled":false,"reason":"DEFAULT_EVALUATION_REASON","requestId":"","requestDurationMillis":MS,"timestamp":"TIME","flagKey":"banner","segmentKeys":[]}},` +
				`"decidedBy":0,"steps":[` +
				`{"number":1,"id":"ID","rank":1,"description":"pro","outcome":"not_matched","text":"did not match","segmentOperator":"OR_SEGMENT_OPERATOR","segments":[` + big(false, true, "pro", false, "[1]", "the value is not a number") + `],"value":true},` +
				`{"number":2,"id":"ID","rank":2,"description":"","outcome":"not_matched","text":"did not match: bucket 39 is not below 1","segmentOperator":"OR_SEGMENT_OPERATOR","segments":[],` +
				`"bucket":{"number":39,"of":100,"ranges":[{"from":0,"to":1,"percentage":1,"variantKey":""}],"chosen":0},"value":true}],` +
				`"others":[{"match":false,"variantKey":"","enabled":true,"verdict":"reachable","text":"if seats were at least 100, such as \"100\"; then rule 1 decides","step":1,` +
				`"changes":[{"property":"seats","actual":"[1]","example":"100","outcomes":[{"segmentKey":"big","constraintId":"ID","operator":"gte","expected":"100","match":true}]}],"smallest":true,"obstacles":[]}],"limited":false}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := *s
			s.t = t
			s.do("POST", path+test.flag+"/explain", test.body).check(t, 200, test.want)
		})
	}
	const without = `{"key":"apps","name":"Apps","matchType":"ANY_MATCH_TYPE","constraints":[` +
		`{"type":"VERSION_COMPARISON_TYPE","property":"app","operator":"gte","value":"2","negate":true}]}`
	s.must("", "POST", "/api/v1/namespaces/default/import", `{"document":{"flags":[{"key":"old","name":"Old","type":"BOOLEAN_FLAG_TYPE",`+
		`"rollouts":[{"segment":{"segmentKeys":["apps"],"value":true}}]}],"segments":[`+without+`]}}`)
	for _, test := range []struct{ app, want string }{
		{"2.1", `"text":"if app were not at least 2, such as \"0.0.0\"; then rule 1 decides"`},
		{"1.9", `"text":"if app were at least 2, such as \"2\"; then no rule matches"`},
	} {
		r := s.do("POST", path+"old/explain", `{"context":{"app":"`+test.app+`"}}`)
		if !strings.Contains(r.body, test.want) {
			t.Errorf("a negated constraint, with %s: got %s, want %s", test.app, r.body, test.want)
		}
	}
	s.do("POST", path+"nope/explain", `{}`).fails(t, 404, 5, `flag "default/nope" not found`)
	s.do("POST", "/api/v1/namespaces/nope/flags/checkout/explain", `{}`).fails(t, 404, 5, `flag "nope/checkout" not found`)
	s.do("POST", path+"checkout/explain", `{"context":[]}`).fails(t, 400, 3, "invalid values for key(s) in json body")
	s.do("POST", path+"checkout/explain", `{"context":`+properties(1001)+`}`).fails(t, 400, 3, "invalid field context: must not have more than 1000 properties")
	if r := s.do("POST", path+"checkout/explain", `{"context":`+properties(1000)+`}`); r.status != 200 {
		t.Errorf("a context of 1000 properties: %d %s", r.status, r.body)
	}
}

// properties returns a context of n properties.
func properties(n int) string {
	members := make([]string, n)
	for i := range members {
		members[i] = fmt.Sprintf(`"p%d":%d`, i, i)
	}
	return "{" + strings.Join(members, ",") + "}"
}

// TestExplainContext checks that values of any kind become the same strings as in OFREP.
func TestExplainContext(t *testing.T) {
	s := newExplained(t)
	s.must("", "POST", "/api/v1/namespaces/default/import", `{"mode":"UPDATE_IMPORT_MODE","document":{"segments":[{"key":"big","name":"Big","constraints":[
		{"type":"STRING_COMPARISON_TYPE","property":"plan","operator":"eq","value":"x"}]}]}}`)
	for _, test := range []struct{ value, want string }{
		{`"text"`, "text"},
		{`true`, "true"},
		{`1.50`, "1.5"},
		{`12345678901234567890`, "12345678901234567890"},
		{`{"b":[1,null],"a":"x"}`, `{"a":"x","b":[1,null]}`},
		{`null`, ""},
	} {
		r := s.must("", "POST", "/api/v1/namespaces/default/flags/banner/explain", `{"context":{"plan":`+test.value+`}}`)
		var got struct {
			Steps []struct {
				Segments []struct {
					Constraints []struct {
						Actual  string
						Present bool
					}
				}
			}
		}
		if err := json.Unmarshal([]byte(r.body), &got); err != nil {
			t.Fatal(err)
		}
		c := got.Steps[0].Segments[0].Constraints[0]
		if c.Actual != test.want || c.Present != (test.value != "null") {
			t.Errorf("%s: got %q (present %t), want %q", test.value, c.Actual, c.Present, test.want)
		}
	}
}

// TestExplainBatch compares whole responses for several entities.
func TestExplainBatch(t *testing.T) {
	s := newExplained(t)
	const path = "/api/v1/namespaces/default/flags/"
	s.do("POST", path+"checkout/explain/batch", `{"entities":[
		{"entityId":"a","context":{"email":"a@guidon.example"}},
		{"entityId":"b","context":{"seats":12345678901234567890}},
		{"entityId":"c","context":{"email":"c@guidon.example"}}]}`).check(t, 200,
		`{"namespaceKey":"default","flagKey":"checkout","flagType":"VARIANT_FLAG_TYPE","enabled":true,"counts":[`+
			`{"match":true,"variantKey":"one-page","variantAttachment":"{\"a\":1}","enabled":false,"count":2},`+
			`{"match":false,"variantKey":"classic","variantAttachment":"","enabled":false,"count":1}],"results":[`+
			`{"entityId":"a","match":true,"variantKey":"one-page","enabled":false,"reason":"MATCH_EVALUATION_REASON","segmentKeys":["staff"],"decidedBy":1,"stepId":"ID"},`+
			`{"entityId":"b","match":false,"variantKey":"classic","enabled":false,"reason":"DEFAULT_EVALUATION_REASON","segmentKeys":[],"decidedBy":0,"stepId":""},`+
			`{"entityId":"c","match":true,"variantKey":"one-page","enabled":false,"reason":"MATCH_EVALUATION_REASON","segmentKeys":["staff"],"decidedBy":1,"stepId":"ID"}]}`)
	s.do("POST", path+"banner/explain/batch", `{"entities":[{"context":{"plan":"pro","seats":100}}]}`).check(t, 200,
		`{"namespaceKey":"default","flagKey":"banner","flagType":"BOOLEAN_FLAG_TYPE","enabled":false,"counts":[`+
			`{"match":false,"variantKey":"","variantAttachment":"","enabled":true,"count":1}],"results":[`+
			`{"entityId":"","match":false,"variantKey":"","enabled":true,"reason":"MATCH_EVALUATION_REASON","segmentKeys":["big"],"decidedBy":1,"stepId":"ID"}]}`)
	s.do("POST", path+"banner/explain/batch", `{}`).check(t, 200,
		`{"namespaceKey":"default","flagKey":"banner","flagType":"BOOLEAN_FLAG_TYPE","enabled":false,"counts":[],"results":[]}`)
	s.do("POST", path+"nope/explain/batch", `{"entities":[{}]}`).fails(t, 404, 5, `flag "default/nope" not found`)
	many := `{"entities":[` + strings.Repeat(`{},`, 1000) + `{}]}`
	s.do("POST", path+"banner/explain/batch", many).fails(t, 413, 8, "invalid field entities: must not contain more than 1000 elements")
	s.do("POST", path+"banner/explain/batch", `{"entities":[{"context":`+properties(1001)+`}]}`).fails(t, 400, 3, "invalid field context: must not have more than 1000 properties")
}

// TestExplainLimits checks that long values are cut, and that constraints are omitted if
// there are too many.
func TestExplainLimits(t *testing.T) {
	withoutRaceDetector(t)
	s := newServer(t)
	long := strings.Repeat("x", 2000)
	var constraints, rules []string
	for range 900 {
		constraints = append(constraints, `{"type":"STRING_COMPARISON_TYPE","property":"p","operator":"eq","value":"`+long+`"}`)
	}
	for range 7 {
		rules = append(rules, `{"segmentKeys":["s"]}`)
	}
	s.must("", "POST", "/api/v1/namespaces/default/import", `{"document":{
		"flags":[{"key":"f","name":"F","enabled":true,"rules":[`+strings.Join(rules, ",")+`]}],
		"segments":[{"key":"s","name":"S","constraints":[`+strings.Join(constraints, ",")+`]}]}}`)
	r := s.must("", "POST", "/api/v1/namespaces/default/flags/f/explain", `{"context":{"p":"`+strings.Repeat("é", 500)+`"}}`)
	var got struct {
		Steps []struct {
			Segments []struct {
				Constraints        []struct{ Expected, Actual string }
				ConstraintsOmitted bool
			}
		}
	}
	if err := json.Unmarshal([]byte(r.body), &got); err != nil {
		t.Fatal(err)
	}
	var omitted []bool
	for _, step := range got.Steps {
		omitted = append(omitted, step.Segments[0].ConstraintsOmitted)
	}
	if diff := cmp.Diff([]bool{false, false, false, false, false, true, true}, omitted); diff != "" {
		t.Errorf("constraints omitted (-want +got):\n%s", diff)
	}
	c := got.Steps[0].Segments[0].Constraints[0]
	if want := strings.Repeat("x", 512) + "…"; c.Expected != want {
		t.Errorf("expected value: got %d bytes, want %d", len(c.Expected), len(want))
	}
	if want := strings.Repeat("é", 256) + "…"; c.Actual != want {
		t.Errorf("actual value: got %d bytes, want %d", len(c.Actual), len(want))
	}
}

// TestExplainConditions checks what is said of groups, exceptions, portions and ways to divide.
func TestExplainConditions(t *testing.T) {
	s := newServer(t)
	s.must("", "POST", "/api/v1/namespaces/default/import", `{"document":{
		"flags":[
			{"key":"sweden","name":"Sweden","type":"BOOLEAN_FLAG_TYPE","rollouts":[{"segment":{"segmentKeys":[],"value":true},
				"groups":[{"match":"ALL_MATCH_TYPE","constraints":[{"type":"STRING_COMPARISON_TYPE","property":"country","operator":"eq","value":"SE"}]}],
				"exceptSegmentKeys":["bots"],"portion":{"percentage":20,"split":{"by":"tenant"}}}]},
			{"key":"price","name":"Price","enabled":true,"variants":[{"key":"a"},{"key":"b"}],"rules":[
				{"everyone":true,"split":{"by":"account","seed":"s"},"distributions":[{"variant":"a","rollout":50},{"variant":"b","rollout":50}]},
				{"everyone":true,"codeDefault":true}]}],
		"segments":[{"key":"bots","name":"Bots","constraints":[{"type":"BOOLEAN_COMPARISON_TYPE","property":"bot","operator":"true"}]}]}}`)
	for _, test := range []struct {
		flag, context string
		want          []string
	}{
		{"sweden", `{"country":"NO","tenant":"t1"}`, []string{
			`"outcome":"not_matched","text":"did not match: its constraints do not hold (group 1)"`,
			`"groups":[{"key":"","exists":true,"matched":false,"matchType":"ALL_MATCH_TYPE","constraints":[{"id":"","type":"STRING_COMPARISON_TYPE","property":"country"`,
			`"exceptions":[{"key":"bots","exists":true,"matched":false`,
			`"portion":{"number":18269,"of":100000,"ranges":[{"from":0,"to":20000,"percentage":20,"variantKey":""}],"chosen":1,"by":"tenant"},"portionText":"in the portion: bucket 18269 is below 20000"`,
			`"verdict":"reachable","text":"if country were \"SE\"; then rule 1 decides"`,
		}},
		{"sweden", `{"country":"SE","tenant":"t1","bot":true}`, []string{
			`"text":"did not match: it is not for segment \"bots\""`, `"text":"if bot were not true, such as \"false\"; then rule 1 decides"`,
		}},
		{"sweden", `{"country":"SE","tenant":"t3"}`, []string{
			`"text":"did not match: not in the portion: bucket 42135 is not below 20000"`,
			`"verdict":"undecided","text":"rule 1 has it for buckets 0–19999 by tenant, and the entity is in none of them"`,
		}},
		{"sweden", `{"country":"SE"}`, []string{`"text":"did not match: not in the portion: tenant is missing"`, `"absent":true`}},
		{"price", `{}`, []string{
			`"text":"did not match: account is missing"`, `"outcome":"matched","text":"matched: the default in the code applies"`,
			`"verdict":"undecided"`,
		}},
		{"price", `{"account":"acme"}`, []string{`"outcome":"matched","text":"matched: bucket 24137 is in 0–49999 of \"a\""`, `"by":"account"`}},
	} {
		r := s.do("POST", "/api/v1/namespaces/default/flags/"+test.flag+"/explain", `{"entityId":"user-1","context":`+test.context+`}`)
		for _, want := range test.want {
			if !strings.Contains(r.body, want) {
				t.Errorf("%s, %s: got\n%s\nwant\n%s", test.flag, test.context, r.body, want)
			}
		}
	}
}
