package handler_test

import (
	"fmt"
	"strings"
	"testing"
)

const analyzed = `{"document":{
	"flags":[
		{"key":"checkout","name":"Checkout","enabled":true,"variants":[{"key":"classic","default":true},{"key":"one-page"}],"rules":[
			{"segmentKeys":["staff"],"distributions":[{"variant":"one-page","rollout":100}]},
			{"segmentKeys":["everyone"],"distributions":[{"variant":"classic","rollout":66.66},{"variant":"one-page","rollout":33.34}]},
			{"segmentKeys":["staff","guests"],"distributions":[{"variant":"one-page","rollout":100}]}]},
		{"key":"banner","name":"Banner","type":"BOOLEAN_FLAG_TYPE","rollouts":[
			{"segment":{"segmentKeys":["staff"],"value":true}},
			{"threshold":{"percentage":12.5,"value":true}}]}],
	"segments":[
		{"key":"staff","name":"Staff","constraints":[{"type":"STRING_COMPARISON_TYPE","property":"group","operator":"eq","value":"staff"}]},
		{"key":"guests","name":"Guests","constraints":[{"type":"STRING_COMPARISON_TYPE","property":"group","operator":"empty"}]},
		{"key":"everyone","name":"Everyone"}]}}`

// newAnalyzed starts a server with flags to analyze.
func newAnalyzed(t *testing.T) *server {
	t.Helper()
	s := newServer(t)
	if got := s.do("POST", "/api/v1/namespaces/default/import", analyzed); got.status != 200 {
		t.Fatalf("import: %d %s", got.status, got.body)
	}
	return s
}

