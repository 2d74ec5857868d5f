package document_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/document"
)

// lint returns the findings, one on each line.
func lint(text string, format document.Format, unknown document.Unknown) []string {
	var lines []string
	for _, f := range document.Lint([]byte(text), format, unknown).Findings {
		severity := "error"
		if f.Warning {
			severity = "warning"
		}
		path := f.Path
		if path != "" {
			path += ": "
		}
		lines = append(lines, fmt.Sprintf("%d:%d %s: %s%s", f.Line, f.Column, severity, path, f.Message))
	}
	return lines
}

const forgiven = `version: "1.4"
namespace: shop
flags:
- key: banner
  name: Banner
  descripton: x
  type: BOOLEAN
  rules: []
- key: menu
  name: Menu
  type: VARIANT_FLAG_TYPE
  enabled: true
  variants: [{key: a}, ~]
  rules:
  - segment: all
    rank: 2
    distributions: [{variant: a, rollout: 100}]
  - segment: {keys: [all, nobody], operator: XOR}
    rank: 1
  - segment: nobody
    rank: 3
segments:
- key: all
  name: All
- key: nobody
  name: Nobody
  match_type: ANY_MATCH_TYPE
  constraints:
  - {type: NUMBER_COMPARISON_TYPE, property: ü, operator: gt, value: many}
  - {type: DATETIME_COMPARISON_TYPE, property: d, operator: isoneof, value: "2026-01-01"}
---
namespace: other
colour: red
`

