package handler_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	rulesPath    = "/api/v1/namespaces/default/flags/v/rules"
	rolloutsPath = "/api/v1/namespaces/default/flags/b/rollouts"
)

// newConditional returns a server with a flag of each type and two segments.
func newConditional(t *testing.T) *server {
	t.Helper()
	s := newServer(t)
	s.must("", "POST", "/api/v1/flags", `{"key":"v","name":"V","enabled":true}`)
	s.must("a", "POST", "/api/v1/flags/v/variants", `{"key":"a"}`)
	s.must("", "POST", "/api/v1/flags", `{"key":"b","name":"B","type":"BOOLEAN_FLAG_TYPE"}`)
	s.must("", "POST", "/api/v1/segments", `{"key":"beta","name":"Beta"}`)
	s.must("", "POST", "/api/v1/segments", `{"key":"blocked","name":"Blocked"}`)
	return s
}

// revision is that of the default namespace.
func (s *server) revision() string {
	s.t.Helper()
	return s.must("", "GET", "/api/v1/namespaces/default/flags", "").header.Get("Guidon-Revision")
}

// Additions of rules in requests and responses.
const (
	groups  = `"groups":[{"match":"ANY_MATCH_TYPE","constraints":[{"type":"VERSION_COMPARISON_TYPE","property":"app","operator":"gte","value":"2.4","description":"new","negate":true}]}]`
	except  = `"exceptSegmentKeys":["blocked"]`
	portion = `"portion":{"percentage":30,"start":12.5,"split":{"by":"tenant","seed":"layer","hash":"FLIPT_FINE_BUCKET_HASH"}}`
	split   = `"split":{"by":"account","seed":"","hash":"MURMUR3_BUCKET_HASH"}`
)

// TestConditionsOverHTTP: rules and rollouts are created, read, listed and updated with each
// addition. Additions that are not set are absent.
func TestConditionsOverHTTP(t *testing.T) {
	s := newConditional(t)
	const end = `"createdAt":"TIME","updatedAt":"TIME"`
	rule := func(segment, additions string) string {
		return `{"id":"ID","flagKey":"v","segmentKey":"` + segment + `","distributions":[],"rank":1,` + end +
			`,"namespaceKey":"default","segmentKeys":[],"segmentOperator":"OR_SEGMENT_OPERATOR"` + additions + `}`
	}
	for _, test := range []struct{ request, segment, additions string }{
		{`"segmentKey":"beta"`, "beta", ``},
		{`"segmentKey":"beta","groups":[],"exceptSegmentKeys":[],"everyone":false,"split":{},"codeDefault":false`, "beta", ``},
		{`"segmentKey":"beta",` + groups, "beta", `,` + groups},
		{groups, "", `,` + groups},
		{`"segmentKey":"beta",` + except, "beta", `,` + except},
		{`"segmentKey":"beta","exceptSegmentKeys":["blocked","beta","blocked"]`, "beta", `,"exceptSegmentKeys":["blocked","beta"]`},
		{`"everyone":true`, "", `,"everyone":true`},
		{`"everyone":true,` + except + `,` + portion, "", `,` + except + `,"everyone":true,` + portion},
		{`"segmentKey":"beta","portion":{}`, "beta", `,"portion":{"percentage":0,"start":0}`},
		{`"segmentKey":"beta",` + split, "beta", `,` + split},
		{`"everyone":true,"portion":{"percentage":99.9,"start":0.1}`, "", `,"everyone":true,"portion":{"percentage":99.9,"start":0.1}`},
		{`"everyone":true,"codeDefault":true`, "", `,"everyone":true,"codeDefault":true`},
	} {
		want := rule(test.segment, test.additions)
		s.must("r", "POST", rulesPath, `{"rank":1,`+test.request+`}`).check(t, 200, want)
		s.do("GET", rulesPath+"/{r}", "").check(t, 200, want)
		s.do("GET", rulesPath, "").check(t, 200, `{"rules":[`+want+`],"nextPageToken":"","totalCount":1}`)
		s.must("", "DELETE", rulesPath+"/{r}", "")
		s.must("r", "POST", rulesPath, `{"rank":1,"segmentKey":"beta"}`)
		s.do("PUT", rulesPath+"/{r}", `{`+test.request+`}`).check(t, 200, want)
		s.must("", "DELETE", rulesPath+"/{r}", "")
	}
	rollout := func(body string) string {
		return `{"id":"ID","namespaceKey":"default","flagKey":"b","type":"%s","rank":1,"description":"",` + end + `,` + body + `}`
	}
	segment := func(keys, additions string) string {
		return fmt.Sprintf(rollout(`"segment":{"segmentKey":"%s","value":true,"segmentKeys":[],"segmentOperator":"OR_SEGMENT_OPERATOR"}%s`), "SEGMENT_ROLLOUT_TYPE", keys, additions)
	}
	threshold := func(additions string) string {
		return fmt.Sprintf(rollout(`"threshold":{"percentage":12.5,"value":true%s}`), "THRESHOLD_ROLLOUT_TYPE", additions)
	}
	for _, test := range []struct{ request, want string }{
		{`"segment":{"segmentKey":"beta","value":true}`, segment("beta", ``)},
		{`"segment":{"segmentKey":"beta","value":true},` + groups, segment("beta", `,`+groups)},
		{`"segment":{"value":true},` + groups + `,` + except, segment("", `,`+groups+`,`+except)},
		{`"segment":{"value":true},"everyone":true,` + portion, segment("", `,"everyone":true,`+portion)},
		{`"threshold":{"percentage":12.5,"value":true,"split":{},"start":0}`, threshold(``)},
		{`"threshold":{"percentage":12.5,"value":true,` + split + `}`, threshold(`,` + split)},
		{`"threshold":{"percentage":12.5,"value":true,"start":87.5}`, threshold(`,"start":87.5`)},
	} {
		s.must("r", "POST", rolloutsPath, `{"rank":1,`+test.request+`}`).check(t, 200, test.want)
		s.do("GET", rolloutsPath+"/{r}", "").check(t, 200, test.want)
		s.do("GET", rolloutsPath, "").check(t, 200, `{"rules":[`+test.want+`],"nextPageToken":"","totalCount":1}`)
		s.do("PUT", rolloutsPath+"/{r}", `{`+test.request+`}`).check(t, 200, test.want)
		s.must("", "DELETE", rolloutsPath+"/{r}", "")
	}
}

