package handler_test

import (
	"strings"
	"testing"
)

// step is one request of a sequence. The id in the response is saved under the name save.
type step struct {
	save, method, path, body string
	want                     string
}

// runSteps runs the steps in order on one server.
func runSteps(t *testing.T, steps []step) {
	t.Helper()
	s := newServer(t)
	for _, step := range steps {
		t.Run(step.method+" "+step.path, func(t *testing.T) {
			s := *s
			s.t = t
			s.must(step.save, step.method, step.path, step.body).check(t, 200, step.want)
		})
	}
}

const times = `"createdAt":"TIME","updatedAt":"TIME"`

// TestNamespaces tests contract 3.1.
func TestNamespaces(t *testing.T) {
	shop := `{"key":"shop","name":"Shop","description":"all of it","protected":false,` + times + `}`
	byDefault := `{"key":"default","name":"Default","description":"Default namespace","protected":true,` + times + `}`
	live := `{"key":"live","name":"Live","description":"","protected":false,` + times
	runSteps(t, []step{
		{"", "POST", "/api/v1/namespaces", `{"key":"shop","name":"Shop","description":"all of it"}`, shop},
		{"", "GET", "/api/v1/namespaces/shop", "", shop},
		{"", "GET", "/api/v1/namespaces", "", `{"namespaces":[` + byDefault + `,` + shop + `],"nextPageToken":"","totalCount":2}`},
		{"", "GET", "/api/v1/namespaces?limit=1", "", `{"namespaces":[` + byDefault + `],"nextPageToken":"eyJrZXkiOiJzaG9wIiwib2Zmc2V0IjoxfQ==","totalCount":2}`},
		{"", "GET", "/api/v1/namespaces?limit=1&pageToken=eyJrZXkiOiJzaG9wIiwib2Zmc2V0IjoxfQ==", "", `{"namespaces":[` + shop + `],"nextPageToken":"","totalCount":2}`},
		{"", "GET", "/api/v1/namespaces?limit=1&offset=1", "", `{"namespaces":[` + shop + `],"nextPageToken":"","totalCount":2}`},
		{"", "GET", "/api/v1/namespaces?limit=0&offset=0&pageToken=&reference=", "", `{"namespaces":[` + byDefault + `,` + shop + `],"nextPageToken":"","totalCount":2}`},
		// Omitted fields are reset (contract 4.5).
		{"", "PUT", "/api/v1/namespaces/shop", `{"key":"other","name":"Shop!"}`, `{"key":"shop","name":"Shop!","description":"","protected":false,` + times + `}`},
		// Settings are omitted when unset, and an update without them keeps them, as one of a client of Flipt v1 must.
		{"", "POST", "/api/v1/namespaces", `{"key":"live","name":"Live","color":"amber","confirmChanges":true}`, live + `,"color":"amber","confirmChanges":true}`},
		{"", "PUT", "/api/v1/namespaces/live", `{"name":"Live"}`, live + `,"color":"amber","confirmChanges":true}`},
		{"", "PUT", "/api/v1/namespaces/live", `{"name":"Live","color":null,"confirm_changes":false}`, live + `,"color":"amber"}`},
		{"", "PUT", "/api/v1/namespaces/live", `{"name":"Live","color":"","confirmChanges":true}`, live + `,"confirmChanges":true}`},
		{"", "PUT", "/api/v1/namespaces/live", `{"name":"Live","color":"slate","confirmChanges":false}`, live + `,"color":"slate"}`},
		{"", "GET", "/api/v1/namespaces/live", "", live + `,"color":"slate"}`},
		{"", "DELETE", "/api/v1/namespaces/live", "", `{}`},
		{"", "PUT", "/api/v1/namespaces/default", `{"name":"D"}`, `{"key":"default","name":"D","description":"","protected":true,` + times + `}`},
		{"", "DELETE", "/api/v1/namespaces/shop?force=false", "", `{}`},
		{"", "DELETE", "/api/v1/namespaces/default?force=true", "", `{}`},
		{"", "GET", "/api/v1/namespaces", "", `{"namespaces":[],"nextPageToken":"","totalCount":0}`},
	})
}

