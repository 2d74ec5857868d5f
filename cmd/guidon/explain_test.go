package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

const explainedShop = `version: "1.4"
namespace:
  key: default
  name: Default
flags:
- key: checkout
  name: Checkout
  type: VARIANT_FLAG_TYPE
  enabled: true
  variants:
  - key: classic
    default: true
  - key: one-page
  rules:
  - segment: staff
    distributions:
    - variant: one-page
      rollout: 100
  - segment: big-customers
    distributions:
    - variant: classic
      rollout: 50
    - variant: one-page
      rollout: 50
- key: banner
  name: Banner
  type: BOOLEAN_FLAG_TYPE
  enabled: false
  rollouts:
  - segment:
      key: staff
      value: true
segments:
- key: staff
  name: Staff
  match_type: ANY_MATCH_TYPE
  constraints:
  - type: STRING_COMPARISON_TYPE
    property: email
    operator: suffix
    value: "@guidon.example"
- key: big-customers
  name: Big customers
  match_type: ALL_MATCH_TYPE
  constraints:
  - type: STRING_COMPARISON_TYPE
    property: plan
    operator: eq
    value: pro
  - type: NUMBER_COMPARISON_TYPE
    property: seats
    operator: gte
    value: "100"
`

// explainedApps has constraints that are negated.
const explainedApps = `version: guidon/1
namespace: {key: apps, name: Apps}
flags:
- key: upgrade
  name: Upgrade
  type: BOOLEAN_FLAG_TYPE
  enabled: false
  rollouts: [{segment: {key: old, value: true}}]
segments:
- key: old
  name: Old
  constraints:
  - {type: VERSION_COMPARISON_TYPE, property: app, operator: gte, value: "2.4", not: true}
  - {type: STRING_COMPARISON_TYPE, property: country, operator: eq, value: SE, not: true}
`

const explainedNeeds = `version: guidon/1
namespace: needs
flags:
- {key: api, name: API, type: BOOLEAN_FLAG_TYPE}
- {key: layout, name: Layout, enabled: true, requires: [{flag: api}], variants: [{key: wide}], rules: [{everyone: true, distributions: [{variant: wide, rollout: 100}]}]}
- {key: banner, name: Banner, type: BOOLEAN_FLAG_TYPE, rollouts: [
    {segment: {keys: [], value: true}, everyone: true, requires: [{flag: api, is: ["false"]}, {flag: layout, is: [wide]}], portion: {percentage: 100}}]}
`