// list returns a JSON list with n copies of the item, whose %d is the index.
func list(n int, item string) string {
	var items []string
	for i := range n {
		items = append(items, strings.ReplaceAll(item, "%d", fmt.Sprint(i)))
	}
	return "[" + strings.Join(items, ",") + "]"
}

// TestInvalidConditions tests contract 4.3: what is refused, and that it changes nothing.
func TestInvalidConditions(t *testing.T) {
	s := newConditional(t)
	const constraint = `{"type":"STRING_COMPARISON_TYPE","property":"p","operator":"eq","value":"a"}`
	group := func(constraints string) string { return `"groups":[{"constraints":` + constraints + `}]` }
	values, _ := json.Marshal(list(10_001, `"%d"`))
	s.must("r", "POST", rulesPath, `{"rank":1,"segmentKey":"beta"}`)
	s.must("o", "POST", rolloutsPath, `{"rank":1,"segment":{"segmentKey":"beta"}}`)
	before := s.revision()
	for _, test := range []struct{ target, want string }{
		{`"rank":2`, "invalid field segmentKey or segmentKeys: must not be empty"},
		{`"rank":2,` + except, "invalid field segmentKey or segmentKeys: must not be empty"},
		{`"rank":2,` + portion, "invalid field segmentKey or segmentKeys: must not be empty"},
		{`"segmentKey":"beta","everyone":true`, "invalid field everyone: cannot be combined with segments or conditions"},
		{`"segmentKeys":["beta"],"everyone":true`, "invalid field everyone: cannot be combined with segments or conditions"},
		{`"everyone":true,` + groups, "invalid field everyone: cannot be combined with segments or conditions"},
		{`"everyone":true,"portion":{"percentage":100,"start":0.001}`, "invalid field portion: start and percentage must be within [0, 100] together"},
		{`"everyone":true,"portion":{"percentage":-1}`, "invalid field portion: start and percentage must be within [0, 100] together"},
		{`"everyone":true,"portion":{"start":-1}`, "invalid field portion: start and percentage must be within [0, 100] together"},
		{`"everyone":true,"portion":{"split":{"hash":5}}`, "invalid field portion.hash: is not a known value"},
		{`"everyone":true,"groups":` + list(21, `{"constraints":[`+constraint+`]}`), "invalid field everyone: cannot be combined with segments or conditions"},
		{`"groups":` + list(21, `{"constraints":[`+constraint+`]}`), "invalid field if: must not contain more than 20 groups"},
		{group(list(51, constraint)), "if[0]: invalid field constraints: must contain between 1 and 50 constraints"},
		{group(`[]`), "if[0]: invalid field constraints: must contain between 1 and 50 constraints"},
		{`"groups":[{"match":7,"constraints":[` + constraint + `]}]`, "if[0]: invalid field match: is not a known value"},
		{`"everyone":true,"exceptSegmentKeys":` + list(21, `"s%d"`), "invalid field except: must not contain more than 20 segments"},
		{group(`[` + constraint + `,{"type":"VERSION_COMPARISON_TYPE","property":"app","operator":"gte","value":"x"}]`),
			`if[0]: constraints[1]: invalid value provided for property "app" of type version; it must be like 2.4.1`},
		{`"groups":[{"constraints":[` + constraint + `]},{"constraints":[{"type":"PATTERN_COMPARISON_TYPE","property":"email","operator":"eq","value":"("}]}]`,
			"if[1]: constraints[0]: invalid value provided for property \"email\" of type pattern; it must be a pattern of RE2: error parsing regexp: missing closing ): `(`"},
		{group(`[{"type":"PATTERN_COMPARISON_TYPE","property":"email","operator":"eq","value":"[a-z]{999}[0-9]{999}[a-z]{999}"}]`), `if[0]: constraints[0]: pattern of property "email" is too complex`},
		{group(`[{"type":"LIST_COMPARISON_TYPE","property":"roles","operator":"anyof","value":` + string(values) + `}]`),
			`if[0]: constraints[0]: too many values provided for property "roles" of type list (maximum 10000)`},
		{group(`[{"property":"p","operator":"eq","value":"a"}]`), `if[0]: constraints[0]: invalid constraint type: "UNKNOWN_COMPARISON_TYPE"`},
		{group(`[{"type":"STRING_COMPARISON_TYPE","operator":"eq","value":"a"}]`), `if[0]: constraints[0]: invalid field property: must not be empty`},
	} {
		s.do("POST", rulesPath, `{"rank":2,`+test.target+`}`).fails(t, 400, 3, test.want)
		s.do("PUT", rulesPath+"/{r}", `{`+test.target+`}`).fails(t, 400, 3, test.want)
		if !strings.Contains(test.target, "segmentKey") {
			s.do("POST", rolloutsPath, `{"rank":2,"segment":{},`+test.target+`}`).fails(t, 400, 3, test.want)
			s.do("PUT", rolloutsPath+"/{o}", `{"segment":{},`+test.target+`}`).fails(t, 400, 3, test.want)
		}
	}
	s.do("POST", rulesPath, `{"rank":2,"everyone":true,"split":{"hash":9}}`).fails(t, 400, 3, "invalid field split.hash: is not a known value")
	for field, name := range map[string]string{groups: "if", except: "except", `"everyone":true`: "everyone", portion: "portion"} {
		s.do("POST", rolloutsPath, `{"rank":2,"threshold":{"percentage":1},`+field+`}`).
			fails(t, 400, 3, "invalid field "+name+": a threshold is for everyone; use a segment rollout with a portion")
	}
	s.do("POST", rolloutsPath, `{"rank":2,"threshold":{"percentage":50,"start":50.1}}`).
		fails(t, 400, 3, "invalid field threshold: start and percentage must be within [0, 100] together")
	s.do("POST", rolloutsPath, `{"rank":2,"threshold":{"percentage":50,"split":{"hash":5}}}`).
		fails(t, 400, 3, "invalid field threshold.hash: is not a known value")
	s.do("POST", rulesPath, `{"rank":2,"everyone":true,"exceptSegmentKeys":["none"]}`).fails(t, 404, 5, `flag "default/v" or segment "default/" not found`)
	if after := s.revision(); after != before {
		t.Errorf("the namespace is at revision %s, want %s as before", after, before)
	}
}