// TestLint: each finding has the place of the mistake.
func TestLint(t *testing.T) {
	for _, test := range []struct {
		name, text string
		format     document.Format
		unknown    document.Unknown
		want       []string
	}{
		{"what an import forgives", forgiven, document.YAML, document.IgnoreUnknown, []string{
			`6:3 warning: flags[0] "banner": unknown member "descripton" is ignored; did you mean description?`,
			`7:9 warning: flags[0] "banner": type: unknown value "BOOLEAN" is read as VARIANT_FLAG_TYPE; did you mean BOOLEAN_FLAG_TYPE?`,
			`13:24 warning: flags[1] "menu": variants[1]: this entry is empty and ignored`,
			`15:5 warning: flags[1] "menu": rules[0]: nobody reaches this: rule 1 takes everybody who would get here`,
			`18:46 warning: flags[1] "menu": rules[1]: segment: operator: unknown value "XOR" is read as OR_SEGMENT_OPERATOR; it must be OR_SEGMENT_OPERATOR or AND_SEGMENT_OPERATOR`,
			`20:5 warning: flags[1] "menu": rules[2]: nobody reaches this: nobody satisfies constraints 1 of segment nobody, 2 of segment nobody`,
			`23:3 warning: segments[0] "all": the segment has no constraints, so it matches everybody`,
			`29:70 warning: segments[1] "nobody": constraints[0]: the constraint never matches: the value of the constraint is not a number`,
			`30:61 warning: segments[1] "nobody": constraints[1]: the constraint never matches: the operator never matches values of this type`,
			`33:1 warning: unknown member "colour" is ignored`,
		}},
		{"rules of other types", "flags:\n- {key: a, name: A, type: BOOLEAN_FLAG_TYPE, rules: [{segment: s}]}\n- key: b\n  name: B\n  rollouts:\n  - threshold: {percentage: 1}\nsegments: [{key: s, name: S, constraints: [{type: STRING_COMPARISON_TYPE, property: p, operator: eq, value: x}]}]\n", document.YAML, document.RejectUnknown, []string{
			`2:53 warning: flags[0] "a": the rules have no effect, because the type of the flag is BOOLEAN_FLAG_TYPE`,
			`6:3 warning: flags[1] "b": the rollouts have no effect, because the type of the flag is VARIANT_FLAG_TYPE`,
		}},
		{"errors", `namespace: {key: shop, color: mauve}
flags:
- key: b c
  name: B
- key: dup
  name: ""
- key: dup
  name: [x]
  enabled: perhaps
  type: BOOLEAN_FLAG_TYPE
  rollouts:
  - segment: {keys: [s, none], value: true}
  - threshold: {percentage: 101}
- key: v
  name: V
  rules:
  - segment: none
    distributions:
    - {variant: ghost, rollout: 1}
segments:
- key: s
  name: S
  constraints:
  - {type: STRING, property: a, operator: eq, value: b}
  - {type: STRING_COMPARISON_TYPE, property: a, operator: gt, value: b}
  - {type: DATETIME_COMPARISON_TYPE, property: a, operator: eq, value: soon}
`, document.YAML, document.RejectUnknown, []string{
			`1:31 error: namespace: invalid field color: COLORS`,
			`3:8 error: flags[0] "b c": invalid field key: contains invalid characters`,
			`6:9 error: flags[1] "dup": invalid field name: must not be empty`,
			`7:8 error: flags[2] "dup": flag "dup" is not unique`,
			`8:9 error: flags[2] "dup": name: must be a string, not a list`,
			`9:12 error: flags[2] "dup": enabled: must be true or false, not a string`,
			`12:25 error: flags[2] "dup": rollouts[0]: segment "none" not found`,
			`13:29 error: flags[2] "dup": rollouts[1]: invalid field threshold.percentage: must be within range [0, 100]`,
			`17:14 error: flags[3] "v": rules[0]: segment "none" not found`,
			`19:17 error: flags[3] "v": rules[0]: distributions[0]: finding variant: ghost; flag: v`,
			`24:12 error: segments[0] "s": constraints[0]: type: unknown value "STRING"; did you mean STRING_COMPARISON_TYPE?`,
			`25:59 error: segments[0] "s": constraints[1]: constraint operator "gt" is not valid for type string; it must be one of eq, neq, empty, notempty, prefix, suffix, contains, notcontains, isoneof, isnotoneof`,
			`26:72 error: segments[0] "s": constraints[2]: parsing datetime from "soon"; it must be like 2026-01-31T15:04:05Z or 2026-01-31`,
		}},
		{"JSON", "# exported\n{\"flags\": [\n\t{\"key\": \"ä\", \"name\": \"A\", \"nme\": 1, \"name\": \"B\"}\n]}\n{\"segments\": [{\"key\": \"s\", \"name\": \"S\"}]}", document.JSON, document.RejectUnknown, []string{
			`3:10 error: flags[0] "ä": invalid field key: contains invalid characters`,
			`3:15 warning: flags[0] "ä": duplicate member "name": the last one counts`,
			`3:28 error: flags[0] "ä": unknown member "nme"; did you mean name?`,
			`5:15 warning: segments[0] "s": the segment has no constraints, so it matches everybody`,
		}},
		{"the id of the entity", "segments:\n- key: s\n  name: S\n  constraints:\n  - {type: STRING_COMPARISON_TYPE, property: entity_id, operator: eq, value: u-1}\n  - {type: ENTITY_ID_COMPARISON_TYPE, property: entityId, operator: eq, value: u-1}\n", document.YAML, document.RejectUnknown, []string{
			`5:12 warning: segments[0] "s": constraints[0]: it compares the property entity_id of the context; for the id of the entity, the type must be ENTITY_ID_COMPARISON_TYPE and the property entityId`,
		}},
		{"a negated constraint", "version: guidon/1\nsegments:\n- key: s\n  name: S\n  constraints:\n  - {type: DATETIME_COMPARISON_TYPE, property: d, operator: isoneof, value: \"2026-01-01\", not: true}\n", document.YAML, document.RejectUnknown, []string{
			`6:61 warning: segments[0] "s": constraints[0]: the constraint always matches: the operator never matches values of this type`,
		}},
		{"requirements of nothing", `version: guidon/1
namespace: shop
flags:
- key: a
  name: A
  type: BOOLEAN_FLAG_TYPE
  requires: [{flag: v, is: [x, z]}, {flag: lost}]
- key: v
  name: V
  variants: [{key: x}]
  rules:
  - everyone: true
  - everyone: true
    requires:
    - flag: a
      is: [yes-please]
    - is: [x]
- key: b
  name: B
  type: BOOLEAN_FLAG_TYPE
  rollouts:
  - segment: {value: true}
    everyone: true
    requires: [{flag: v}, {flag: b}]
`, document.YAML, document.RejectUnknown, []string{
			`7:32 error: flags[0] "a": requires[0]: flag "v" has no variant "z"`,
			`7:44 error: flags[0] "a": requires[1]: flag "shop/lost" not found, which flag "a" requires`,
			`15:5 error: flags[1] "v": rules[1]: invalid field requires[1].flag: must not be empty`,
			`16:12 error: flags[1] "v": rules[1]: requires[0]: flag "a" has no variant "yes-please"`,
			`24:16 error: flags[2] "b": rollouts[0]: requires[0]: flag "v" has no variant "true"`,
		}},
		{"requirements in a cycle", `version: guidon/1
flags:
- {key: a, name: A, type: BOOLEAN_FLAG_TYPE, requires: [{flag: b}]}
- key: b
  name: B
  type: BOOLEAN_FLAG_TYPE
  rollouts:
  - segment: {value: true}
    everyone: true
    requires: [{flag: a}]
- {key: c, name: C, type: BOOLEAN_FLAG_TYPE, requires: [{flag: d}]}
- {key: d, name: D, type: BOOLEAN_FLAG_TYPE, requires: [{flag: e}]}
- {key: e, name: E, type: BOOLEAN_FLAG_TYPE, requires: [{flag: f}]}
- {key: f, name: F, type: BOOLEAN_FLAG_TYPE, requires: [{flag: g}]}
- {key: g, name: G, type: BOOLEAN_FLAG_TYPE, requires: [{flag: h}]}
- {key: h, name: H, type: BOOLEAN_FLAG_TYPE, requires: [{flag: i}]}
- {key: i, name: I, type: BOOLEAN_FLAG_TYPE}
`, document.YAML, document.RejectUnknown, []string{
			`3:56 error: flags[0] "a": flag "a" requires itself: a → b → a`,
			`4:3 error: flags[1] "b": flag "b" requires itself: b → a → b`,
			`11:56 error: flags[2] "c": flag "c" requires too many flags (depth 5, 50 evaluations)`,
		}},
		{"invalid JSON", "{\"flags\": [\n  {\"key\": a}]}", document.JSON, document.RejectUnknown, []string{`2:11 error: invalid character 'a' looking for beginning of value`}},
		{"the second document", "{}\n{\"flags\": }", document.JSON, document.RejectUnknown, []string{`2:11 error: invalid character '}' looking for beginning of value`}},
		{"half of a document", "{}\n{\"flags\": [", document.JSON, document.RejectUnknown, []string{`2:12 error: unexpected end of the input`}},
		{"not UTF-8", "{\"flags\": \"\xff\"}", document.JSON, document.RejectUnknown, []string{`0:0 error: the documents are not valid UTF-8`}},
		{"invalid YAML", "flags: []\nx: a: b\n", document.YAML, document.RejectUnknown, []string{`2:0 error: mapping values are not allowed in this context`}},
		{"invalid first line", "a: b: c\n", document.YAML, document.RejectUnknown, []string{`1:0 error: mapping values are not allowed in this context`}},
		{"unknown anchor", "flags: []\nx: *y\n", document.YAML, document.RejectUnknown, []string{`0:0 error: unknown anchor 'y' referenced`}},
		{"duplicate YAML member", "flags: []\nflags: []\n", document.YAML, document.RejectUnknown, []string{`2:1 error: duplicate member "flags"`}},
		{"not a document", "just text", document.YAML, document.RejectUnknown, []string{`1:1 error: must be an object, not a string`}},
		{"version", "version: 9\n", document.YAML, document.RejectUnknown, []string{`1:10 error: version: unsupported version: 9`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := lint(test.text, test.format, test.unknown)
			for i, line := range got {
				if before, _, colors := strings.Cut(line, "invalid field color: "); colors {
					got[i] = before + "invalid field color: COLORS"
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLintShop: the example has a segment for everybody, and two constraints that never match.
func TestLintShop(t *testing.T) {
	text, err := os.ReadFile("../examples/shop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	report := document.Lint(text, document.YAML, document.RejectUnknown)
	if len(report.Findings) != 3 || report.Errors() > 0 || report.Documents != 2 || report.Flags != 40 {
		t.Errorf("got %+v", report)
	}
}

// TestLintLong: a text that is too long to keep its places is still checked.
func TestLintLong(t *testing.T) {
	text := "namespace: shop\nflags:\n" + strings.Repeat("- key: a b\n  name: A\n  description: "+strings.Repeat("x", 1<<20)+"\n", 17)
	got := lint(text, document.YAML, document.RejectUnknown)
	if len(got) < 18 || !strings.Contains(got[0], `error: flags[0] "a b": invalid field key`) || !strings.Contains(got[len(got)-1], "warning: the file is larger than 16 MiB") {
		t.Errorf("got %q", got)
	}
}

func TestFormatOfText(t *testing.T) {
	for text, want := range map[string]document.Format{
		"": document.YAML, "flags: []": document.YAML, "{flags: []}": document.YAML, "{": document.YAML,
		`{"flags": []}`: document.JSON, "\n {\n}": document.JSON, "# exported by x\n{\"flags\": []}": document.JSON, "\ufeff{}": document.JSON,
	} {
		if got := document.FormatOfText([]byte(text)); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}
