package analysis_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/flagtest"
)

func TestSegmentUses(t *testing.T) {
	flags := []*guidon.Flag{
		flagtest.VariantFlag("a", flagtest.Rule(nil, "staff"), flagtest.Rule(nil, "beta"), flagtest.RuleOfAll(nil, "beta", "staff", "staff")),
		flagtest.BooleanFlag("b", true, flagtest.Threshold(10, true), flagtest.SegmentRollout(true, guidon.OrSegments, "staff")),
		flagtest.VariantFlag("c", flagtest.Rule(nil, "beta")),
		flagtest.VariantFlag("d", flagtest.Rule(nil, "nowhere")),
	}
	uses := analysis.SegmentUses(flags)
	for key, want := range map[string][]string{
		"staff":    {"a [0 2] []", "b [] [1]"},
		"beta":     {"a [1 2] []", "c [0] []"},
		"everyone": nil,
		"nowhere":  {"d [0] []"},
	} {
		var got []string
		for _, u := range uses[key] {
			got = append(got, fmt.Sprint(u.Flag.Key, " ", u.Rules, " ", u.Rollouts))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
}

func TestFlagUses(t *testing.T) {
	of := func(keys ...string) (all []guidon.Requirement) {
		for _, key := range keys {
			all = append(all, guidon.Requirement{FlagKey: key})
		}
		return all
	}
	rollout := flagtest.SegmentRollout(true, guidon.OrSegments, "everyone")
	rollout.Conditions = &guidon.Conditions{Requires: of("api", "other")}
	whole, both := flagtest.BooleanFlag("whole", true), flagtest.BooleanFlag("both", true, flagtest.Threshold(10, true), rollout)
	whole.Requires, both.Requires = of("other", "api"), of("api")
	s := guidon.NewSnapshot(&guidon.Namespace{Key: "n"}, guidon.Revision{},
		[]*guidon.Flag{whole, both, flagtest.BooleanFlag("api", true), flagtest.BooleanFlag("other", true)}, []*guidon.Segment{flagtest.Everyone()})
	for key, want := range map[string][]string{
		"api":   {"both true [1]", "whole true []"},
		"other": {"both false [1]", "whole true []"},
		"whole": nil,
	} {
		var got []string
		for _, u := range analysis.FlagUses(s, key) {
			got = append(got, fmt.Sprint(u.Flag.Key, " ", u.Whole, " ", u.Rules))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
}