// TestConditionsOfOthers: an update by a client that does not know the additions of a rule is
// refused, and everything else that such a client does keeps them.
func TestConditionsOfOthers(t *testing.T) {
	s := newConditional(t)
	refused := func(rule int) string {
		return fmt.Sprintf("rule %d has conditions that this request does not state; use ReplaceFlag", rule)
	}
	s.must("r1", "POST", rulesPath, `{"rank":1,"segmentKey":"beta"}`)
	for i, addition := range []string{groups, except, portion, split, `"codeDefault":true`} {
		s.must("r2", "POST", rulesPath, `{"rank":2,"segmentKey":"beta",`+addition+`}`)
		s.do("PUT", rulesPath+"/{r2}", `{"segmentKey":"beta"}`).fails(t, 412, 9, refused(2))
		s.must("", "PUT", rulesPath+"/{r1}", `{"segmentKey":"beta"}`)
		s.must("", "PUT", rulesPath+"/order", `{"ruleIds":["{r2}","{r1}"]}`)
		if got := s.must("", "GET", rulesPath+"/{r2}", "").body; !strings.Contains(got, addition) || !strings.Contains(got, `"rank":1`) {
			t.Errorf("ordered: got %s, want it with %s", got, addition)
		}
		distributions := rulesPath + "/{r2}/distributions"
		if strings.Contains(addition, "codeDefault") {
			s.do("POST", distributions, `{"variantId":"{a}","rollout":100}`).fails(t, 400, 3, "invalid field codeDefault: cannot be combined with distributions")
			break
		}
		s.must("d", "POST", distributions, `{"variantId":"{a}","rollout":33.333}`)
		s.must("", "PUT", distributions+"/{d}", `{"variantId":"{a}","rollout":66.667}`)
		s.do("PUT", rulesPath+"/{r2}", `{"segmentKey":"beta","codeDefault":true}`).fails(t, 400, 3, "invalid field codeDefault: cannot be combined with distributions")
		s.must("", "PUT", "/api/v1/flags/v", `{"name":"V`+fmt.Sprint(i)+`","enabled":true}`)
		if got := s.must("", "GET", rulesPath+"/{r2}", "").body; !strings.Contains(got, addition) || !strings.Contains(got, `"rollout":66.667`) {
			t.Errorf("with distributions: got %s, want it with %s", got, addition)
		}
		s.must("", "DELETE", rulesPath+"/{r2}", "")
	}
	for _, target := range []string{
		`"segment":{"segmentKey":"beta"},` + groups, `"segment":{"segmentKey":"beta"},` + portion, `"threshold":{"percentage":1,"start":1}`, `"threshold":{"percentage":1,` + split + `}`,
	} {
		s.must("o", "POST", rolloutsPath, `{"rank":1,`+target+`}`)
		plain := `{"segment":{"segmentKey":"beta"}}`
		if strings.Contains(target, "threshold") {
			plain = `{"threshold":{"percentage":2}}`
		}
		s.do("PUT", rolloutsPath+"/{o}", plain).fails(t, 412, 9, refused(1))
		s.must("", "DELETE", rolloutsPath+"/{o}", "")
	}
	s.must("o", "POST", rolloutsPath, `{"rank":1,"segment":{},"everyone":true}`)
	s.do("PUT", rolloutsPath+"/{o}", `{"segment":{"segmentKey":"beta"}}`).fails(t, 412, 9, refused(1))
	s.must("", "PUT", rolloutsPath+"/{o}", `{"segment":{"segmentKey":"beta"},"portion":{"percentage":5}}`)
}

