package change_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// list returns the differences in a short form: operation, path, values and summary.
func list(differences []change.Difference) []string {
	var out []string
	for _, d := range differences {
		line := fmt.Sprintf("%s %s", d.Op, d.Path)
		if d.From > 0 || d.To > 0 {
			line += fmt.Sprintf(" (%d to %d)", d.From, d.To)
		}
		for _, value := range []json.RawMessage{d.Before, d.After} {
			if value != nil {
				line += " " + string(value)
			}
		}
		out = append(out, line+" | "+d.Summary)
	}
	return out
}

// withIDs gives the parts of the flag ids that no other flag has, and returns it.
func withIDs(prefix string, f *guidon.Flag) *guidon.Flag {
	for i, v := range f.Variants {
		old := v.ID
		v.ID = prefix + "-variant-" + fmt.Sprint(i)
		if f.DefaultVariantID == old {
			f.DefaultVariantID = v.ID
		}
		for _, r := range f.Rules {
			for _, d := range r.Distributions {
				if d.VariantID == old {
					d.VariantID = v.ID
				}
			}
		}
	}
	for i, r := range f.Rules {
		r.ID = prefix + "-rule-" + fmt.Sprint(i)
		for j, d := range r.Distributions {
			d.ID = r.ID + fmt.Sprint("-", j)
		}
	}
	for i, r := range f.Rollouts {
		r.ID = prefix + "-rollout-" + fmt.Sprint(i)
	}
	return f
}

func boolean(rollouts ...*guidon.Rollout) *guidon.Flag {
	return flagtest.BooleanFlag("f", true, rollouts...)
}

func staff(value bool) *guidon.Rollout {
	return flagtest.SegmentRollout(value, guidon.OrSegments, "staff")
}

func variantFlag(rules ...*guidon.Rule) *guidon.Flag { return flagtest.VariantFlag("f", rules...) }

// edited returns the object after a change.
func edited[T any](object *T, edit func(*T)) *T {
	edit(object)
	return object
}