// TestFlags tests contract 3.2.
func TestFlags(t *testing.T) {
	head := `{"key":"beta","name":"Beta","description":"d","enabled":true,` + times + `,"variants":[`
	tail := `],"namespaceKey":"shop","type":"VARIANT_FLAG_TYPE"`
	variant := `{"id":"ID","flagKey":"beta","key":"a.b/c","name":"A","description":"x","createdAt":"TIME","updatedAt":"TIME","attachment":"{\"a\":[1,2]}","namespaceKey":"shop"}`
	metadata := `,"metadata":{"owner":"me","n":{"x":[1.5,null,true,"<&>"]}}}`
	sorted := `,"metadata":{"n":{"x":[1.5,null,true,"<&>"]},"owner":"me"}}`
	runSteps(t, []step{
		{"", "POST", "/api/v1/namespaces", `{"key":"shop","name":"Shop"}`, `{"key":"shop","name":"Shop","description":"","protected":false,` + times + `}`},
		{"", "POST", "/api/v1/namespaces/shop/flags", `{"key":"beta","name":"Beta","description":"d","enabled":true` + metadata, head + tail + sorted},
		{"a", "POST", "/api/v1/namespaces/shop/flags/beta/variants", `{"key":"a.b/c","name":"A","description":"x","attachment":" {\"a\": [1, 2]} "}`, variant},
		{"", "GET", "/api/v1/namespaces/shop/flags/beta", "", head + variant + tail + sorted},
		{"", "GET", "/api/v1/namespaces/shop/flags?limit=5", "", `{"flags":[` + head + variant + tail + sorted + `],"nextPageToken":"","totalCount":1}`},
		// Omitted metadata stays; a default variant is repeated in full.
		{"", "PUT", "/api/v1/namespaces/shop/flags/beta", `{"name":"Beta","description":"d","enabled":true,"default_variant_id":"{a}"}`, head + variant + tail + `,"defaultVariant":` + variant + sorted},
		// An empty object clears the metadata, an empty id the default variant.
		{"", "PUT", "/api/v1/namespaces/shop/flags/beta", `{"name":"Beta","description":"d","enabled":true,"metadata":{}}`, head + variant + tail + `}`},
		{"", "PUT", "/api/v1/namespaces/shop/flags/beta/variants/{a}", `{"key":"b"}`, `{"id":"ID","flagKey":"beta","key":"b","name":"","description":"","createdAt":"TIME","updatedAt":"TIME","attachment":"","namespaceKey":"shop"}`},
		{"", "DELETE", "/api/v1/namespaces/shop/flags/beta/variants/{a}", "", `{}`},
		{"", "DELETE", "/api/v1/namespaces/shop/flags/beta", "", `{}`},
		{"", "DELETE", "/api/v1/namespaces/shop/flags/beta", "", `{}`},
		{"", "GET", "/api/v1/namespaces/nope/flags", "", `{"flags":[],"nextPageToken":"","totalCount":0}`},
		{"", "POST", "/api/v1/flags", `{"key":"on","name":"On","type":1}`, `{"key":"on","name":"On","description":"","enabled":false,` + times + `,"variants":[],"namespaceKey":"default","type":"BOOLEAN_FLAG_TYPE"}`},
	})
}

// TestInvalidColor: a color without a meaning is refused by its field, and changes nothing.
func TestInvalidColor(t *testing.T) {
	s := newServer(t)
	const rule = "invalid field color: must be one of blue, amber, teal, pink, violet, green, red, slate"
	s.do("POST", "/api/v1/namespaces", `{"key":"a","name":"A","color":"mauve"}`).fails(t, 400, 3, rule)
	s.do("PUT", "/api/v1/namespaces/default", `{"name":"Changed","color":"Amber"}`).fails(t, 400, 3, rule)
	s.do("POST", "/api/v1/namespaces/a/import", `{"document":{"namespace":{"color":"mauve"}}}`).fails(t, 400, 3, "namespace: "+rule)
	s.do("GET", "/api/v1/namespaces/a", "").fails(t, 404, 5, `namespace "a" not found`)
	s.must("", "GET", "/api/v1/namespaces/default", "").check(t, 200,
		`{"key":"default","name":"Default","description":"Default namespace","protected":true,`+times+`}`)
}