// TestExceptedSegment: a segment of except is in use like one that a rule is for.
func TestExceptedSegment(t *testing.T) {
	s := newConditional(t)
	s.must("", "POST", rulesPath, `{"rank":1,"segmentKey":"beta"}`)
	s.must("r", "POST", rulesPath, `{"rank":2,"everyone":true,`+except+`}`)
	s.must("o", "POST", rolloutsPath, `{"rank":1,"segment":{"segmentKey":"beta"},`+except+`}`)
	s.do("DELETE", "/api/v1/segments/blocked", "").fails(t, 400, 3, `segment "default/blocked" is in use`)
	usage := stable(s.must("", "GET", "/api/v1/namespaces/default/segments/blocked/usage", "").body)
	for _, want := range []string{`"flagKey":"v","flagName":"V","rules":[{"index":1,"id":"ID","onlySegment":true}]`, `"flagKey":"b","flagName":"B","rules":[],"rollouts":[{"index":0,"id":"ID","onlySegment":false}]`} {
		if !strings.Contains(usage, want) {
			t.Errorf("got the usage %s, want %s in it", usage, want)
		}
	}
	if got := s.flagKeys("/api/v1/namespaces/default/catalog/flags?query=segment:blocked"); len(got) != 2 {
		t.Errorf("segment:blocked finds %q, want both flags", got)
	}
	s.must("", "DELETE", rulesPath+"/{r}", "")
	s.must("", "DELETE", rolloutsPath+"/{o}", "")
	s.must("", "DELETE", "/api/v1/segments/blocked", "")
}