// TestExplain compares whole outputs. The entity, its context and the form of the output come
// from different flags.
func TestExplain(t *testing.T) {
	s := newShell(t)
	s.ok("import", s.file("shop.yaml", explainedShop))
	s.ok("import", s.file("apps.yaml", explainedApps))
	s.ok("import", s.file("needs.yaml", explainedNeeds))
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"no rule matches", []string{"checkout", "-e", "user-1", "-c", `{"plan":"free","seats":120}`, "--output=table"}, `
default/checkout is classic by default (no rule matched) for user-1
├─ ✗ rule 1 did not match
│  └─ ✗ segment staff
│     └─ ✗ email suffix @guidon.example: missing
└─ ✗ rule 2 did not match
   └─ ✗ segment big-customers: all of
      ├─ ✗ plan eq pro: "free"
      └─ ✓ seats gte 100: "120"
It would be
├─ ✓ classic: if plan were "pro"; then rule 2 decides
└─ ✓ one-page: if email ended with @guidon.example, such as "y@guidon.example"; then rule 1 decides
`},
		{"a context file, and a flag that overrides it", []string{"checkout", "--entity-id", "user-3", "--context-file", s.file("c.json", `{"plan":"pro","seats":"lots"}`), "-c", "seats=120", "--output=table"}, `
default/checkout is one-page (rule 2) for user-3
├─ ✗ rule 1 did not match
│  └─ ✗ segment staff
│     └─ ✗ email suffix @guidon.example: missing
└─ ✓ rule 2 matched: bucket 786 is in 500–999 of "one-page"
   └─ ✓ segment big-customers: all of
      ├─ ✓ plan eq pro: "pro"
      └─ ✓ seats gte 100: "120"
It would be
├─ ✗ classic: not for this entity, because rule 2 has it for buckets 0–499, and the entity is in another one
└─ ✓ classic by default: if seats were not at least 100, such as "99"; then no rule matches
`},
		{"control characters", []string{"banner", "-e", "\x1b[2J", "-c", "email=\x1b[2J", "--output=table"}, `
default/banner is off (the default value) for "\x1b[2J"
└─ ✗ rule 1 did not match
   └─ ✗ segment staff
      └─ ✗ email suffix @guidon.example: "\x1b[2J"
It would be
└─ ✓ on: if email ended with @guidon.example, such as "y@guidon.example"; then rule 1 decides
`},
		{"negated constraints, one with a value that does not parse", []string{"upgrade", "-n", "apps", "-e", "user-1", "-c", "app=beta", "-c", "country=SE", "--output=table"}, `
apps/upgrade is off (the default value) for user-1
└─ ✗ rule 1 did not match
   └─ ✗ segment old: all of
      ├─ ✓ not (app gte 2.4): "beta", the value is not a version
      └─ ✗ not (country eq SE): "SE"
It would be
└─ ✓ on: if country were anything but SE, such as "other"; then rule 1 decides
`},
		{"a flag that requires another", []string{"layout", "-n", "needs", "-e", "u", "--output=table"}, `
needs/layout is no match (api is not as required) for u
├─ ✗ needs: api is false, and must be true
└─ · rule 1 not reached: api is not as required
It would be
└─ ✗ wide: not for this entity, because api is not as the flag requires
`},
		{"a rule that requires others", []string{"banner", "-n", "needs", "-e", "u", "--output=table"}, `
needs/banner is off (the default value) for u
└─ ✗ rule 1 did not match: layout has no variant, and must be "wide"
   ├─ ✓ needs: api is false
   └─ ✗ needs: layout has no variant, and must be "wide"
It would be
└─ ✗ on: not for this entity, because layout is not as rule 1 requires
`},
		{"a list of ids", []string{"banner", "--entities", s.file("ids", "a\n\n  b \n{\"entityId\":\"c\",\"context\":{\"email\":\"c@guidon.example\"}}\n"), "--output=table"}, `
RESULT  ENTITIES  SHARE
off     2         66.7%
on      1         33.3%
`},
		{"an array", []string{"checkout", "--entities", s.file("list", `[{"entityId":"user-3","context":{"plan":"pro","seats":1e2}}]`), "--output=table"}, `
RESULT    ENTITIES  SHARE
one-page  1         100.0%
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, "\n"+s.ok(append([]string{"explain"}, tt.args...)...)); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
	var response struct {
		DecidedBy int
		Counts    []struct {
			VariantKey string
			Count      int
		}
	}
	if err := json.Unmarshal([]byte(s.ok("explain", "checkout", "-e", "user-3", "-c", "plan=pro", "-c", "seats=100")), &response); err != nil || response.DecidedBy != 2 {
		t.Errorf("JSON where there is no terminal: got %+v, %v, want rule 2", response, err)
	}
	if err := json.Unmarshal([]byte(s.ok("explain", "checkout", "--entities", s.file("ids", "a\nb"), "--output=json")), &response); err != nil || len(response.Counts) != 1 || response.Counts[0].Count != 2 {
		t.Errorf("JSON of counts: got %+v, %v", response, err)
	}
}

// TestExplainFails covers wrong input, which evaluate reports in the same way.
func TestExplainFails(t *testing.T) {
	s := newShell(t)
	s.ok("import", s.file("shop.yaml", explainedShop))
	many := s.file("many", strings.Repeat("user\n", 1001))
	for _, tt := range []struct {
		code int
		args []string
		want string
	}{
		{cli.ExitUsage, []string{"explain"}, "missing argument <flag>"},
		{cli.ExitUsage, []string{"explain", "checkout", "--output=tree"}, "must be table, json, yaml or name"},
		{cli.ExitUsage, []string{"explain", "checkout", "-c", "{"}, "invalid --context: must be a JSON object"},
		{cli.ExitUsage, []string{"evaluate", "checkout", "-c", "{"}, "invalid --context: must be a JSON object"},
		{cli.ExitUsage, []string{"explain", "checkout", "-c", "plan"}, "must have the form key=value"},
		{cli.ExitUsage, []string{"explain", "checkout", "--entities", many, "-e", "x"}, "--entities cannot be combined with --entity-id"},
		{cli.ExitFailure, []string{"explain", "checkout", "--context-file", s.file("c.json", `[]`)}, "must be a JSON object"},
		{cli.ExitFailure, []string{"explain", "checkout", "--context-file", "missing.json"}, "missing.json: no such file"},
		{cli.ExitFailure, []string{"explain", "checkout", "--context-file", s.file("large", strings.Repeat(" ", 4<<20)+"{}")}, "must not be longer than 4194304 bytes"},
		{cli.ExitFailure, []string{"explain", "checkout", "--entities", s.file("empty", " \n")}, "empty is empty"},
		{cli.ExitFailure, []string{"explain", "checkout", "--entities", s.file("lines", "a\n{\"entityId\"\n")}, "line 2: must be a JSON object"},
		{cli.ExitFailure, []string{"explain", "checkout", "--entities", s.file("array", "[{]")}, "must be a JSON array, or one JSON object or entity id per line"},
		{cli.ExitFailure, []string{"explain", "checkout", "--entities", many}, "must not contain more than 1000 elements"},
		{cli.ExitFailure, []string{"explain", "nope", "-e", "x"}, `flag "default/nope" not found`},
	} {
		s.fails(tt.code, tt.args, tt.want)
	}
}

// TestEvaluateContext: evaluate takes values of any kind as well.
func TestEvaluateContext(t *testing.T) {
	s := newShell(t)
	s.ok("import", s.file("shop.yaml", explainedShop))
	for _, context := range []string{`{"plan":"pro","seats":120}`, `{"plan":"pro","seats":120.0,"other":[1,{"a":null}]}`} {
		if got, want := s.ok("evaluate", "checkout", "-e", "user-3", "-c", context), `"variantKey": "one-page"`; !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", context, got, want)
		}
	}
	c := s.typing(`{"plan":"pro"}`)
	if got, want := c.ok("evaluate", "checkout", "-e", "user-3", "--context-file", "-", "-c", "seats=100"), fmt.Sprintf("%q: %q", "variantKey", "one-page"); !strings.Contains(got, want) {
		t.Errorf("standard input: got %s, want %s", got, want)
	}
}

// TestExplainSegment prints whether an entity is in a segment, and why.
func TestExplainSegment(t *testing.T) {
	s := newShell(t)
	s.ok("import", s.file("shop.yaml", explainedShop))
	explain := []string{"segment", "explain", "big-customers", "-e", "user-1", "-c", `{"plan":"free","seats":120}`}
	want := `user-1 is not in default/big-customers
└─ ✗ segment big-customers: all of
   ├─ ✗ plan eq pro: "free"
   └─ ✓ seats gte 100: "120"
`
	if got := s.ok(append(explain, "-o", "table")...); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := s.ok(append(explain, "-c", "plan=pro", "-o", "name")...); got != "true\n" {
		t.Errorf("got %q, want true", got)
	}
	if got := s.ok(explain...); !strings.Contains(got, `"matched": false`) {
		t.Errorf("without a terminal: got %s, want JSON", got)
	}
	s.fails(cli.ExitFailure, []string{"segment", "explain", "none"}, `segment "default/none" not found`)
}
