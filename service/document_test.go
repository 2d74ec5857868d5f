package service_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

func TestValidate(t *testing.T) {
	d := parse(t, `namespace: {key: "a b"}
flags:
- {key: ok, name: OK, rules: [{segment: s, rank: 1}, {segment: s, rank: 1}]}
- {key: ok, name: Again}
- {key: a.b, name: Dot, type: BOOLEAN_FLAG_TYPE}
- {name: Keyless}
- key: f
  variants: [{key: v}, {key: v}, {name: n}]
  rules:
  - {segment: nowhere, distributions: [{variant: w, rollout: 10}, {variant: v, rollout: 100.5}, {variant: v, rollout: -1}]}
  - {}
  - {segment: s, rank: -1}
  rollouts:
  - {}
  - {segment: {}, threshold: {percentage: 101}}
  - {segment: {key: nowhere}}
  - {segment: {value: true}}
segments:
- {key: s, name: S, constraints: [{type: NUMBER_COMPARISON_TYPE, property: p, operator: prefix, value: 1}, {property: p, operator: eq}, {type: STRING_COMPARISON_TYPE, property: p, operator: eq}]}
- {key: s, name: Again}
`)
	want := strings.Join([]string{
		`namespace: invalid field key: contains invalid characters`,
		`segments[0] "s": constraints[0]: constraint operator "prefix" is not valid for type number; it must be one of eq, neq, lt, lte, gt, gte, isoneof, isnotoneof, present, notpresent`,
		`segments[0] "s": constraints[1]: invalid constraint type: "UNKNOWN_COMPARISON_TYPE"`,
		`segments[0] "s": constraints[2]: invalid field value: must not be empty`,
		`segments[1] "s": segment "s" is not unique`,
		`flags[1] "ok": flag "ok" is not unique`,
		`flags[2] "a.b": invalid field key: contains invalid characters`,
		`flags[3] "": invalid field key: must not be empty`,
		`flags[4] "f": invalid field name: must not be empty`,
		`flags[4] "f": variants[1] "v": variant "v" is not unique`,
		`flags[4] "f": variants[2] "": invalid field key: must not be empty`,
		`flags[4] "f": rules[0]: segment "nowhere" not found`,
		`flags[4] "f": rules[0]: distributions[0]: finding variant: w; flag: f`,
		`flags[4] "f": rules[0]: distributions[1]: invalid field rollout: must be less than or equal to '100'`,
		`flags[4] "f": rules[0]: distributions[2]: invalid field rollout: must be greater than or equal to '0'`,
		`flags[4] "f": rules[1]: invalid field segmentKey or segmentKeys: must not be empty`,
		`flags[4] "f": rules[2]: invalid field rank: must be greater than 0`,
		`flags[4] "f": rollouts[0]: rollout rule is missing`,
		`flags[4] "f": rollouts[1]: invalid field segment or threshold: only one can be present`,
		`flags[4] "f": rollouts[1]: invalid field threshold.percentage: must be within range [0, 100]`,
		`flags[4] "f": rollouts[2]: segment "nowhere" not found`,
		`flags[4] "f": rollouts[3]: invalid field segmentKey or segmentKeys: must not be empty`,
	}, "\n")
	err := d.Validate()
	if err == nil || !errors.Is(err, guidon.InvalidArgument) {
		t.Fatalf("got %v, want InvalidArgument", err)
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// TestValidateValues covers values that cannot come from a file.
func TestValidateValues(t *testing.T) {
	for name, d := range map[string]*service.Document{
		"attachment that is not JSON": {Flags: []*guidon.Flag{{Key: "f", Name: "F", Variants: []*guidon.Variant{{Key: "v", Attachment: "{"}}}}},
		"attachment that is too long": {Flags: []*guidon.Flag{{Key: "f", Name: "F", Variants: variants(`"`+strings.Repeat("x", 1000*1024)+`"`, 1)}}},
		"metadata that is a list":     {Flags: []*guidon.Flag{{Key: "f", Name: "F", Metadata: []byte("[]")}}},
		"flag type":                   {Flags: []*guidon.Flag{{Key: "f", Name: "F", Type: 7}}},
		"match type":                  {Segments: []*guidon.Segment{{Key: "s", Name: "S", MatchType: 7}}},
		"share that is not a number": {Flags: []*guidon.Flag{{
			Key: "f", Name: "F", Rollouts: []*guidon.Rollout{{Threshold: &guidon.RolloutThreshold{Percentage: float32(math.NaN())}}},
		}}},
	} {
		if err := d.Validate(); !errors.Is(err, guidon.InvalidArgument) {
			t.Errorf("%s: got %v, want InvalidArgument", name, err)
		}
	}
}

func TestValidateBound(t *testing.T) {
	d := &service.Document{}
	for i := range 80 {
		d.Flags = append(d.Flags, &guidon.Flag{Key: fmt.Sprint("f", i)})
	}
	lines := strings.Split(d.Validate().Error(), "\n")
	if got, want := len(lines), 51; got != want {
		t.Errorf("got %d lines, want %d", got, want)
	}
	if got, want := lines[len(lines)-1], "and 30 more problems"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Text that some database cannot store is rejected with its path, also if only a file
// is validated.
func TestValidateTexts(t *testing.T) {
	for text, rule := range map[string]string{"a\x00b": "must not contain a NUL character", "a\xffb": "must be valid UTF-8"} {
		d := &service.Document{
			Namespace: service.DocumentNamespace{Key: "n", Description: text},
			Segments: []*guidon.Segment{{Key: "s", Name: text, Constraints: []*guidon.Constraint{
				{Type: guidon.StringComparison, Property: "p", Operator: "eq", Value: text},
			}}},
			Flags: []*guidon.Flag{{
				Key: "f", Name: "F", Description: text,
				Variants: []*guidon.Variant{{Key: text}},
				Rollouts: []*guidon.Rollout{{Description: text, Threshold: &guidon.RolloutThreshold{}}},
			}},
		}
		var want []string
		for _, place := range []string{
			"namespace: invalid field description",
			`segments[0] "s": invalid field name`,
			`segments[0] "s": constraints[0]: invalid field value`,
			`flags[0] "f": invalid field description`,
			fmt.Sprintf(`flags[0] "f": variants[0] %q: invalid field key`, text),
			`flags[0] "f": rollouts[0]: invalid field description`,
		} {
			want = append(want, place+": "+rule)
		}
		err := d.Validate()
		if diff := cmp.Diff(strings.Join(want, "\n"), guidon.PublicMessage(err)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}
