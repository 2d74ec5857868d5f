package guidon_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
)

func TestFlagSegmentKeys(t *testing.T) {
	f := &guidon.Flag{
		Rules: []*guidon.Rule{{SegmentKeys: []string{"a", "b"}}, {SegmentKeys: []string{"a"}}},
		Rollouts: []*guidon.Rollout{
			{Threshold: &guidon.RolloutThreshold{Percentage: 50}},
			{Segment: &guidon.RolloutSegment{SegmentKeys: []string{"c", "d"}}},
		},
	}
	all := []string{"a", "b", "a", "c", "d"}
	if diff := cmp.Diff(all, slices.Collect(f.SegmentKeys())); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	for n := range all { // a caller may stop at any key
		var got []string
		for key := range f.SegmentKeys() {
			if got = append(got, key); len(got) == n+1 {
				break
			}
		}
		if diff := cmp.Diff(all[:n+1], got); diff != "" {
			t.Errorf("the first %d keys (-want +got):\n%s", n+1, diff)
		}
	}
}
