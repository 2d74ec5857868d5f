package handler_test

import (
	"strings"
	"testing"
)

// TestRequirements checks what is said of flags and rules that require others: evaluations, OFREP,
// explanations, reach, effects and deletion.
func TestRequirements(t *testing.T) {
	s := newServer(t)
	s.must("", "POST", "/api/v1/namespaces/default/import", `{"document":{"flags":[
		{"key":"invoices","name":"Invoices","type":"BOOLEAN_FLAG_TYPE","enabled":true,"requires":[{"flagKey":"api"}],"metadata":"{\"unmet\":\"its own\"}"},
		{"key":"layout","name":"Layout","enabled":true,"variants":[{"key":"wide"},{"key":"narrow"}],"requires":[{"flagKey":"api","answers":["true"]}],
			"rules":[{"everyone":true,"distributions":[{"variant":"wide","rollout":100}]}]},
		{"key":"banner","name":"Banner","type":"BOOLEAN_FLAG_TYPE","rollouts":[{"segment":{"segmentKeys":[],"value":true},"everyone":true,"requires":[{"flagKey":"layout","answers":["narrow"]}]}]},
		{"key":"api","name":"API","type":"BOOLEAN_FLAG_TYPE"}]}}`)
	const flags = "/api/v1/namespaces/default/flags/"
	for _, tt := range []struct {
		method, path, body string
		want               []string
	}{
		{"POST", "/evaluate/v1/boolean", `{"flagKey":"invoices","entityId":"u"}`, []string{`"enabled":false,"reason":"DEFAULT_EVALUATION_REASON"`}},
		{"POST", "/evaluate/v1/variant", `{"flagKey":"layout","entityId":"u"}`, []string{`"match":false`, `"reason":"FLAG_DISABLED_EVALUATION_REASON","variantKey":""`}},
		{"POST", "/ofrep/v1/evaluate/flags/invoices", `{"context":{"targetingKey":"u"}}`, []string{`"value":false`, `"metadata":{"unmet":"api"}`}},
		{"POST", flags + "invoices/explain", `{"entityId":"u"}`, []string{
			`"requirements":[{"flagKey":"api","answers":["true"],"exists":true,"answer":"false","met":false,"text":"api is false, and must be true"}]`, `"unmet":"api"`,
			`"verdict":"impossible","text":"api is not as the flag requires"`, `"reason":"requirement"`,
		}},
		{"POST", flags + "layout/explain", `{"entityId":"u"}`, []string{`"outcome":"not_reached","text":"not reached: api is not as required"`}},
		{"POST", flags + "banner/explain", `{"entityId":"u"}`, []string{
			`"text":"did not match: layout has no variant, and must be \"narrow\""`, `"text":"layout is not as rule 1 requires"`, `"flagKey":"layout"}]`,
		}},
		{"GET", flags + "banner/reach", "", []string{`"cause":"NEVER_MET_REACH_CAUSE"`, `"why":"it requires flag layout, which never gives that answer"`, `"unmetFlag":"layout"`}},
		{"POST", flags + "api/effect", `{"turnOn":true}`, []string{
			`"dependents":[{"flagKey":"invoices","effect":{"type":"BOOLEAN_FLAG_TYPE"`, `"everyone":"everyone gets On"`, `{"flagKey":"layout"`, `"everyone":"everyone gets wide"`,
		}},
		{"DELETE", flags + "api", "", []string{`flag \"default/api\" is required by flag \"invoices\"`}},
	} {
		r := s.do(tt.method, tt.path, tt.body)
		for _, want := range tt.want {
			if !strings.Contains(r.body, want) {
				t.Errorf("%s: got\n%s\nwant\n%s", tt.path, r.body, want)
			}
		}
		if strings.HasSuffix(tt.path, "api/effect") && strings.Contains(r.body, `"flagKey":"banner"`) {
			t.Errorf("the effect names banner, for which nothing changes:\n%s", r.body)
		}
	}
}