// TestLegacyAliases tests the aliases without a namespace (contract 3).
func TestLegacyAliases(t *testing.T) {
	s := newServer(t)
	for _, c := range []struct{ save, method, path, body string }{
		{"", "POST", "/api/v1/flags", `{"key":"f","name":"F"}`},
		{"", "PUT", "/api/v1/flags/f", `{"name":"F"}`},
		{"", "GET", "/api/v1/flags/f", ""},
		{"v", "POST", "/api/v1/flags/f/variants", `{"key":"v"}`},
		{"", "PUT", "/api/v1/flags/f/variants/{v}", `{"key":"v"}`},
		{"", "POST", "/api/v1/segments", `{"key":"s","name":"S"}`},
		{"", "GET", "/api/v1/segments", ""},
		{"", "GET", "/api/v1/segments/s", ""},
		{"", "PUT", "/api/v1/segments/s", `{"name":"S"}`},
		{"c", "POST", "/api/v1/segments/s/constraints", `{"type":"STRING_COMPARISON_TYPE","property":"p","operator":"EQ","value":"v"}`},
		{"", "PUT", "/api/v1/segments/s/constraints/{c}", `{"type":"STRING_COMPARISON_TYPE","property":"p","operator":"eq","value":"v"}`},
		{"", "DELETE", "/api/v1/segments/s/constraints/{c}", ""},
		{"r", "POST", "/api/v1/flags/f/rules", `{"segmentKey":"s","rank":1}`},
		{"r2", "POST", "/api/v1/flags/f/rules", `{"segmentKey":"s","rank":2}`},
		{"", "GET", "/api/v1/flags/f/rules", ""},
		{"", "GET", "/api/v1/flags/f/rules/{r}", ""},
		{"", "PUT", "/api/v1/flags/f/rules/{r}", `{"segmentKey":"s"}`},
		{"", "PUT", "/api/v1/flags/f/rules/order", `{"ruleIds":["{r2}","{r}"]}`},
		{"d", "POST", "/api/v1/flags/f/rules/{r}/distributions", `{"variantId":"{v}","rollout":50}`},
		{"", "PUT", "/api/v1/flags/f/rules/{r}/distributions/{d}", `{"variantId":"{v}","rollout":60}`},
		{"", "DELETE", "/api/v1/flags/f/rules/{r}/distributions/{d}?variantId={v}", ""},
		{"", "DELETE", "/api/v1/flags/f/rules/{r}", ""},
		{"", "DELETE", "/api/v1/flags/f/rules/{r2}", ""},
		{"", "DELETE", "/api/v1/flags/f/variants/{v}", ""},
		{"", "DELETE", "/api/v1/segments/s", ""},
		{"", "DELETE", "/api/v1/flags/f", ""},
	} {
		s.must(c.save, c.method, c.path, c.body)
	}
	s.do("GET", "/api/v1/flags", "").check(t, 200, `{"flags":[],"nextPageToken":"","totalCount":0}`)
}

