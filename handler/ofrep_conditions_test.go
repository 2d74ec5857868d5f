package handler_test

import (
	"strings"
	"testing"
)

// conditional has rules with conditions. All of its entities are in the segment everyone, and
// none is in the segment never.
const conditional = `
version: guidon/1
namespace: {key: default, name: Default}
flags:
  - {key: b-tenth, name: N, type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {key: everyone, value: true}, portion: {percentage: 10}}]}
  - {key: b-whole, name: N, type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {value: true}, everyone: true, portion: {percentage: 100}}]}
  - {key: b-empty, name: N, type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {value: true}, everyone: true, portion: {percentage: 0, start: 50}}]}
  - {key: b-by, name: N, type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {value: true}, everyone: true, portion: {percentage: 99.999, by: tenant}}]}
  - {key: b-not-in, name: N, type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {key: never, value: true}, portion: {percentage: 10}}]}
  - {key: b-excepted, name: N, type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {value: true}, everyone: true, except: [everyone], portion: {percentage: 10}}]}
  - {key: t-by, name: N, type: BOOLEAN_FLAG_TYPE, rollouts: [{threshold: {percentage: 99.999, value: true, by: tenant, hash: murmur3}}]}
  - {key: t-fine, name: N, type: BOOLEAN_FLAG_TYPE, rollouts: [{threshold: {percentage: 12.5, value: true, hash: flipt-fine}}]}
  - {key: t-whole, name: N, type: BOOLEAN_FLAG_TYPE, rollouts: [{threshold: {percentage: 100, value: true, seed: layer}}]}
  - {key: t-empty, name: N, type: BOOLEAN_FLAG_TYPE, rollouts: [{threshold: {percentage: 0, start: 20, value: true}}]}
  - {key: t-seed, name: N, type: BOOLEAN_FLAG_TYPE, rollouts: [{threshold: {percentage: 50, value: true, seed: layer}}]}
  - {key: v-by, name: N, enabled: true, variants: [{key: a}, {key: b}], rules: [{everyone: true, split: {by: tenant}, distributions: [{variant: a, rollout: 99.999}, {variant: b, rollout: 0.001}]}]}
  - {key: v-seed, name: N, enabled: true, variants: [{key: a}, {key: b}], rules: [{everyone: true, split: {seed: s}, distributions: [{variant: a, rollout: 50}, {variant: b, rollout: 50}]}]}
  - {key: v-one, name: N, enabled: true, variants: [{key: a}], rules: [{everyone: true, split: {seed: s}, distributions: [{variant: a, rollout: 100}]}]}
  - {key: v-tenth, name: N, enabled: true, variants: [{key: a}, {key: z, default: true}], rules: [{everyone: true, portion: {percentage: 10}, distributions: [{variant: a, rollout: 100}]}]}
  - {key: v-if, name: N, enabled: true, variants: [{key: a}], rules: [{if: [{any: [{type: VERSION_COMPARISON_TYPE, property: app, operator: gte, value: "2.4"}]}], distributions: [{variant: a, rollout: 100}]}]}
  - {key: c-all, name: N, enabled: true, variants: [{key: z, attachment: 1, default: true}], rules: [{everyone: true, code_default: true}]}
  - {key: c-segment, name: N, enabled: true, variants: [{key: z, default: true}], rules: [{segment: everyone, code_default: true}]}
  - {key: c-tenth, name: N, enabled: true, variants: [{key: z, default: true}], rules: [{everyone: true, portion: {percentage: 10}, code_default: true}]}
  - {key: c-split, name: N, enabled: true, variants: [{key: z, default: true}], rules: [{everyone: true, split: {seed: s}, code_default: true}]}
  - {key: c-off, name: N, variants: [{key: z, default: true}], rules: [{everyone: true, code_default: true}]}
  - {key: c-typed, name: N, enabled: true, metadata: {openfeature.value: attachment}, variants: [{key: z, attachment: 1, default: true}], rules: [{everyone: true, code_default: true}]}
segments:
  - {key: everyone, name: S}
  - {key: never, name: S, constraints: [{type: STRING_COMPARISON_TYPE, property: "no", operator: eq, value: "no"}]}
`

// TestOFREPConditions tests OFREP 11 for rules with conditions: which of them need a targeting
// key, and the form of the default in the code. Bulk responses have the same entries.
func TestOFREPConditions(t *testing.T) {
	s := newServer(t)
	s.load(conditional)
	const keyless = `"errorCode":"TARGETING_KEY_MISSING"`
	isTrue := func(reason string) string { return `"value":true,"variant":"true","reason":"` + reason + `"}` }
	isFalse := `"value":false,"variant":"false","reason":"DEFAULT"}`
	is := func(variant, reason string) string {
		return `"value":"` + variant + `","variant":"` + variant + `","reason":"` + reason + `"`
	}
	const codeDefault = `"variant":"","reason":"DEFAULT"`
	for _, test := range []struct{ flag, context, want string }{
		{"b-tenth", `{}`, keyless},
		{"b-tenth", `{"targetingKey":"user-1"}`, isFalse},
		{"b-tenth", `{"targetingKey":"user-24"}`, isTrue("SPLIT")},
		{"b-whole", `{}`, isTrue("TARGETING_MATCH")},
		{"b-empty", `{}`, isFalse},
		{"b-by", `{}`, isFalse},
		{"b-by", `{"tenant":"acme"}`, isTrue("SPLIT")},
		{"b-not-in", `{}`, isFalse},
		{"b-excepted", `{}`, isFalse},
		{"t-by", `{}`, isFalse},
		{"t-by", `{"tenant":"acme"}`, isTrue("SPLIT")},
		{"t-fine", `{}`, keyless},
		{"t-whole", `{}`, isTrue("TARGETING_MATCH")},
		{"t-empty", `{}`, isFalse},
		{"t-seed", `{}`, keyless},
		{"v-by", `{}`, codeDefault + `}`},
		{"v-by", `{"tenant":"acme"}`, is("a", "SPLIT")},
		{"v-seed", `{}`, keyless},
		{"v-one", `{}`, is("a", "TARGETING_MATCH")},
		{"v-tenth", `{}`, keyless},
		{"v-tenth", `{"targetingKey":"user-1"}`, is("z", "DEFAULT")},
		{"v-tenth", `{"targetingKey":"user-11"}`, is("a", "SPLIT")},
		{"v-if", `{"app":"2.10"}`, is("a", "TARGETING_MATCH")},
		{"v-if", `{"app":"2.3"}`, codeDefault + `}`},
		{"c-all", `{}`, codeDefault + `}`},
		{"c-segment", `{}`, codeDefault + `,"metadata":{"segments":"everyone"}}`},
		{"c-tenth", `{}`, keyless},
		{"c-split", `{}`, codeDefault + `}`},
		{"c-off", `{}`, is("z", "DISABLED")},
		{"c-typed", `{}`, codeDefault + `}`},
	} {
		body := `{"context":` + test.context + `}`
		one := s.do("POST", ofrepPath+"/"+test.flag, body)
		want := `{"key":"` + test.flag + `",` + test.want
		status := 200
		if test.want == keyless {
			status = 400
		}
		if one.status != status || !strings.HasPrefix(one.body, want) {
			t.Errorf("%s of %s: got %d %s, want %d %s", test.flag, test.context, one.status, one.body, status, want)
		}
		if bulk := s.do("POST", ofrepPath, body); bulk.status != 200 || !strings.Contains(bulk.body, one.body) {
			t.Errorf("bulk response to %s: got %d %s, want one with %s", test.context, bulk.status, bulk.body, one.body)
		}
	}
}
