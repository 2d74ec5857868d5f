package analysis_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// describeEffect returns one line for each group of an effect.
func describeEffect(e *analysis.Effect) (lines []string) {
	step := func(i int) string {
		if i == analysis.NoStep {
			return "-"
		}
		return fmt.Sprint(i)
	}
	if e.TypeChanged {
		lines = append(lines, "another type")
	}
	for _, g := range e.Groups {
		who := []string{"everyone", "matching", "changed"}[g.Who]
		text := fmt.Sprintf("%s to %s, %s", step(g.Before), step(g.After), strings.Join(append([]string{who}, g.ChangedSegments...), " "))
		for _, m := range g.Moves {
			text += fmt.Sprintf("; %d %s (%s) > %s (%s)", m.Buckets, outcome(m.From), step(m.FromStep), outcome(m.To), step(m.ToStep))
		}
		lines = append(lines, fmt.Sprintf("%s; %d stay", text, g.Unchanged))
	}
	if e.Truncated {
		lines = append(lines, "truncated")
	}
	return lines
}

func outcome(o analysis.Outcome) string {
	switch {
	case o.Absent:
		return "absent"
	case o.Fails:
		return "error"
	case o.Reason == guidon.ReasonUnknown:
		return "none"
	case o.Reason == guidon.ReasonFlagDisabled:
		return "off " + o.VariantKey
	case o.VariantKey != "":
		return o.VariantKey
	}
	return fmt.Sprint(o.Enabled)
}

// The segments of the tests below. Nobody of staff is a guest.
func testSegments() []*guidon.Segment {
	return []*guidon.Segment{
		flagtest.Everyone(),
		flagtest.Segment("staff", guidon.MatchAll, flagtest.Has("staff")),
		flagtest.Segment("beta", guidon.MatchAll, flagtest.Has("beta")),
		flagtest.Segment("guests", guidon.MatchAll, &guidon.Constraint{Type: guidon.StringComparison, Property: "staff", Operator: guidon.OpEQ, Value: "no"}),
		flagtest.Segment("staff-beta", guidon.MatchAll, flagtest.Has("beta"), flagtest.Has("staff")),
	}
}