// TestRules tests contract 3.3 and the note on segments in contract 2.
func TestRules(t *testing.T) {
	const rules = "/api/v1/namespaces/default/flags/f/rules"
	rule := func(segmentKey, distributions, rank, segmentKeys, operator string) string {
		return `{"id":"ID","flagKey":"f","segmentKey":"` + segmentKey + `","distributions":[` + distributions + `],"rank":` + rank + `,` + times +
			`,"namespaceKey":"default","segmentKeys":[` + segmentKeys + `],"segmentOperator":"` + operator + `_SEGMENT_OPERATOR"}`
	}
	distribution := `{"id":"ID","ruleId":"ID","variantId":"ID","rollout":33.33,` + times + `}`
	s := newServer(t)
	s.must("", "POST", "/api/v1/flags", `{"key":"f","name":"F"}`)
	s.must("v", "POST", "/api/v1/flags/f/variants", `{"key":"v"}`)
	s.must("", "POST", "/api/v1/segments", `{"key":"a","name":"A"}`)
	s.must("", "POST", "/api/v1/segments", `{"key":"b","name":"B"}`)
	for _, step := range []step{
		// A single segment uses the singular field, and the operator is always OR.
		{"r1", "POST", rules, `{"segmentKey":"a","rank":1,"segmentOperator":"AND_SEGMENT_OPERATOR"}`, rule("a", "", "1", "", "OR")},
		{"r2", "POST", rules, `{"segmentKeys":["b","a","b"],"rank":"2","segmentOperator":1}`, rule("", "", "2", `"b","a"`, "AND")},
		{"d", "POST", rules + "/{r1}/distributions", `{"variantId":"{v}","rollout":33.33}`, distribution},
		{"", "PUT", rules + "/{r1}/distributions/{d}", `{"variantId":"{v}","rollout":"33.33"}`, distribution},
		{"", "GET", rules + "/{r1}", "", rule("a", distribution, "1", "", "OR")},
		{"", "GET", rules, "", `{"rules":[` + rule("a", distribution, "1", "", "OR") + `,` + rule("", "", "2", `"b","a"`, "AND") + `],"nextPageToken":"","totalCount":2}`},
		{"", "PUT", rules + "/order", `{"ruleIds":["{r2}","{r1}"]}`, `{}`},
		{"", "PUT", rules + "/{r2}", `{"segmentKeys":["b"]}`, rule("b", "", "1", "", "OR")},
		{"", "DELETE", rules + "/{r1}/distributions/{d}?variantId={v}", "", `{}`},
		{"", "DELETE", rules + "/{r2}", "", `{}`},
		{"", "GET", rules, "", `{"rules":[` + rule("a", "", "1", "", "OR") + `],"nextPageToken":"","totalCount":1}`},
		{"", "GET", "/api/v1/namespaces/default/flags/nope/rules", "", `{"rules":[],"nextPageToken":"","totalCount":0}`},
	} {
		s.must(step.save, step.method, step.path, step.body).check(t, 200, step.want)
	}
}

// TestRollouts tests contract 3.4. The list is called rules (contract 15).
func TestRollouts(t *testing.T) {
	const rollouts = "/api/v1/namespaces/default/flags/f/rollouts"
	rollout := func(kind, rank, description, rule string) string {
		return `{"id":"ID","namespaceKey":"default","flagKey":"f","type":"` + kind + `_ROLLOUT_TYPE","rank":` + rank + `,"description":"` + description + `",` + times + `,` + rule + `}`
	}
	half := `"threshold":{"percentage":50.5,"value":true}`
	s := newServer(t)
	s.must("", "POST", "/api/v1/flags", `{"key":"f","name":"F","type":"BOOLEAN_FLAG_TYPE"}`)
	s.must("", "POST", "/api/v1/segments", `{"key":"a","name":"A"}`)
	s.must("", "POST", "/api/v1/segments", `{"key":"b","name":"B"}`)
	for _, step := range []step{
		{"r1", "POST", rollouts, `{"rank":1,"description":"half","threshold":{"percentage":50.5,"value":true}}`, rollout("THRESHOLD", "1", "half", half)},
		{"r2", "POST", rollouts, `{"rank":2,"segment":{"segmentKeys":["a","b"],"segmentOperator":"AND_SEGMENT_OPERATOR","value":true}}`,
			rollout("SEGMENT", "2", "", `"segment":{"segmentKey":"","value":true,"segmentKeys":["a","b"],"segmentOperator":"AND_SEGMENT_OPERATOR"}`)},
		{"", "GET", rollouts + "/{r1}", "", rollout("THRESHOLD", "1", "half", half)},
		{"", "PUT", rollouts + "/{r2}", `{"segment":{"segmentKey":"b"}}`,
			rollout("SEGMENT", "2", "", `"segment":{"segmentKey":"b","value":false,"segmentKeys":[],"segmentOperator":"OR_SEGMENT_OPERATOR"}`)},
		{"", "PUT", rollouts + "/order", `{"rolloutIds":["{r2}","{r1}"]}`, `{}`},
		{"", "DELETE", rollouts + "/{r2}", "", `{}`},
		{"", "GET", rollouts, "", `{"rules":[` + rollout("THRESHOLD", "1", "half", half) + `],"nextPageToken":"","totalCount":1}`},
		// Of two members of a oneof, threshold wins (contract 1.2).
		{"", "POST", rollouts, `{"rank":0,"threshold":{},"segment":{"segmentKey":"a"}}`, rollout("THRESHOLD", "0", "", `"threshold":{"percentage":0,"value":false}`)},
	} {
		s.must(step.save, step.method, step.path, step.body).check(t, 200, step.want)
	}
}

