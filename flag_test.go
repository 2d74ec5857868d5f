package guidon_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/flagtest"
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

// TestConditionsClone: changing any field of a clone leaves the original as it is.
func TestConditionsClone(t *testing.T) {
	for _, f := range flagtest.FilledFlags() {
		for _, c := range f.EachConditions() {
			if c == (&guidon.Rollout{}).Stated() {
				continue
			}
			original, err := json.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			clone := c.Clone()
			if diff := cmp.Diff(c, clone); diff != "" {
				t.Errorf("%s: -original +clone:\n%s", f.Key, diff)
			}
			flagtest.LostFields(clone, func(*guidon.Conditions) string {
				if changed, err := json.Marshal(c); err != nil || string(changed) != string(original) {
					t.Errorf("%s: a change of the clone made the original %s, %v, from %s", f.Key, changed, err, original)
					t.FailNow()
				}
				return ""
			})
		}
	}
}