func TestCompareFlags(t *testing.T) {
	half := flagtest.Shares{50, 50}
	for _, test := range []struct {
		name          string
		before, after *guidon.Flag
		want          []string
	}{
		{"nothing", variantFlag(flagtest.Rule(half, "a")), variantFlag(flagtest.Rule(half, "a")), nil},
		{"fields", boolean(), edited(boolean(), func(f *guidon.Flag) { f.Name, f.Enabled, f.Description = "g", false, strings.Repeat("x", 41) }), []string{
			`replace name "f" "g" | name "f" → "g"`,
			`replace description "" "` + strings.Repeat("x", 41) + `" | description added`,
			`replace enabled true false | default value on → off`,
		}},
		{"the type", boolean(), edited(boolean(), func(f *guidon.Flag) { f.Type = guidon.VariantFlag }), []string{
			`replace type "BOOLEAN_FLAG_TYPE" "VARIANT_FLAG_TYPE" | type boolean → variant`,
		}},
		{"metadata", edited(boolean(), func(f *guidon.Flag) { f.Metadata = json.RawMessage(`{"a":1,"b":"x","c":[]}`) }),
			edited(boolean(), func(f *guidon.Flag) { f.Metadata = json.RawMessage(`{"a":2,"c":[],"d.e [f]":null}`) }), []string{
				`remove metadata["b"] "x" | metadata "b" removed ("x")`,
				`replace metadata["a"] 1 2 | metadata "a" 1 → 2`,
				`add metadata["d.e [f]"] null | metadata "d.e [f]" added (null)`,
			}},
		{"the order of metadata", edited(boolean(), func(f *guidon.Flag) { f.Metadata = json.RawMessage(`{"a":1,"b":2}`) }),
			edited(boolean(), func(f *guidon.Flag) { f.Metadata = json.RawMessage(`{"b":2,"a":1}`) }), []string{
				`replace metadata {"a":1,"b":2} {"b":2,"a":1} | metadata changed`,
			}},
		{"escapes in JSON", edited(boolean(), func(f *guidon.Flag) { f.Metadata = json.RawMessage(`{"a":"ä"}`) }),
			edited(boolean(), func(f *guidon.Flag) { f.Metadata = json.RawMessage(`{"a":"\u00e4"}`) }), nil},
		{"the default variant", variantFlag(), flagtest.WithDefault(variantFlag(), "B"), []string{
			`replace defaultVariant "" "B" | default variant nothing → "B"`,
		}},
		{"a variant", variantFlag(), edited(variantFlag(), func(f *guidon.Flag) { f.Variants[1].Attachment = `{"is":"other"}` }), []string{
			`replace variants["B"].attachment "{\"is\":\"B\"}" "{\"is\":\"other\"}" | variant "B": attachment changed`,
		}},
		{"the key of a variant", edited(variantFlag(flagtest.Rule(half, "a")), func(f *guidon.Flag) { f.Variants = f.Variants[:2] }),
			edited(variantFlag(flagtest.Rule(half, "a")), func(f *guidon.Flag) { f.Variants = f.Variants[:2]; f.Variants[1].Key = "New" }), []string{
				`remove variants["B"] (2 to 0) {"key":"B","attachment":"{\"is\":\"B\"}"} | variant "B" removed`,
				`add variants["New"] (0 to 2) {"key":"New","attachment":"{\"is\":\"B\"}"} | variant "New" added`,
				`replace rules[0].distributions[1].variant "B" "New" | rule 1: share of "New": variant "B" → "New"`,
			}},
		{"a percentage", boolean(staff(true), flagtest.Threshold(10, true)), boolean(staff(true), flagtest.Threshold(50, true)), []string{
			`replace rollouts[1].threshold.percentage 10 50 | rule 2: share 10% → 50%`,
		}},
		{"a value of a rollout", boolean(staff(true)), boolean(staff(false)), []string{
			`replace rollouts[0].segment.value true false | rule 1: result on → off`,
		}},
		{"a distribution", variantFlag(flagtest.Rule(half, "a")), variantFlag(flagtest.Rule(flagtest.Shares{50, 20}, "a")), []string{
			`replace rules[0].distributions[1].rollout 50 20 | rule 1: share of "B" 50% → 20%`,
		}},
		{"an added distribution", variantFlag(flagtest.Rule(half, "a")), variantFlag(flagtest.Rule(flagtest.Shares{50, 50, 0.5}, "a")), []string{
			`add rules[0].distributions[2] (0 to 3) {"variant":"C","rollout":0.5} | rule 1: share of "C" added (0.5% "C")`,
		}},
		{"a moved rule", variantFlag(flagtest.Rule(half, "a"), flagtest.Rule(half, "b"), flagtest.Rule(half, "c")),
			variantFlag(flagtest.Rule(half, "c"), flagtest.Rule(half, "a"), flagtest.Rule(half, "b")), []string{
				`move rules[0] (3 to 1) | rule 3 moved to 1`,
			}},
		{"a rule moved and changed", variantFlag(flagtest.Rule(half, "a"), flagtest.Rule(half, "b")),
			variantFlag(flagtest.Rule(flagtest.Shares{100}, "b"), flagtest.Rule(half, "a")), []string{
				`move rules[0] (2 to 1) | rule 2 moved to 1`,
				`remove rules[0].distributions[1] (2 to 0) {"variant":"B","rollout":50} | rule 1: share of "B" removed (50% "B")`,
				`replace rules[0].distributions[0].rollout 50 100 | rule 1: share of "A" 50% → 100%`,
			}},
		{"the segments of a rule", variantFlag(flagtest.Rule(half, "a")), variantFlag(flagtest.RuleOfAll(half, "a", "b")), []string{
			`replace rules[0].segmentKeys ["a"] ["a","b"] | rule 1: segments a → a, b`,
			`replace rules[0].segmentOperator "OR_SEGMENT_OPERATOR" "AND_SEGMENT_OPERATOR" | rule 1: segments that must match any → all`,
		}},
		{"rules that have nothing in common", variantFlag(flagtest.Rule(flagtest.Shares{100}, "a")), variantFlag(flagtest.Rule(half, "b")), []string{
			`remove rules[0] (1 to 0) {"segmentKeys":["a"],"segmentOperator":"OR_SEGMENT_OPERATOR","distributions":[{"variant":"A","rollout":100}]} | rule 1 removed (segments a, 100% "A")`,
			`add rules[0] (0 to 1) {"segmentKeys":["b"],"segmentOperator":"OR_SEGMENT_OPERATOR","distributions":[{"variant":"A","rollout":50},{"variant":"B","rollout":50}]} | rule 1 added (segments b, 50% "A", 50% "B")`,
		}},
		{"rollouts added and moved", boolean(staff(true), flagtest.Threshold(10, true)), boolean(flagtest.Threshold(10, true), staff(true), staff(false)), []string{
			`move rollouts[0] (2 to 1) | rule 2 moved to 1`,
			`add rollouts[2] (0 to 3) {"segment":{"segmentKeys":["staff"],"segmentOperator":"OR_SEGMENT_OPERATOR","value":false}} | rule 3 added (segments staff: off)`,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := change.Compare(withIDs("before", test.before), withIDs("after", test.after))
			if diff := cmp.Diff(test.want, list(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCompareSegments(t *testing.T) {
	plan := &guidon.Constraint{ID: "1", Type: guidon.StringComparison, Property: "plan", Operator: guidon.OpEQ, Value: "pro"}
	version := &guidon.Constraint{ID: "2", Type: guidon.NumberComparison, Property: "version", Operator: guidon.OpGT, Value: "5"}
	team := *plan
	team.ID, team.Value = "3", "team"
	user := &guidon.Constraint{ID: "4", Type: guidon.EntityIDComparison, Property: "entityId", Operator: guidon.OpEQ, Value: "\x1b[2J"}
	got := change.Compare(flagtest.Segment("s", guidon.MatchAll, plan, version), flagtest.Segment("s", guidon.MatchAny, version, &team, user))
	want := []string{
		`replace matchType "ALL_MATCH_TYPE" "ANY_MATCH_TYPE" | constraints that must match all → any`,
		`move constraints[0] (2 to 1) | constraint 2 moved to 1`,
		`replace constraints[1].value "pro" "team" | constraint 2: value pro → team`,
		`add constraints[2] (0 to 3) {"type":"ENTITY_ID_COMPARISON_TYPE","property":"entityId","operator":"eq","value":"\u001b[2J"} | constraint 3 added (entity is "\x1b[2J")`,
	}
	if diff := cmp.Diff(want, list(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCompareNegations: a negation is in words and in JSON forms, if there is one.
func TestCompareNegations(t *testing.T) {
	plan := func(value string, negate bool) *guidon.Segment {
		c := &guidon.Constraint{ID: "1", Type: guidon.StringComparison, Property: "plan", Operator: guidon.OpEQ, Value: value, Negate: negate}
		return flagtest.Segment("s", guidon.MatchAll, c)
	}
	for _, test := range []struct {
		name          string
		before, after *guidon.Segment
		want          []string
	}{
		{"negated", plan("pro", false), plan("pro", true), []string{`replace constraints[0].negate false true | constraint 1 negated`}},
		{"no longer", plan("pro", true), plan("pro", false), []string{`replace constraints[0].negate true false | constraint 1 no longer negated`}},
		{"with another value", plan("pro", false), plan("team", true), []string{
			`replace constraints[0].value "pro" "team" | constraint 1: value pro → team`, `replace constraints[0].negate false true | constraint 1 negated`,
		}},
		{"added", flagtest.Segment("s", guidon.MatchAll), plan("pro", true), []string{
			`add constraints[0] (0 to 1) {"type":"STRING_COMPARISON_TYPE","property":"plan","operator":"eq","value":"pro","negate":true} | constraint 1 added (not (plan is pro))`,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, list(change.Compare(test.before, test.after))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOutline(t *testing.T) {
	before := change.Objects{
		Namespace: &guidon.Namespace{Key: "production", Name: "Shop"},
		Flags:     flags("same", "gone", "other"),
		Segments:  segments("same", "gone"),
	}
	after := change.Objects{
		Namespace: &guidon.Namespace{Key: "staging", Name: "Shop", Protected: true},
		Flags:     flags("new-b", "other", "new-a", "same"),
		Segments:  segments("same"),
	}
	after.Flags[1].Enabled = true
	c := change.Outline(before, after)
	if c.Namespace == nil || c.Namespace.Action() != change.ActionUpdate || len(c.Segments) != 1 || c.Segments[0].Summary() != "deleted" {
		t.Errorf("got the namespace %+v and the segments %+v", c.Namespace, c.Segments)
	}
	var got []string
	for _, f := range c.Flags {
		got = append(got, fmt.Sprintf("%s %s", f.Action(), f.Key))
	}
	want := []string{"delete gone", "create new-a", "create new-b", "update other"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c.Flags[3].Before != before.Flags[2] || c.Flags[3].After != after.Flags[1] || c.Flags[1].Before != nil {
		t.Error("the objects are not those of the states")
	}
	if same := change.Outline(before, before); !isEmpty(same) {
		t.Errorf("a state differs from itself: %+v", same)
	}
	absent := change.Outline(before, change.Objects{})
	if absent.Namespace == nil || absent.Namespace.Action() != change.ActionDelete || absent.Namespace.Key != "production" {
		t.Errorf("got %+v, want a deleted namespace", absent.Namespace)
	}
}

func isEmpty(c change.Comparison) bool {
	return c.Namespace == nil && len(c.Segments) == 0 && len(c.Flags) == 0
}

// notCompared are the fields of flags and segments that are no content: other than in the
// change log, ids and times make no difference, and the order stands for the ranks. Keys
// identify objects.
var notCompared = map[string][]string{
	"flag": {
		"CreatedAt", "Key", "Rollouts.CreatedAt", "Rollouts.ID", "Rollouts.Rank", "Rollouts.UpdatedAt", "Rules.CreatedAt",
		"Rules.Distributions.CreatedAt", "Rules.Distributions.ID", "Rules.Distributions.UpdatedAt", "Rules.ID", "Rules.Rank",
		"Rules.UpdatedAt", "UpdatedAt", "Variants.CreatedAt", "Variants.UpdatedAt",
	},
	"namespace": {"CreatedAt", "Key", "UpdatedAt"},
	"segment":   {"Constraints.CreatedAt", "Constraints.ID", "Constraints.UpdatedAt", "CreatedAt", "Key", "UpdatedAt"},
}

// TestEveryFieldIsCompared: a change of any field of a namespace, flag or segment is a
// difference, unless notCompared lists the field. Ids of variants count if others refer to them.
func TestEveryFieldIsCompared(t *testing.T) {
	for i, f := range flagtest.FilledFlags() {
		want := notCompared["flag"]
		lost := flagtest.LostFields(f, func(f *guidon.Flag) string {
			return strings.Join(list(change.Compare(flagtest.FilledFlags()[i], f)), "\n")
		})
		if diff := cmp.Diff(want, lost); diff != "" {
			t.Errorf("%s flag (-want +got):\n%s", f.Key, diff)
		}
	}
	lost := flagtest.LostFields(flagtest.FilledSegment("s"), func(g *guidon.Segment) string {
		return strings.Join(list(change.Compare(flagtest.FilledSegment("s"), g)), "\n")
	})
	if diff := cmp.Diff(notCompared["segment"], lost); diff != "" {
		t.Errorf("segment (-want +got):\n%s", diff)
	}
	lost = flagtest.LostFields(flagtest.FilledNamespace("n"), func(n *guidon.Namespace) string {
		return strings.Join(list(change.Compare(flagtest.FilledNamespace("n"), n)), "\n")
	})
	if diff := cmp.Diff(notCompared["namespace"], lost); diff != "" {
		t.Errorf("namespace (-want +got):\n%s", diff)
	}
}

// BenchmarkCompare compares two namespaces of 10,000 flags: equal ones with other ids and
// times, as after a promotion, and ones of which every flag differs.
func BenchmarkCompare(b *testing.B) {
	state := func(seed uint64, edit bool) change.Objects {
		s := flagtest.NewSource(seed)
		flags, segments := s.State(10_000)
		if edit {
			for i, f := range flags {
				flags[i] = s.EditFlag(f)
			}
		}
		return change.Objects{Flags: flags, Segments: segments}
	}
	production := state(1, false)
	staging := state(1, false)
	for _, f := range staging.Flags {
		withIDs(f.Key, f)
	}
	b.Run("equal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if c := change.Outline(production, staging); !isEmpty(c) {
				b.Fatalf("%d flags differ", len(c.Flags))
			}
		}
	})
	changed := state(1, true)
	b.Run("different", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c := change.Outline(production, changed)
			if len(c.Flags) < 5_000 {
				b.Fatalf("%d flags differ", len(c.Flags))
			}
			for _, f := range c.Flags {
				change.Compare(f.Before, f.After)
			}
		}
	})
}