func TestEffect(t *testing.T) {
	variant := func(rules ...*guidon.Rule) *guidon.Flag {
		return flagtest.WithDefault(flagtest.VariantFlag("f", rules...), "Z")
	}
	boolean := func(enabled bool, rollouts ...*guidon.Rollout) *guidon.Flag {
		return flagtest.BooleanFlag("f", enabled, rollouts...)
	}
	rule := func(shares flagtest.Shares, segments ...string) *guidon.Rule {
		return flagtest.Rule(shares, segments...)
	}
	half, all := flagtest.Shares{50, 50}, flagtest.Shares{100}
	onlyB := flagtest.Shares{0, 100}
	for _, tt := range []struct {
		name          string
		before, after *guidon.Flag
		want          []string
	}{
		{"nothing", variant(rule(half, "staff")), variant(rule(half, "staff")), nil},
		{"a distribution for everyone", variant(rule(half, "everyone")), variant(rule(flagtest.Shares{30, 70}, "everyone")),
			[]string{"0 to 0, everyone; 200 A (0) > B (0); 800 stay"}},
		{"a distribution of a later rule", variant(rule(all, "staff"), rule(half, "beta")), variant(rule(all, "staff"), rule(flagtest.Shares{30, 70}, "beta")),
			[]string{"1 to 1, matching; 200 A (1) > B (1); 800 stay"}},
		{"a share that is rounded", variant(rule(flagtest.Shares{33.33}, "everyone")), variant(rule(flagtest.Shares{33.39}, "everyone")), nil},
		{"less than 100 %", variant(rule(flagtest.Shares{60, 40}, "everyone")), variant(rule(flagtest.Shares{60, 30}, "everyone")),
			[]string{"0 to 0, everyone; 100 B (0) > Z (0); 900 stay"}},
		{"more than 100 %", variant(rule(flagtest.Shares{60, 40}, "everyone")), variant(rule(flagtest.Shares{60, 90}, "everyone")), nil},
		{"all shares 0", variant(rule(half, "everyone")), variant(rule(flagtest.Shares{0, 0}, "everyone")),
			[]string{"0 to 0, everyone; 500 A (0) > Z (0); 500 B (0) > Z (0); 0 stay"}},
		{"a new rule", variant(rule(half, "everyone")), variant(rule(onlyB, "beta"), rule(half, "everyone")),
			[]string{"0 to 0, matching; 500 A (0) > B (0); 500 stay"}},
		{"a new rule behind that for everyone", variant(rule(half, "everyone")), variant(rule(half, "everyone"), rule(onlyB, "beta")), nil},
		{"a rule less", variant(rule(onlyB, "beta"), rule(all, "everyone")), variant(rule(all, "everyone")),
			[]string{"0 to 0, matching; 1000 B (0) > A (0); 0 stay"}},
		{"rules in another order", variant(rule(all, "staff"), rule(onlyB, "beta")), variant(rule(onlyB, "beta"), rule(all, "staff")),
			[]string{"0 to 0, matching; 1000 A (0) > B (0); 0 stay"}},
		{"another order of rules that exclude each other", variant(rule(all, "staff"), rule(onlyB, "guests")), variant(rule(onlyB, "guests"), rule(all, "staff")), nil},
		{"a rule that an earlier one implies", variant(rule(all, "staff"), rule(onlyB, "staff-beta")), variant(rule(all, "staff")), nil},
		{"a narrower rule", variant(rule(all, "staff")), variant(rule(all, "staff-beta")),
			[]string{"0 to -, matching; 1000 A (0) > Z (-); 0 stay"}},
		{"any instead of all", variant(flagtest.RuleOfAll(all, "staff", "beta")), variant(rule(all, "staff", "beta")),
			[]string{"- to 0, matching; 1000 Z (-) > A (0); 0 stay"}},
		{"a missing segment", variant(rule(all, "everyone")), variant(rule(all, "nowhere")),
			[]string{"0 to -, everyone; 1000 A (0) > Z (-); 0 stay"}},
		{"disabled", variant(rule(half, "staff")), flagtest.Disabled(variant(rule(half, "staff"))),
			[]string{"0 to -, matching; 500 A (0) > off Z (-); 500 B (0) > off Z (-); 0 stay", "- to -, matching; 1000 Z (-) > off Z (-); 0 stay"}},
		{"another default", variant(rule(all, "staff")), flagtest.WithDefault(variant(rule(all, "staff")), "B"),
			[]string{"- to -, matching; 1000 Z (-) > B (-); 0 stay"}},
		{"created", nil, variant(rule(all, "staff")),
			[]string{"- to 0, matching; 1000 absent (-) > A (0); 0 stay", "- to -, matching; 1000 absent (-) > Z (-); 0 stay"}},
		{"deleted", boolean(true), nil, []string{"- to -, everyone; 100 true (-) > absent (-); 0 stay"}},
		{"another type", boolean(true), variant(), []string{"another type"}},

		{"the switch of a boolean flag", boolean(true), boolean(false), []string{"- to -, everyone; 100 true (-) > false (-); 0 stay"}},
		{"the switch below a threshold", boolean(false, flagtest.Threshold(25, true)), boolean(true, flagtest.Threshold(25, true)),
			[]string{"- to -, everyone; 75 false (-) > true (-); 25 stay"}},
		{"the switch below a segment", boolean(false, flagtest.SegmentRollout(true, guidon.OrSegments, "staff")), boolean(true, flagtest.SegmentRollout(true, guidon.OrSegments, "staff")),
			[]string{"- to -, matching; 100 false (-) > true (-); 0 stay"}},
		{"a threshold", boolean(false, flagtest.Threshold(10, true)), boolean(false, flagtest.Threshold(50, true)),
			[]string{"- to -, everyone; 40 false (-) > true (0); 60 stay"}},
		{"a threshold within a bucket", boolean(false, flagtest.Threshold(12.5, true)), boolean(false, flagtest.Threshold(12.9, true)), nil},
		{"a threshold behind a smaller one", boolean(false, flagtest.Threshold(30, true)), boolean(false, flagtest.Threshold(10, false), flagtest.Threshold(30, true)),
			[]string{"- to -, everyone; 10 true (0) > false (0); 90 stay"}},
		{"a segment before a threshold", boolean(false, flagtest.Threshold(30, true)), boolean(false, flagtest.SegmentRollout(true, guidon.OrSegments, "beta"), flagtest.Threshold(30, true)),
			[]string{"- to 0, matching; 70 false (-) > true (0); 30 stay"}},
		{"a segment that was behind a full threshold", boolean(false, flagtest.Threshold(100, true), flagtest.SegmentRollout(false, guidon.OrSegments, "beta")), boolean(false, flagtest.Threshold(50, true)),
			[]string{"- to -, everyone; 50 true (0) > false (-); 50 stay"}},
		{"a segment behind a full threshold", boolean(false, flagtest.Threshold(100, true)), boolean(false, flagtest.Threshold(100, true), flagtest.SegmentRollout(false, guidon.OrSegments, "beta")), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := effectOf(stateOf(tt.before), stateOf(tt.after), "f")
			if diff := cmp.Diff(tt.want, describeEffect(got)); diff != "" {
				t.Errorf("groups (-want +got):\n%s", diff)
			}
			checkSums(t, got)
		})
	}
}

