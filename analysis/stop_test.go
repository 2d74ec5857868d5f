package analysis_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
)

// manyRules returns a flag of which each rule has a segment of its own.
func manyRules(rules, constraints int) *guidon.Snapshot {
	f := &guidon.Flag{Key: "f", Type: guidon.VariantFlag, Enabled: true, Variants: []*guidon.Variant{{ID: "a", Key: "a"}, {ID: "b", Key: "b"}}}
	var segments []*guidon.Segment
	for i := range rules {
		g := &guidon.Segment{Key: fmt.Sprint("s", i), MatchType: guidon.MatchAny}
		for j := range constraints {
			g.Constraints = append(g.Constraints, &guidon.Constraint{
				ID: fmt.Sprint("c", j), Type: guidon.StringComparison, Property: fmt.Sprint("p", j%10), Operator: guidon.OpEQ, Value: fmt.Sprint("v", i, "-", j),
			})
		}
		segments = append(segments, g)
		f.Rules = append(f.Rules, &guidon.Rule{ID: fmt.Sprint("r", i), SegmentKeys: []string{g.Key}, Distributions: []*guidon.Distribution{{VariantID: "a", Rollout: 50}, {VariantID: "b", Rollout: 50}}})
	}
	return guidon.NewSnapshot(&guidon.Namespace{Key: "n"}, guidon.Revision{}, []*guidon.Flag{f}, segments)
}

func BenchmarkEffectOfManyRules(b *testing.B) {
	s := manyRules(1000, 50)
	without := s.Apply(guidon.SnapshotDelta{DeletedSegments: []string{"s500"}})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := analysis.EffectOf(context.Background(), s, without, "f"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReachOfManyRules(b *testing.B) {
	s := manyRules(1000, 50)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := analysis.ReachOf(context.Background(), s.Apply(guidon.SnapshotDelta{}), "f"); err != nil { // does not know it
			b.Fatal(err)
		}
	}
}

// TestAnalysisStops: an analysis ends with the context of its caller, and keeps no result.
func TestAnalysisStops(t *testing.T) {
	s := manyRules(100, 5)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := analysis.EffectOf(ended, s, s.Apply(guidon.SnapshotDelta{DeletedSegments: []string{"s50"}}), "f"); !errors.Is(err, context.Canceled) {
		t.Errorf("an effect: got %v, want %v", err, context.Canceled)
	}
	if _, err := analysis.ReachOf(ended, s, "f"); !errors.Is(err, context.Canceled) {
		t.Errorf("the reach: got %v, want %v", err, context.Canceled)
	}
	if r, err := analysis.ReachOf(t.Context(), s, "f"); err != nil || len(r.Steps) != 100 || r.Truncated {
		t.Errorf("the reach afterwards: got %v, %v, want 100 steps", r, err)
	}
}
