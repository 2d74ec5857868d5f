package flag_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// requiring is flags that require others, themselves and in rules.
const requiring = `
version: guidon/1
flags:
  - {key: new-api, name: New API, type: BOOLEAN_FLAG_TYPE, enabled: true}
  - key: price
    name: Price test
    type: VARIANT_FLAG_TYPE
    enabled: true
    variants: [{key: a, default: true}, {key: b}, {key: c}]
  - key: invoices
    name: Invoices
    type: BOOLEAN_FLAG_TYPE
    requires: [{flag: new-api}, {flag: price, is: [c, b]}]
    rollouts:
      - segment: {value: true}
        everyone: true
        requires: [{flag: price, is: [b]}, {flag: new-api, is: ["false", "true"]}]
        portion: {percentage: 50, ramp: {start: 2026-11-28T00:00:00Z, over: 72h}}
      - threshold: {percentage: 10, value: true}
  - key: checkout
    name: Checkout
    type: VARIANT_FLAG_TYPE
    enabled: true
    requires: [{flag: new-api, is: ["false"]}]
    variants: [{key: classic, default: true}, {key: express}]
    rules:
      - segment: beta
        requires: [{flag: new-api}]
        distributions: [{variant: express, rollout: 100}]
      - everyone: true
        distributions: [{variant: express, rollout: 50}]
segments:
  - {key: beta, name: Beta testers, constraints: [{type: STRING_COMPARISON_TYPE, property: plan, operator: eq, value: beta}]}
`

// requirements returns the required flags of a flag and of its rules, as the API has them.
func requirements(t *testing.T, s *webtest.Server, key string) (all []string) {
	t.Helper()
	f := content(t, s, key)
	all = append(all, body(t, f["requires"]))
	for _, list := range []string{"rollouts", "rules"} {
		rules, _ := f[list].([]any)
		for _, r := range rules {
			all = append(all, body(t, r.(map[string]any)["requires"]))
		}
	}
	return all
}

// TestRequirementsUnchanged: no form of a flag changes the required flags, whatever else is edited.
func TestRequirementsUnchanged(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	putFlag(t, s, requiring)
	for key, edits := range map[string][]struct {
		page   string
		fields []string
	}{
		"invoices": {
			{"?edit=1", []string{"rule.0.portion.share", "60"}}, {"?edit=1", []string{"rule.0.note", "slowly", "rule.0.value", "off"}},
			{"?edit=2", []string{"rule.1.share", "20"}}, {"?edit=else", []string{"else", "on"}}, {"/details", []string{"name", "Bills"}},
		},
		"checkout": {
			{"?edit=1", []string{"rule.0.share.express", "60"}}, {"?edit=2", []string{"rule.1.code", "1"}}, {"?edit=else", []string{"else", "express"}},
			{"/details", []string{"enabled", "off"}}, {"/details", []string{"enabled", "on"}}, {"/variants?edit=2", []string{"variant.1.key", "fast"}},
		},
	} {
		before := body(t, content(t, s, key))
		want := requirements(t, s, key)
		for i := range 4 {
			r := s.Get(fmt.Sprint(flags, key, "?edit=", i)).Check(200)
			r = press(t, s, press(t, s, r, "draft").Check(200), fmt.Sprint("done:", i-1)).Check(200).Lacks("unsaved change")
			press(t, s, r, "review").Check(200)
			if got := press(t, s, r, "save").Location(); !strings.HasSuffix(got, "?saved=none") {
				t.Errorf("%s, rule %d: saving nothing leads to %s", key, i, got)
			}
		}
		if after := body(t, content(t, s, key)); after != before {
			t.Errorf("%s changed (-before +after):\n%s", key, cmp.Diff(before, after))
		}
		for _, e := range edits {
			r := press(t, s, s.Get(flags+key+e.page).Check(200), "draft", e.fields...).Check(200)
			press(t, s, press(t, s, r, "review").Check(200), "save").Location()
			if diff := cmp.Diff(want, requirements(t, s, key)); diff != "" {
				t.Errorf("%s%s, %q (-before +after):\n%s", key, e.page, e.fields, diff)
			}
		}
		for _, verb := range []string{"turn-off", "turn-on"} {
			press(t, s, s.Get(flags+key+"/turn-off").Check(200), verb).Location()
		}
		if key == "checkout" { // a boolean flag that is turned off has no rules until it is turned on
			press(t, s, s.Get(flags+key+"/copy").Check(200), "copy", "key", "twin").Location()
		}
		for _, k := range []string{key, map[string]string{"checkout": "twin"}[key]} {
			if k != "" {
				if diff := cmp.Diff(want, requirements(t, s, k)); diff != "" {
					t.Errorf("%s after a switch or as a copy (-before +after):\n%s", k, diff)
				}
			}
		}
	}
}

// TestRequirementConflict: a draft keeps required flags when another user changes the flag.
func TestRequirementConflict(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	putFlag(t, s, requiring)
	jonas := s.As(s.SignIn(service.TokenInput{Name: "Jonas"}))
	for _, mine := range [][]string{{"rule.0.portion.share", "60"}, {"rule.0.portion.share", "70"}} {
		want := requirements(t, s, "invoices")
		r := s.Get(flags + "invoices?edit=1").Check(200)
		press(t, jonas, jonas.Get(flags+"invoices?edit=2"), "save", "rule.1.share", mine[1]).Location()
		r = press(t, s, r, "save", mine...).Check(409)
		press(t, s, press(t, s, r, "continue").Check(200), "save").Location()
		if diff := cmp.Diff(want, requirements(t, s, "invoices")); diff != "" {
			t.Errorf("the required flags changed (-before +after):\n%s", diff)
		}
	}
}
