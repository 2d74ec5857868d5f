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
