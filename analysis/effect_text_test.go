package analysis_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/flagtest"
)

func TestDescribe(t *testing.T) {
	named := func(id string, share float32, segment string) *guidon.Rule {
		r := flagtest.Rule(flagtest.Shares{share, 100 - share}, segment)
		r.ID = id
		return r
	}
	rollout := func(id string, value bool, segment string) *guidon.Rollout {
		r := flagtest.SegmentRollout(value, guidon.OrSegments, segment)
		r.ID = id
		return r
	}
	for _, tt := range []struct {
		name          string
		before, after *guidon.Snapshot
		want          []string
	}{
		{"a rule", stateOf(flagtest.VariantFlag("f", named("1", 10, "beta"), named("2", 50, "staff"))), stateOf(flagtest.VariantFlag("f", named("1", 10, "beta"), named("2", 29.9, "staff"))),
			[]string{"20.1% of those who match rule 2 go from A to B"}},
		{"everyone", stateOf(flagtest.BooleanFlag("f", true)), stateOf(flagtest.BooleanFlag("f", false)), []string{"all entities go from on to off"}},
		{"disabled", stateOf(flagtest.WithDefault(flagtest.VariantFlag("f", named("1", 100, "staff")), "A")), stateOf(flagtest.Disabled(flagtest.WithDefault(flagtest.VariantFlag("f", named("1", 100, "staff")), "A"))),
			[]string{"all those who no longer match rule 1 keep A, for another reason", "all those in none of the segments keep A, for another reason"}},
		{"no variants", stateOf(flagtest.VariantFlag("f")), stateOf(flagtest.Disabled(flagtest.VariantFlag("f"))), []string{"all entities keep no variant, for another reason"}},
		{"no shares", stateOf(flagtest.VariantFlag("f")), stateOf(flagtest.VariantFlag("f", flagtest.Rule(nil, "everyone"))), []string{"all entities keep no variant, for another reason"}},
		{"an error", stateOf(flagtest.VariantFlag("f", flagtest.Rule(nil, "staff"))),
			flagtest.SnapshotOf(flagtest.VariantFlag("f", flagtest.Rule(nil, "staff")), flagtest.Segment("staff", guidon.MatchAll, constraint(9, "p", "eq", "a"))),
			[]string{"all those who match rule 1 go from no variant to an error", "all those who newly match rule 1 go from no variant to an error"}},
		{"created", stateOf(nil), stateOf(flagtest.BooleanFlag("f", true)), []string{"all entities go from no flag to on"}},
		{"another order", stateOf(flagtest.BooleanFlag("f", false, rollout("1", true, "beta"), rollout("2", false, "staff"))),
			stateOf(flagtest.BooleanFlag("f", false, rollout("2", false, "staff"), rollout("1", true, "beta"), flagtest.Threshold(25, true))),
			[]string{"all those who match rule 1 instead of rule 2 go from on to off", "25% of those in none of the segments go from off to on"}},
		{"another rule", stateOf(flagtest.BooleanFlag("f", false, rollout("1", true, "beta"))), stateOf(flagtest.BooleanFlag("f", false, rollout("2", false, "staff"), flagtest.Threshold(50, true))),
			[]string{"all those who match rule 1 instead of the removed rule for beta go from on to off", "50% of those who matched the removed rule for beta go from on to off", "50% of those in none of the segments go from off to on"}},
		{"off", stateOf(flagtest.BooleanFlag("f", true, rollout("1", false, "beta"))), stateOf(flagtest.BooleanFlag("f", true, flagtest.Threshold(100, false), rollout("1", false, "beta"))),
			[]string{"everyone gets Off", "all those in none of the segments go from on to off"}},
		{"deleted", stateOf(flagtest.BooleanFlag("f", true, rollout("1", false, "beta"))), stateOf(nil),
			[]string{"everyone gets no flag", "all those who matched the removed rule for beta go from off to no flag", "all those in none of the segments go from on to no flag"}},
		{"the default variant", stateOf(flagtest.WithDefault(flagtest.VariantFlag("f", named("1", 30, "staff")), "A")), stateOf(flagtest.Disabled(flagtest.WithDefault(flagtest.VariantFlag("f", named("1", 30, "staff")), "A"))),
			[]string{"everyone gets A", "30% of those who no longer match rule 1 keep A, for another reason", "70% of those who no longer match rule 1 go from B to A", "all those in none of the segments keep A, for another reason"}},
		{"shares of two rules", stateOf(flagtest.BooleanFlag("f", false, rollout("1", true, "beta"))),
			stateOf(flagtest.BooleanFlag("f", false, flagtest.Threshold(10, true), rollout("1", true, "beta"), flagtest.Threshold(40, true))),
			[]string{"40% of those in none of the segments go from off to on", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := effectOf(tt.before, tt.after, "f")
			var got []string
			if all := e.DescribeAll(); all != "" && len(e.Groups[0].Moves) > 0 && e.Groups[0].Who != analysis.Everyone {
				got = append(got, all)
			}
			for i := range e.Groups {
				for j := range e.Groups[i].Moves {
					got = append(got, e.Describe(&e.Groups[i], &e.Groups[i].Moves[j]))
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("moves (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhy(t *testing.T) {
	flag := flagtest.VariantFlag("f",
		flagtest.Rule(nil, "staff"), flagtest.Rule(nil, "beta"), flagtest.Rule(nil, "staff", "beta"), flagtest.RuleOfAll(nil, "staff", "guests"),
		flagtest.Rule(nil, "nowhere"), flagtest.Rule(nil), flagtest.Rule(nil, "never"), flagtest.Rule(nil, "everyone"))
	s := flagtest.SnapshotOf(flag, append(testSegments(), flagtest.Segment("never", guidon.MatchAll, flagtest.Has("x"), constraint(guidon.NumberComparison, "p", "gt", "x")))...)
	r := reachOf(s, "f")
	var got []string
	for i := range r.Steps {
		got = append(got, r.Why(&r.Steps[i]))
	}
	want := []string{
		"", "", "rules 1, 2 together take everybody who would get here", "nobody satisfies constraints 1 of segment staff, 1 of segment guests",
		"segment nowhere does not exist", "it has no segments", "nobody satisfies constraint 2 of segment never", "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("causes (-want +got):\n%s", diff)
	}
	if got, want := r.WhyDefault(), "rule 8 takes everybody who would get here"; got != want {
		t.Errorf("default: got %q, want %q", got, want)
	}
	r = reachOf(stateOf(flagtest.BooleanFlag("f", true, flagtest.Threshold(0, true), flagtest.Threshold(100, true), flagtest.Threshold(10, true))), "f")
	got = nil
	for i := range r.Steps {
		got = append(got, r.Why(&r.Steps[i]))
	}
	if diff := cmp.Diff([]string{"its share is 0%", "", "rule 2 takes everybody who would get here"}, got); diff != "" {
		t.Errorf("causes (-want +got):\n%s", diff)
	}
}