func stateOf(f *guidon.Flag) *guidon.Snapshot {
	if f == nil {
		return guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{}, nil, testSegments())
	}
	return flagtest.SnapshotOf(f, testSegments()...)
}

// TestEffectOfSegments covers changes of segments: who is in a group is not known then,
// and the effect says so.
func TestEffectOfSegments(t *testing.T) {
	flag := flagtest.VariantFlag("f", flagtest.Rule(flagtest.Shares{100}, "staff"), flagtest.Rule(flagtest.Shares{0, 100}, "beta"))
	before := flagtest.SnapshotOf(flag, testSegments()...)
	for _, tt := range []struct {
		name  string
		delta guidon.SnapshotDelta
		want  []string
	}{
		{"another name", guidon.SnapshotDelta{Segments: []*guidon.Segment{{Key: "staff", Name: "Other", MatchType: guidon.MatchAny, Constraints: []*guidon.Constraint{flagtest.Has("staff")}}}}, nil},
		{"a constraint more", guidon.SnapshotDelta{Segments: []*guidon.Segment{flagtest.Segment("staff", guidon.MatchAll, flagtest.Has("staff"), flagtest.Has("admin"))}}, []string{
			"0 to 1, changed staff; 1000 A (0) > B (1); 0 stay",
			"0 to -, changed staff; 1000 A (0) > none (-); 0 stay",
		}},
		{"another constraint", guidon.SnapshotDelta{Segments: []*guidon.Segment{flagtest.Segment("staff", guidon.MatchAll, flagtest.Has("admin"))}}, []string{
			"0 to 1, changed staff; 1000 A (0) > B (1); 0 stay",
			"0 to -, changed staff; 1000 A (0) > none (-); 0 stay",
			"1 to 0, changed staff; 1000 B (1) > A (0); 0 stay",
			"- to 0, changed staff; 1000 none (-) > A (0); 0 stay",
		}},
		{"of a later rule", guidon.SnapshotDelta{Segments: []*guidon.Segment{flagtest.Segment("beta", guidon.MatchAll)}}, []string{
			"- to 1, changed beta; 1000 none (-) > B (1); 0 stay",
		}},
		{"deleted", guidon.SnapshotDelta{DeletedSegments: []string{"staff"}}, []string{
			"0 to 1, changed staff; 1000 A (0) > B (1); 0 stay",
			"0 to -, changed staff; 1000 A (0) > none (-); 0 stay",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := effectOf(before, before.Apply(tt.delta), "f")
			if diff := cmp.Diff(tt.want, describeEffect(got)); diff != "" {
				t.Errorf("groups (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEffectSteps covers the pairs of rules: by id, else by content, else by segments.
func TestEffectSteps(t *testing.T) {
	rule := func(id string, share float32, segment string) *guidon.Rule {
		r := flagtest.Rule(flagtest.Shares{share}, segment)
		r.ID = id
		return r
	}
	before := flagtest.VariantFlag("f", rule("1", 10, "staff"), rule("2", 20, "beta"), rule("3", 30, "guests"), rule("4", 40, "everyone"))
	after := flagtest.VariantFlag("f", rule("7", 20, "beta"), rule("3", 31, "staff"), rule("8", 99, "staff"), rule("9", 40, "nowhere"))
	got := effectOf(stateOf(before), stateOf(after), "f").Steps
	want := []analysis.StepPair{{1, 0}, {2, 1}, {0, 2}, {analysis.NoStep, 3}, {3, analysis.NoStep}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	old := flagtest.BooleanFlag("f", true, flagtest.Threshold(10, true), flagtest.SegmentRollout(true, guidon.OrSegments, "staff"))
	edited := flagtest.BooleanFlag("f", true, flagtest.SegmentRollout(false, guidon.OrSegments, "staff"), flagtest.Threshold(20, true))
	got = effectOf(stateOf(old), stateOf(edited), "f").Steps
	if diff := cmp.Diff([]analysis.StepPair{{1, 0}, {0, 1}}, got); diff != "" {
		t.Errorf("rollouts (-want +got):\n%s", diff)
	}
}

// TestEffectLimits checks that flags with very many rules do not take long, and that the
// effect says when it is not complete.
func TestEffectLimits(t *testing.T) {
	flags := make([]*guidon.Flag, 2)
	segments := []*guidon.Segment{}
	for i := range 4000 {
		key := fmt.Sprint("s", i)
		segments = append(segments, flagtest.Segment(key, guidon.MatchAll, flagtest.Has(key)))
	}
	for n := range flags {
		rules := make([]*guidon.Rule, 4000)
		for i := range rules {
			rules[i] = flagtest.Rule(flagtest.Shares{float32(50 + n)}, fmt.Sprint("s", (i*(1+2*n))%4000))
		}
		flags[n] = flagtest.VariantFlag("f", rules...)
	}
	got := effectOf(flagtest.SnapshotOf(flags[0], segments...), flagtest.SnapshotOf(flags[1], segments...), "f")
	if !got.Truncated {
		t.Errorf("got all of %d groups", len(got.Groups))
	}
	reach := reachOf(flagtest.SnapshotOf(flags[0], segments...), "f")
	if len(reach.Steps) != 4000 || !reach.Truncated {
		t.Errorf("got %d rules, truncated %v, want all rules", len(reach.Steps), reach.Truncated)
	}
}

func TestSameValue(t *testing.T) {
	a := analysis.Outcome{Match: true, Reason: guidon.ReasonMatch, VariantKey: "a"}
	for _, tt := range []struct {
		other analysis.Outcome
		want  bool
	}{
		{analysis.Outcome{Reason: guidon.ReasonFlagDisabled, VariantKey: "a"}, true},
		{analysis.Outcome{Match: true, Reason: guidon.ReasonMatch, VariantKey: "b"}, false},
		{analysis.Outcome{Match: true, Reason: guidon.ReasonMatch, VariantKey: "a", Attachment: "{}"}, false},
		{analysis.Outcome{Absent: true, VariantKey: "a"}, false},
	} {
		if got := a.SameValue(tt.other); got != tt.want {
			t.Errorf("%+v: got %v", tt.other, got)
		}
	}
}

// must returns the result of an analysis whose context does not end.
func must[T any](result T, err error) T {
	if err != nil {
		panic(err)
	}
	return result
}

func effectOf(before, after *guidon.Snapshot, flagKey string) *analysis.Effect {
	return must(analysis.EffectOf(context.Background(), before, after, flagKey))
}

func reachOf(s *guidon.Snapshot, flagKey string) *analysis.Reach {
	return must(analysis.ReachOf(context.Background(), s, flagKey))
}