// TestPreviewFlag covers the effect of saving an edited flag.
func TestPreviewFlag(t *testing.T) {
	s := newAnalyzed(t)
	rules := func(classic, onePage string) string {
		return `"name":"Checkout","enabled":true,"variants":[{"key":"classic","default":true},{"key":"one-page"}],"rules":[
			{"segmentKeys":["staff"],"distributions":[{"variant":"one-page","rollout":100}]},
			{"segmentKeys":["everyone"],"distributions":[{"variant":"classic","rollout":` + classic + `},{"variant":"one-page","rollout":` + onePage + `}]}]`
	}
	const steps = `"steps":[{"before":0,"after":0},{"before":1,"after":1},{"before":2}]`
	one := func(percent string) string {
		return `{"reason":"MATCH_OUTCOME_REASON","match":true,"variantKey":"` + percent + `","enabled":false}`
	}
	for _, test := range []struct{ name, key, body, want string }{
		{
			"a share moves", "checkout", `{"flag":{` + rules("46.66", "53.34") + `}}`,
			`{"type":"VARIANT_FLAG_TYPE","buckets":1000,"typeChanged":false,` + steps + `,"groups":[{"before":1,"after":1,"membership":"CONTEXT_GROUP_MEMBERSHIP","changedSegments":[],"unchangedBuckets":800,"moves":[` +
				`{"buckets":200,"percentage":20,"from":` + one("classic") + `,"to":` + one("one-page") + `,"fromStep":1,"toStep":1,"sameValue":false,"summary":"20% of those who match rule 2 go from classic to one-page"}]}],"truncated":false,"everyone":""}`,
		},
		{
			"nothing moves", "checkout", `{"flag":{"key":"checkout",` + rules("66.66", "33.34") + `}}`,
			`{"type":"VARIANT_FLAG_TYPE","buckets":1000,"typeChanged":false,` + steps + `,"groups":[],"truncated":false,"everyone":""}`,
		},
		{
			"a boolean flag", "banner", `{"flag":{"name":"Banner","type":"BOOLEAN_FLAG_TYPE","enabled":true}}`,
			`{"type":"BOOLEAN_FLAG_TYPE","buckets":100,"typeChanged":false,"steps":[{"before":0},{"before":1}],"groups":[{"membership":"CONTEXT_GROUP_MEMBERSHIP","changedSegments":[],"unchangedBuckets":13,"moves":[` +
				`{"buckets":87,"percentage":87,"from":{"reason":"DEFAULT_OUTCOME_REASON","match":false,"variantKey":"","enabled":false},"to":{"reason":"DEFAULT_OUTCOME_REASON","match":false,"variantKey":"","enabled":true},"sameValue":false,` +
				`"summary":"87% of those in none of the segments go from off to on"}]}],"truncated":false,"everyone":"everyone gets On"}`,
		},
		{
			"a new flag", "new", `{"flag":{"name":"New","type":1}}`,
			`{"type":"BOOLEAN_FLAG_TYPE","buckets":100,"typeChanged":false,"steps":[],"groups":[{"membership":"EVERYONE_GROUP_MEMBERSHIP","changedSegments":[],"unchangedBuckets":0,"moves":[` +
				`{"buckets":100,"percentage":100,"from":{"reason":"NOT_FOUND_OUTCOME_REASON","match":false,"variantKey":"","enabled":false},"to":{"reason":"DEFAULT_OUTCOME_REASON","match":false,"variantKey":"","enabled":false},"sameValue":false,` +
				`"summary":"all entities go from no flag to off"}]}],"truncated":false,"everyone":"everyone gets Off"}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := *s
			s.t = t
			s.do("POST", "/api/v1/namespaces/default/flags/"+test.key+"/effect", test.body).check(t, 200, test.want)
		})
	}
	if got := s.do("GET", "/api/v1/namespaces/default/flags?limit=50", "").body; strings.Contains(got, `"key":"new"`) {
		t.Error("the preview was stored")
	}
}

func TestPreviewErrors(t *testing.T) {
	s := newAnalyzed(t)
	for _, test := range []struct{ path, body, want string }{
		{"flags/checkout/effect", `{}`, "invalid field flag, turnOn or ramp: must not be empty"},
		{"flags/checkout/effect", `{"flag":{"key":"other","name":"O"}}`, `invalid field key: the edited object has the key "other" instead of "checkout"`},
		{"flags/checkout/effect", `{"flag":{"rules":[{"segmentKeys":["nowhere"]}],"rollouts":[{"threshold":{"percentage":101}}]}}`,
			"flag: invalid field name: must not be empty\n" + `flag: rules[0]: segment "nowhere" not found` + "\nflag: rollouts[0]: invalid field threshold.percentage: must be within range [0, 100]"},
		{"segments/staff/effect", `{}`, "invalid field segment: must not be empty"},
		{"segments/staff/effect", `{"segment":{"name":"S","constraints":[{"type":1,"property":"p","operator":"like"}]}}`, `segment: constraints[0]: constraint operator "like" is not valid for type string; it must be one of eq, neq, empty, notempty, prefix, suffix, contains, notcontains, isoneof, isnotoneof`},
		{"segments/staff/effect", `{"segment":{"name":"S"},"limit":-1}`, "invalid field limit: must be greater than or equal to '0'"},
		{"segments/staff/effect", `{"segment":{"name":"S"},"pageToken":"x"}`, `pageToken is not valid: "x"`},
	} {
		s.do("POST", "/api/v1/namespaces/default/"+test.path, test.body).fails(t, 400, 3, test.want)
	}
	s.do("GET", "/api/v1/namespaces/default/flags/nope/reach", "").fails(t, 404, 5, `flag "default/nope" not found`)
	s.do("GET", "/api/v1/namespaces/default/segments/nope/usage", "").fails(t, 404, 5, `segment "default/nope" not found`)
	s.do("GET", "/api/v1/namespaces/default/flags/nope/usage", "").fails(t, 404, 5, `flag "default/nope" not found`)
}

func TestGetFlagReach(t *testing.T) {
	s := newAnalyzed(t)
	got := s.do("GET", "/api/v1/namespaces/default/flags/checkout/reach", "")
	for _, want := range []string{
		`"cause":"SHADOWED_REACH_CAUSE","by":[1],"missingSegment":"","conflicts":[],"why":"rule 2 takes everybody who would get here"`,
		`{"variantKey":"classic","percentage":66.66,"givenPercentage":66.6,"rounded":true,"start":0,"end":666,"cause":"HAS_BUCKETS_SHARE_CAUSE"},` +
			`{"variantKey":"one-page","percentage":33.34,"givenPercentage":33.3,"rounded":true,"start":666,"end":999,"cause":"HAS_BUCKETS_SHARE_CAUSE"}],"unassignedBuckets":1`,
		`"default":{"cause":"SHADOWED_REACH_CAUSE","by":[1],"why":"rule 2 takes everybody who would get here"},"unservedVariants":[]`,
	} {
		if got.status != 200 || !strings.Contains(got.body, want) {
			t.Errorf("got %d %s\nwant %s", got.status, got.body, want)
		}
	}
	if got := s.do("GET", "/api/v1/namespaces/default/flags/banner/reach", "").body; !strings.Contains(got, `"percentage":12.5,"givenPercentage":13,"rounded":true`) {
		t.Errorf("got %s", got)
	}
}

func TestSegmentUsage(t *testing.T) {
	s := newAnalyzed(t)
	got := s.do("GET", "/api/v1/namespaces/default/segments/staff/usage", "")
	for _, want := range []string{
		`{"uses":[{"flagKey":"checkout","flagName":"Checkout","rules":[{"index":0,"id":"`, `"onlySegment":true},{"index":2,"id":"`, `"onlySegment":false}],"rollouts":[],"effect":{`,
		`"summary":"66.6% of those who match rule 2 instead of rule 1 go from one-page to classic"`,
		`{"flagKey":"banner","flagName":"Banner","rules":[],"rollouts":[{"index":0,"id":"`,
		`"summary":"87% of those who no longer match rule 1 go from on to off"`,
		`"nextPageToken":"","totalCount":2}`,
	} {
		if got.status != 200 || !strings.Contains(got.body, want) {
			t.Errorf("got %d %s\nwant %s", got.status, got.body, want)
		}
	}
	if got := s.do("GET", "/api/v1/namespaces/default/segments/guests/usage", "").body; !strings.Contains(got, `"groups":[]`) {
		t.Errorf("a rule that is never reached: got %s", got)
	}
	edited := s.do("POST", "/api/v1/namespaces/default/segments/staff/effect", `{"segment":{"name":"Staff"}}`)
	want := `"summary":"66.6% of those who match rule 1 instead of rule 2 go from classic to one-page"`
	if !strings.Contains(edited.body, want) {
		t.Errorf("got %s\nwant %s", edited.body, want)
	}
	if got := s.do("POST", "/api/v1/namespaces/default/segments/new/effect", `{"segment":{"name":"New"}}`); got.body != `{"uses":[],"nextPageToken":"","totalCount":0}` {
		t.Errorf("a new segment: got %s", got.body)
	}
}

// TestSegmentUsagePages covers pages, which are never longer than 50 flags.
func TestSegmentUsagePages(t *testing.T) {
	s := newServer(t)
	var flags []string
	for i := range 120 {
		flags = append(flags, fmt.Sprintf(`{"key":"f%d","name":"F","rules":[{"segmentKeys":["s"]}]}`, i))
	}
	body := `{"document":{"segments":[{"key":"s","name":"S"}],"flags":[` + strings.Join(flags, ",") + `]}}`
	if got := s.do("POST", "/api/v1/namespaces/default/import", body); got.status != 200 {
		t.Fatalf("import: %d %s", got.status, got.body)
	}
	token, sizes := "", ""
	for range 4 {
		got := s.do("GET", "/api/v1/namespaces/default/segments/s/usage?limit=500&pageToken="+token, "")
		sizes += fmt.Sprint(strings.Count(got.body, `"flagKey"`), " ")
		if token = got.field(t, "nextPageToken"); token == "" {
			break
		}
	}
	if sizes != "50 50 20 " {
		t.Errorf("got pages of %s", sizes)
	}
}

// TestListFlagUses checks what is said of the flags that require another, and its pages, which are never
// longer than 50 flags.
func TestListFlagUses(t *testing.T) {
	s := newServer(t)
	flags := []string{`{"key":"api","name":"API","type":"BOOLEAN_FLAG_TYPE"}`, `{"key":"used-by-none","name":"Used by none"}`}
	for i := range 118 {
		flags = append(flags, fmt.Sprintf(`{"key":"f%03d","name":"F","requires":[{"flagKey":"api"}]}`, i))
	}
	flags = append(flags,
		`{"key":"b","name":"B","type":"BOOLEAN_FLAG_TYPE","requires":[{"flagKey":"api","answers":["false"]}],"rollouts":[`+
			`{"threshold":{"percentage":1}},{"segment":{"value":true},"everyone":true,"requires":[{"flagKey":"api"}]}]}`,
		`{"key":"a","name":"A","rules":[{"everyone":true,"requires":[{"flagKey":"api"}]}]}`)
	s.must("", "POST", "/api/v1/namespaces/default/import", `{"document":{"flags":[`+strings.Join(flags, ",")+`]}}`)
	const path = "/api/v1/namespaces/default/flags/api/usage"
	wants := []string{
		`{"uses":[{"flagKey":"a","flagName":"A","whole":false,"rules":[0]},{"flagKey":"b","flagName":"B","whole":true,"rules":[1]},` +
			`{"flagKey":"f000","flagName":"F","whole":true,"rules":[]},`,
		`{"uses":[{"flagKey":"f048",`, `{"uses":[{"flagKey":"f098",`,
	}
	token, sizes := "", ""
	for _, want := range wants {
		got := s.must("", "GET", path+"?limit=500&pageToken="+token, "")
		if !strings.HasPrefix(got.body, want) || !strings.HasSuffix(got.body, `"totalCount":120}`) {
			t.Errorf("got %s, want %s", got.body, want)
		}
		sizes += fmt.Sprint(strings.Count(got.body, `"flagKey"`), " ")
		token = got.field(t, "nextPageToken")
	}
	if sizes != "50 50 20 " || token != "" {
		t.Errorf("got pages of %s, and the token %q", sizes, token)
	}
	if got := s.must("", "GET", "/api/v1/namespaces/default/flags/used-by-none/usage", "").body; got != `{"uses":[],"nextPageToken":"","totalCount":0}` {
		t.Errorf("a flag that none requires: got %s", got)
	}
	s.do("GET", path+"?limit=-1", "").fails(t, 400, 3, "invalid field limit: must be greater than or equal to '0'")
	s.do("GET", path+"?pageToken=x", "").fails(t, 400, 3, `pageToken is not valid: "x"`)
}

// TestPreviewFlagReach: an edited flag has the reach that it would have if it were saved,
// and is not saved.
func TestPreviewFlagReach(t *testing.T) {
	s := newAnalyzed(t)
	const path = "/api/v1/namespaces/default/flags/banner/reach"
	stored := s.must("", "GET", path, "").body
	edited := `{"flag":{"name":"Banner","type":"BOOLEAN_FLAG_TYPE","rollouts":[{"threshold":{"percentage":99.9,"value":true}},{"threshold":{"percentage":12.5,"value":true}}]}}`
	got := s.must("", "POST", path, edited).body
	for _, want := range []string{
		`"why":"rule 1 takes everybody who would get here"`, `"state":"ON_FLAG_STATE","everyoneElse":[{"percentage":100,"enabled":true,`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := s.must("", "GET", path, "").body; got != stored {
		t.Errorf("after the preview, the flag has the reach %s, want %s", got, stored)
	}
	s.do("POST", path, `{}`).fails(t, 400, 3, "invalid field flag: must not be empty")
	s.do("POST", path, `{"flag":{"type":1}}`).fails(t, 400, 3, "flag: invalid field name: must not be empty")
}