// TestKeptPortions: a promotion that keeps percentages keeps those of portions, and where shares
// begin.
func TestKeptPortions(t *testing.T) {
	s := newServer(t)
	content := func(percentage, start string) string {
		share := `"percentage":` + percentage + `,"start":` + start
		return `{"document":{"segments":[{"key":"beta","name":"B"}],"flags":[` +
			`{"key":"b","name":"B","type":"BOOLEAN_FLAG_TYPE","rollouts":[{"segment":{"segmentKeys":["beta"],"value":true},"portion":{` + share + `}},` +
			`{"segment":{"value":true},"everyone":true,"portion":{` + share + `}},{"threshold":{"value":true,` + share + `,"split":{"by":"tenant"}}}]},` +
			`{"key":"v","name":"V","variants":[{"key":"a"}],"rules":[{"everyone":true,"portion":{` + share + `},"distributions":[{"variant":"a","rollout":100}]}]}]}}`
	}
	s.must("", "POST", "/api/v1/namespaces/live/import", content("20", "80"))
	s.must("", "POST", "/api/v1/namespaces/default/import", content("90", "0"))
	plan := planFrom(t, s.must("", "POST", "/api/v1/namespaces/live/plan", `{"sourceNamespaceKey":"default","keep":["percentages"]}`))
	if len(plan.Changes) > 0 {
		t.Errorf("got the changes %s, want none", plan.summary())
	}
}

// TestOffByProperty: a share of a property is not for everybody, so it does not turn a flag off.
func TestOffByProperty(t *testing.T) {
	s := newConditional(t)
	s.must("", "POST", rolloutsPath, `{"rank":1,"threshold":{"percentage":100,"split":{"by":"tenant"}}}`)
	s.must("", "POST", rolloutsPath, `{"rank":2,"threshold":{"percentage":100,"value":true}}`)
	s.must("", "POST", "/api/v1/namespaces/default/flags/b/off", "")
	if got := s.must("", "POST", "/evaluate/v1/boolean", `{"flagKey":"b","entityId":"e"}`).body; !strings.Contains(got, `"enabled":false`) {
		t.Errorf("off: got %s", got)
	}
}

// allConditions is the content of a flag that has each addition of rules.
const allConditions = `{"key":"v","name":"V","enabled":true,"variants":[{"key":"a"},{"key":"b"}],"rules":[` +
	`{"segmentKeys":["beta"],` + groups + `,` + except + `,` + portion + `,` + split + `,"distributions":[{"variant":"a","rollout":50},{"variant":"b","rollout":50}]},` +
	`{"everyone":true,"codeDefault":true}]}`

