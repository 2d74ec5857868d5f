package analysis

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
)

func probed() (*guidon.Flag, map[string]*guidon.Segment) {
	segments := map[string]*guidon.Segment{
		"adults": {Key: "adults", Constraints: []*guidon.Constraint{
			{Type: guidon.NumberComparison, Property: "age", Operator: guidon.OpGTE, Value: "18"},
			{Type: guidon.StringComparison, Property: "country", Operator: guidon.OpIsOneOf, Value: `["DE","SE"]`},
		}},
		"staff": {Key: "staff", Constraints: []*guidon.Constraint{{Type: guidon.EntityIDComparison, Operator: guidon.OpPrefix, Value: "staff-"}, {Type: guidon.EntityIDComparison, Operator: guidon.OpEQ, Value: "root"}}, MatchType: guidon.MatchAny},
		"apps": {Key: "apps", Constraints: []*guidon.Constraint{
			{Type: guidon.VersionComparison, Property: "app", Operator: guidon.OpGTE, Value: "2.4", Negate: true},
			{Type: guidon.ListComparison, Property: "roles", Operator: guidon.OpAllOf, Value: `["a","b"]`},
			{Type: guidon.AddressComparison, Property: "ip", Operator: guidon.OpIsOneOf, Value: `["192.0.2.0/24"]`},
		}},
		"late": {Key: "late", Constraints: []*guidon.Constraint{{Type: guidon.DateTimeComparison, Property: "since", Operator: guidon.OpLT, Value: "2026-01-01T00:00:00Z"}}},
	}
	return &guidon.Flag{
		Key: "price", Enabled: true, DefaultVariantID: "c",
		Variants: []*guidon.Variant{{ID: "a", Key: "a"}, {ID: "b", Key: "b"}, {ID: "c", Key: "c"}},
		Rules: []*guidon.Rule{
			{ID: "1", SegmentKeys: []string{"adults", "late"}, SegmentOperator: guidon.AndSegments, Distributions: []*guidon.Distribution{{VariantID: "a", Rollout: 12.3}, {VariantID: "b", Rollout: 60}}},
			{ID: "2", SegmentKeys: []string{"staff"}, Distributions: []*guidon.Distribution{{VariantID: "b", Rollout: 100}}},
			{ID: "3", SegmentKeys: []string{"apps"}, Distributions: []*guidon.Distribution{{VariantID: "a", Rollout: 100}}},
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
	results := func(f *guidon.Flag, segments map[string]*guidon.Segment) (list []guidon.VariantResult) {
		all := slices.Collect(func(yield func(*guidon.Segment) bool) {
			for _, key := range []string{"adults", "apps", "late", "staff"} {
				if !yield(segments[key]) {
					return
				}
			}
		})
		snapshot := guidon.NewSnapshot(&guidon.Namespace{Key: "n"}, guidon.Revision{}, []*guidon.Flag{f}, all)
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
	for name, edit := range map[string]func(f *guidon.Flag, segments map[string]*guidon.Segment){
		"a number":       func(_ *guidon.Flag, s map[string]*guidon.Segment) { s["adults"].Constraints[0].Operator = guidon.OpGT },
		"another number": func(_ *guidon.Flag, s map[string]*guidon.Segment) { s["adults"].Constraints[0].Value = "17" },
		"a list":         func(_ *guidon.Flag, s map[string]*guidon.Segment) { s["adults"].Constraints[1].Value = `["DE"]` },
		"a time":         func(_ *guidon.Flag, s map[string]*guidon.Segment) { s["late"].Constraints[0].Operator = guidon.OpLTE },
		"a prefix":       func(_ *guidon.Flag, s map[string]*guidon.Segment) { s["staff"].Constraints[0].Value = "staff-1" },
		"an id":          func(_ *guidon.Flag, s map[string]*guidon.Segment) { s["staff"].Constraints[1].Value = "rooT" },
		"a version":      func(_ *guidon.Flag, s map[string]*guidon.Segment) { s["apps"].Constraints[0].Value = "2.4.0-0" },
		"a negation":     func(_ *guidon.Flag, s map[string]*guidon.Segment) { s["apps"].Constraints[0].Negate = false },
		"items":          func(_ *guidon.Flag, s map[string]*guidon.Segment) { s["apps"].Constraints[1].Value = `["a"]` },
		"all items":      func(_ *guidon.Flag, s map[string]*guidon.Segment) { s["apps"].Constraints[1].Operator = guidon.OpAnyOf },
		"an address": func(_ *guidon.Flag, s map[string]*guidon.Segment) {
			s["apps"].Constraints[2].Value = `["192.0.2.0/23"]`
		},
		"a match type":   func(_ *guidon.Flag, s map[string]*guidon.Segment) { s["staff"].MatchType = guidon.MatchAll },
		"an operator":    func(f *guidon.Flag, _ map[string]*guidon.Segment) { f.Rules[0].SegmentOperator = guidon.OrSegments },
		"a share":        func(f *guidon.Flag, _ map[string]*guidon.Segment) { f.Rules[0].Distributions[0].Rollout = 12.4 },
		"the last share": func(f *guidon.Flag, _ map[string]*guidon.Segment) { f.Rules[0].Distributions[1].Rollout = 60.1 },
		"the order":      func(f *guidon.Flag, _ map[string]*guidon.Segment) { slices.Reverse(f.Rules) },
		"the default":    func(f *guidon.Flag, _ map[string]*guidon.Segment) { f.DefaultVariantID = "" },
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
	f := &guidon.Flag{Key: "beta", Type: guidon.BooleanFlag, Enabled: true, Rollouts: []*guidon.Rollout{{Threshold: &guidon.RolloutThreshold{Percentage: 37, Value: false}}}}
	probes, _ := Probes(f, nil, 100)
	own := guidon.Bucketer{Seed: f.Key, Hash: guidon.FliptHash, Threshold: true}
	var buckets []int
	for _, p := range probes {
		buckets = append(buckets, own.Bucket(p.EntityID))
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