// TestSegments tests contract 3.5.
func TestSegments(t *testing.T) {
	constraint := func(value string) string {
		return `{"id":"ID","segmentKey":"s","type":"STRING_COMPARISON_TYPE","property":"p","operator":"eq","value":"` + value + `",` + times + `,"namespaceKey":"default","description":"c"}`
	}
	segment := func(name, constraints, match string) string {
		return `{"key":"s","name":"` + name + `","description":"",` + times + `,"constraints":[` + constraints + `],"matchType":"` + match + `_MATCH_TYPE","namespaceKey":"default"}`
	}
	const segments = "/api/v1/namespaces/default/segments"
	runSteps(t, []step{
		{"", "POST", segments, `{"key":"s","name":"S","matchType":"ANY_MATCH_TYPE"}`, segment("S", "", "ANY")},
		{"c", "POST", segments + "/s/constraints", `{"type":"STRING_COMPARISON_TYPE","property":"p","operator":"EQ","value":"v","description":"c"}`, constraint("v")},
		{"", "PUT", segments + "/s/constraints/{c}", `{"type":1,"property":"p","operator":"eq","value":"w","description":"c"}`, constraint("w")},
		{"", "GET", segments + "/s", "", segment("S", constraint("w"), "ANY")},
		{"", "GET", segments, "", `{"segments":[` + segment("S", constraint("w"), "ANY") + `],"nextPageToken":"","totalCount":1}`},
		{"", "PUT", segments + "/s", `{"name":"T"}`, segment("T", constraint("w"), "ALL")},
		{"", "DELETE", segments + "/s/constraints/{c}", "", `{}`},
		{"", "DELETE", segments + "/s", "", `{}`},
		{"", "GET", segments, "", `{"segments":[],"nextPageToken":"","totalCount":0}`},
	})
}

// TestNegatedConstraint: negate is absent unless it is set, an update by a client that does not
// know it changes nothing, and records have the types of the wire.
func TestNegatedConstraint(t *testing.T) {
	s := newServer(t)
	const constraints = "/api/v1/namespaces/default/segments/s/constraints"
	const content = `"type":"VERSION_COMPARISON_TYPE","property":"app","operator":"gte","value":"2.4"`
	s.must("", "POST", "/api/v1/segments", `{"key":"s","name":"S"}`)
	s.must("c", "POST", constraints, `{`+content+`,"negate":true}`)
	if got := s.must("", "GET", "/api/v1/segments/s", "").body; !strings.Contains(got, `"description":"","negate":true}`) {
		t.Errorf("got %s, want it negated", got)
	}
	s.do("PUT", s.fill(constraints+"/{c}"), `{`+content+`}`).fails(t, 412, 9, "the constraint is negated, which this request does not state; set negate")
	if got := s.must("", "PUT", constraints+"/{c}", `{`+content+`,"negate":false}`).body; strings.Contains(got, "negate") {
		t.Errorf("got %s, want it without negate", got)
	}
	changes, _ := s.changesAt("/api/v1/namespaces/default/changes?kind=segment&limit=2")
	if got := string(changes[0].Before); strings.Contains(got, "+1") || !strings.Contains(got, `"negate":true`) {
		t.Errorf("the record has %s before", got)
	}
	if got := []string{changes[0].Summary, changes[1].Summary}; got[0] != "constraint 1 no longer negated" || got[1] != "constraint 1 added (not (app is at least 2.4))" {
		t.Errorf("got the summaries %q", got)
	}
}