// TestConditionsOfWholeFlags: the operations on whole flags take and return additions: replace,
// patch, export and import, promote, compare, restore, undo and merge.
func TestConditionsOfWholeFlags(t *testing.T) {
	s := newConditional(t)
	const namespace = "/api/v1/namespaces/default"
	content := func(path string) string { return stable(s.must("", "GET", path+"/flags/v/content", "").body) }
	s.must("", "PUT", namespace+"/flags/v/content", `{"flag":`+allConditions+`}`)
	want := content(namespace)
	for _, addition := range []string{groups, except, portion, split, `"everyone":true`, `"codeDefault":true`} {
		if !strings.Contains(want, addition) {
			t.Errorf("the content is %s, want %s in it", want, addition)
		}
	}
	if got := s.flagKeys(namespace + "/catalog/flags?query=needs:guidon/1"); !slices.Equal(got, []string{"v"}) {
		t.Errorf("needs:guidon/1 finds %q", got)
	}
	withAll := s.revision()

	// A flag that is replaced states everything, so this may drop conditions.
	plain := `{"key":"v","name":"V","enabled":true,"variants":[{"key":"a"},{"key":"b"}],"rules":[{"segmentKeys":["beta"]}]}`
	s.must("", "POST", namespace+"/patch", `{"flags":[{"put":`+plain+`}]}`)
	if got := s.flagKeys(namespace + "/catalog/flags?query=needs:guidon/1"); len(got) > 0 {
		t.Errorf("without additions: needs:guidon/1 finds %q", got)
	}
	apply := func(target, body string) planOf {
		t.Helper()
		p := planFrom(t, s.must("", "POST", "/api/v1/namespaces/"+target+"/plan", `{`+body+`}`))
		s.must("", "POST", "/api/v1/namespaces/"+target+"/apply", `{`+body+`,"digest":"`+p.Digest+`"}`)
		return p
	}
	check := func(what, got string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	undone := apply("default", `"undo":{"firstRevision":`+s.revision()+`}`)
	check("undone", content(namespace))
	if len(undone.Warnings) != 1 || undone.Warnings[0].Kind != "server-only" || !strings.Contains(undone.Warnings[0].Text, `client-side SDKs no longer get flag "v"`) {
		t.Errorf("undoing it warns of %+v, want that clients lose the flag", undone.Warnings)
	}
	s.must("", "PUT", namespace+"/flags/v/content", `{"flag":`+plain+`}`)
	apply("default", `"sourceNamespaceKey":"default@`+withAll+`","flagKeys":["v"]`)
	check("restored", content(namespace))

	// Promoted, it brings the excepted segment along.
	s.must("", "POST", "/api/v1/namespaces", `{"key":"live","name":"Live"}`)
	if got := apply("live", `"sourceNamespaceKey":"default","flagKeys":["v"]`); len(got.Changes) != 3 {
		t.Errorf("promoting changes %s, want the flag and both segments", got.summary())
	}
	check("promoted", content("/api/v1/namespaces/live"))
	exported := s.must("", "GET", namespace+"/export", "").body
	s.must("", "POST", "/api/v1/namespaces/copy/import", `{"document":`+strings.Replace(exported, `"key":"default"`, `"key":"copy"`, 1)+`}`)
	check("exported and imported", content("/api/v1/namespaces/copy"))

	// Two edits of different conditions merge, and two of the same conflict.
	mine := strings.Replace(allConditions, `"percentage":30`, `"percentage":40`, 1)
	theirs := strings.Replace(allConditions, except, `"exceptSegmentKeys":["blocked","beta"]`, 1)
	base := s.revision()
	s.must("", "PUT", namespace+"/flags/v/content", `{"flag":`+theirs+`}`)
	merged := s.must("", "POST", namespace+"/flags/v/merge", `{"since":`+base+`,"flag":`+mine+`}`).body
	if !strings.Contains(merged, `"percentage":40`) || !strings.Contains(merged, `"exceptSegmentKeys":["blocked","beta"],"portion"`) || !strings.Contains(merged, `"conflicts":[]`) {
		t.Errorf("merged: got %s, want both changes", merged)
	}
	s.must("", "PUT", namespace+"/flags/v/content", `{"flag":`+strings.Replace(theirs, `"percentage":30`, `"percentage":50`, 1)+`}`)
	if merged = s.must("", "POST", namespace+"/flags/v/merge", `{"since":`+base+`,"flag":`+mine+`}`).body; !strings.Contains(merged, `"name":"rule 1: portion"`) {
		t.Errorf("merged: got %s, want a conflict of the portion", merged)
	}

	// A variant that is deleted takes its share with it, and nothing else.
	id := strings.Split(strings.Split(s.must("", "GET", namespace+"/flags/v", "").body, `"variants":[{"id":"`)[1], `"`)[0]
	s.must("", "DELETE", namespace+"/flags/v/variants/"+id, "")
	got := content(namespace)
	if strings.Contains(got, `"variant":"a"`) || !strings.Contains(got, `"variant":"b"`) || !strings.Contains(got, split) {
		t.Errorf("without the variant: got %s", got)
	}
}
