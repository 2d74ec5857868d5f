package guidon

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func probed() (*Flag, map[string]*Segment) {
	segments := map[string]*Segment{
		"adults": {Key: "adults", Constraints: []*Constraint{
			{Type: NumberComparison, Property: "age", Operator: OpGTE, Value: "18"},
			{Type: StringComparison, Property: "country", Operator: OpIsOneOf, Value: `["DE","SE"]`},
		}},
		"staff": {Key: "staff", Constraints: []*Constraint{{Type: EntityIDComparison, Operator: OpPrefix, Value: "staff-"}, {Type: EntityIDComparison, Operator: OpEQ, Value: "root"}}, MatchType: MatchAny},
		"late":  {Key: "late", Constraints: []*Constraint{{Type: DateTimeComparison, Property: "since", Operator: OpLT, Value: "2026-01-01T00:00:00Z"}}},
	}
	return &Flag{
		Key: "price", Enabled: true, DefaultVariantID: "c",
		Variants: []*Variant{{ID: "a", Key: "a"}, {ID: "b", Key: "b"}, {ID: "c", Key: "c"}},
		Rules: []*Rule{
			{ID: "1", SegmentKeys: []string{"adults", "late"}, SegmentOperator: AndSegments, Distributions: []*Distribution{{VariantID: "a", Rollout: 12.3}, {VariantID: "b", Rollout: 60}}},
			{ID: "2", SegmentKeys: []string{"staff"}, Distributions: []*Distribution{{VariantID: "b", Rollout: 100}}},
		},
	}, segments
}

// TestProbes: a change of any constraint, or of any share, even a small one, changes what
// some probe gets.
func TestProbes(t *testing.T) {
	f, segments := probed()
	probes, cut := Probes(f, segments, 1000)
	if cut || len(probes) < 30 {
		t.Fatalf("got %d probes, cut %t", len(probes), cut)
	}
	if again, _ := Probes(f, segments, 1000); cmp.Diff(again, probes) != "" {
		t.Error("the same flag has other probes")
	}
	results := func(f *Flag, segments map[string]*Segment) (list []VariantResult) {
		all := slices.Collect(func(yield func(*Segment) bool) {
			for _, key := range []string{"adults", "late", "staff"} {
				if !yield(segments[key]) {
					return
				}
			}
		})
		snapshot := NewSnapshot(&Namespace{Key: "n"}, Revision{}, []*Flag{f}, all)
		for _, p := range probes {
			r, err := snapshot.Variant(f.Key, p.EntityID, p.Context)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, r)
		}
		return list
	}
	before := results(f, segments)
	for name, edit := range map[string]func(f *Flag, segments map[string]*Segment){
		"a number":       func(_ *Flag, s map[string]*Segment) { s["adults"].Constraints[0].Operator = OpGT },
		"another number": func(_ *Flag, s map[string]*Segment) { s["adults"].Constraints[0].Value = "17" },
		"a list":         func(_ *Flag, s map[string]*Segment) { s["adults"].Constraints[1].Value = `["DE"]` },
		"a time":         func(_ *Flag, s map[string]*Segment) { s["late"].Constraints[0].Operator = OpLTE },
		"a prefix":       func(_ *Flag, s map[string]*Segment) { s["staff"].Constraints[0].Value = "staff-1" },
		"an id":          func(_ *Flag, s map[string]*Segment) { s["staff"].Constraints[1].Value = "rooT" },
		"a match type":   func(_ *Flag, s map[string]*Segment) { s["staff"].MatchType = MatchAll },
		"an operator":    func(f *Flag, _ map[string]*Segment) { f.Rules[0].SegmentOperator = OrSegments },
		"a share":        func(f *Flag, _ map[string]*Segment) { f.Rules[0].Distributions[0].Rollout = 12.4 },
		"the last share": func(f *Flag, _ map[string]*Segment) { f.Rules[0].Distributions[1].Rollout = 60.1 },
		"the order":      func(f *Flag, _ map[string]*Segment) { slices.Reverse(f.Rules) },
		"the default":    func(f *Flag, _ map[string]*Segment) { f.DefaultVariantID = "" },
	} {
		f, segments := probed()
		edit(f, segments)
		if cmp.Diff(before, results(f, segments)) == "" {
			t.Errorf("%s: no probe notices the change", name)
		}
	}
}

// TestProbesOfBoolean: the buckets at thresholds are probed.
func TestProbesOfBoolean(t *testing.T) {
	f := &Flag{Key: "beta", Type: BooleanFlag, Enabled: true, Rollouts: []*Rollout{{Threshold: &RolloutThreshold{Percentage: 37, Value: false}}}}
	probes, _ := Probes(f, nil, 100)
	var buckets []int
	for _, p := range probes {
		buckets = append(buckets, f.Bucket(p.EntityID))
	}
	for _, want := range []int{0, 36, 37, 99} {
		if !slices.Contains(buckets, want) {
			t.Errorf("got the buckets %v, want %d among them", buckets, want)
		}
	}
}

func TestProbesLimit(t *testing.T) {
	f, segments := probed()
	if probes, cut := Probes(f, segments, 10); len(probes) != 10 || !cut {
		t.Errorf("got %d probes, cut %t, want 10 of more", len(probes), cut)
	}
}
