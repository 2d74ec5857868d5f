package guidon_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// ignoreBucketed ignores the fields that TestBucketed and TestOracle check. Responses of the
// Flipt v1 API do not contain them.
var ignoreBucketed = cmp.Options{
	cmpopts.IgnoreFields(guidon.VariantResult{}, "Bucketed", "Divided", "Rule"),
	cmpopts.IgnoreFields(guidon.BooleanResult{}, "Bucketed", "Divided", "Rule"),
}

// TestBucketed covers OFREP 11: a result depends on the entity's id if a bucket was
// consulted, whether or not that decided it.
func TestBucketed(t *testing.T) {
	for _, tt := range []struct {
		name string
		flag *guidon.Flag
		want bool
	}{
		{"no rules", flagtest.VariantFlag("f"), false},
		{"no distributions", flagtest.VariantFlag("f", flagtest.Rule(nil, "everyone")), false},
		{"one for all", flagtest.VariantFlag("f", flagtest.Rule(flagtest.Shares{100}, "everyone")), false},
		{"the first has all", flagtest.VariantFlag("f", flagtest.Rule(flagtest.Shares{100, 50}, "everyone")), false},
		{"only one has a share", flagtest.VariantFlag("f", flagtest.Rule(flagtest.Shares{0, 100}, "everyone")), false},
		{"several", flagtest.VariantFlag("f", flagtest.Rule(flagtest.Shares{50, 50}, "everyone")), true},
		{"one for some", flagtest.VariantFlag("f", flagtest.Rule(flagtest.Shares{10}, "everyone")), true},
		{"a rule for another segment", flagtest.VariantFlag("f", flagtest.Rule(flagtest.Shares{50, 50}, "nobody")), false},
		{"disabled", flagtest.Disabled(flagtest.VariantFlag("f", flagtest.Rule(flagtest.Shares{50, 50}, "everyone"))), false},
		{"no rollouts", flagtest.BooleanFlag("f", true), false},
		{"a threshold", flagtest.BooleanFlag("f", true, flagtest.Threshold(50, true)), true},
		{"a threshold below one bucket", flagtest.BooleanFlag("f", true, flagtest.Threshold(0.001, true)), true},
		{"a threshold of 0", flagtest.BooleanFlag("f", true, flagtest.Threshold(0, true)), false},
		{"a threshold of 100", flagtest.BooleanFlag("f", true, flagtest.Threshold(100, true)), false},
		{"a segment first", flagtest.BooleanFlag("f", true, flagtest.SegmentRollout(true, guidon.OrSegments, "everyone"), flagtest.Threshold(50, true)), false},
		{"a segment missed first", flagtest.BooleanFlag("f", true, flagtest.SegmentRollout(true, guidon.OrSegments, "nobody"), flagtest.Threshold(50, true)), true},
		{"a segment last", flagtest.BooleanFlag("f", true, flagtest.Threshold(0.001, true), flagtest.SegmentRollout(true, guidon.OrSegments, "everyone")), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := flagtest.SnapshotOf(tt.flag, flagtest.Everyone(), flagtest.Segment("nobody", guidon.MatchAll, flagtest.Has("impossible")))
			variant, variantErr := s.Variant("f", "user-1", nil)
			boolean, booleanErr := s.Boolean("f", "user-1", nil)
			if got := variant.Bucketed || boolean.Bucketed; got != tt.want {
				t.Errorf("got %v, want %v (%v, %v)", got, tt.want, variantErr, booleanErr)
			}
		})
	}
}

// TestVariant covers the worked evaluations of contract 16.4 and the steps of contract
// 7.5.
func TestVariant(t *testing.T) {
	const (
		unknown  = guidon.ReasonUnknown
		off      = guidon.ReasonFlagDisabled
		match    = guidon.ReasonMatch
		fallback = guidon.ReasonDefault
	)
	half := flagtest.Shares{50, 50}
	nobody := flagtest.Segment("nobody", guidon.MatchAll, flagtest.Has("impossible"))
	flag := func(rules ...*guidon.Rule) *guidon.Flag { return flagtest.VariantFlag("checkout", rules...) }
	tests := []struct {
		name     string
		flag     *guidon.Flag
		entityID string
		want     guidon.VariantResult
	}{
		// 16.4, in its order. user-1 has bucket 118, user-3 has 786.
		{"first half", flag(flagtest.Rule(half, "everyone")), "user-1", flagtest.VariantResult(true, match, "A", "everyone")},
		{"second half", flag(flagtest.Rule(half, "everyone")), "user-3", flagtest.VariantResult(true, match, "B", "everyone")},
		{"bucket missed", flag(flagtest.Rule(flagtest.Shares{10}, "everyone")), "user-1", flagtest.VariantResult(false, unknown, "", "everyone")},
		{"bucket missed, default", flagtest.WithDefault(flag(flagtest.Rule(flagtest.Shares{10}, "everyone")), "Z"), "user-1", flagtest.VariantResult(false, fallback, "Z", "everyone")},
		{
			"bucket missed ends it", flag(flagtest.Rule(flagtest.Shares{10}, "everyone"), flagtest.Rule(flagtest.Shares{0, 100}, "everyone")), "user-1",
			flagtest.VariantResult(false, unknown, "", "everyone"),
		},
		{"no distributions", flag(flagtest.Rule(nil, "everyone")), "user-1", flagtest.VariantResult(true, match, "", "everyone")},
		{"no distributions, default", flagtest.WithDefault(flag(flagtest.Rule(nil, "everyone")), "Z"), "user-1", flagtest.VariantResult(true, match, "Z", "everyone")},
		{"no rules", flag(), "user-1", flagtest.VariantResult(false, unknown, "")},
		{"no rules, default", flagtest.WithDefault(flag(), "Z"), "user-1", flagtest.VariantResult(false, fallback, "Z")},
		{"nobody, default", flagtest.WithDefault(flag(flagtest.Rule(half, "nobody")), "Z"), "user-1", flagtest.VariantResult(false, fallback, "Z")},
		{"disabled", flagtest.Disabled(flag(flagtest.Rule(half, "everyone"))), "user-1", flagtest.VariantResult(false, off, "")},
		{"disabled, default", flagtest.Disabled(flagtest.WithDefault(flag(flagtest.Rule(half, "everyone")), "Z")), "user-1", flagtest.VariantResult(false, off, "Z")},

		// 7.5.5: in rank order, the first rule that matches decides.
		{"nobody", flag(flagtest.Rule(half, "nobody")), "user-1", flagtest.VariantResult(false, unknown, "")},
		{"second rule", flag(flagtest.Rule(half, "nobody"), flagtest.Rule(flagtest.Shares{0, 100}, "everyone")), "user-1", flagtest.VariantResult(true, match, "B", "everyone")},
		{"first of two", flag(flagtest.Rule(flagtest.Shares{100}, "everyone"), flagtest.Rule(flagtest.Shares{0, 100}, "everyone")), "user-1", flagtest.VariantResult(true, match, "A", "everyone")},
		{"no distributions ends it", flag(flagtest.Rule(nil, "everyone"), flagtest.Rule(flagtest.Shares{100}, "everyone")), "user-1", flagtest.VariantResult(true, match, "", "everyone")},
		// 7.5.5.2 and .3: only distributions with a share of zero count as none.
		{"shares of zero", flag(flagtest.Rule(flagtest.Shares{0, 0}, "everyone")), "user-1", flagtest.VariantResult(true, match, "", "everyone")},
		{"shares below a bucket", flag(flagtest.Rule(flagtest.Shares{0.05}, "everyone")), "user-1", flagtest.VariantResult(false, unknown, "", "everyone")},
		{"no segment", flag(flagtest.Rule(half)), "user-1", flagtest.VariantResult(false, unknown, "")},
		{"lost segment", flag(flagtest.Rule(half, "lost")), "user-1", flagtest.VariantResult(false, unknown, "")},
		{"one of the segments lost", flag(flagtest.Rule(half, "everyone", "lost")), "user-1", flagtest.VariantResult(false, unknown, "")},
		{"lost segment, all needed", flag(flagtest.RuleOfAll(half, "everyone", "lost")), "user-1", flagtest.VariantResult(false, unknown, "")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := flagtest.SnapshotOf(tt.flag, flagtest.Everyone(), nobody).Variant("checkout", tt.entityID, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, ignoreBucketed); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

// TestVariantShares: many entities are distributed according to the shares (contract
// 16.2).
func TestVariantShares(t *testing.T) {
	s := flagtest.SnapshotOf(flagtest.VariantFlag("f", flagtest.Rule(flagtest.Shares{10, 30, 55}, "everyone")), flagtest.Everyone())
	const n = 20_000
	got := make(map[string]int)
	for i := range n {
		result, err := s.Variant("f", fmt.Sprintf("entity-%d", i), nil)
		if err != nil {
			t.Fatal(err)
		}
		got[result.VariantKey]++
	}
	for variant, percent := range map[string]int{"A": 10, "B": 30, "C": 55, "": 5} {
		if low, high := n*(percent-1)/100, n*(percent+1)/100; got[variant] < low || got[variant] > high {
			t.Errorf("%q: got %d of %d, want about %d %%", variant, got[variant], n, percent)
		}
	}
}

// TestBoolean covers the worked evaluations of contract 16.4 and the steps of contract
// 7.6.
func TestBoolean(t *testing.T) {
	const or, and = guidon.OrSegments, guidon.AndSegments
	nobody := flagtest.Segment("nobody", guidon.MatchAll, flagtest.Has("impossible"))
	flag := func(enabled bool, rollouts ...*guidon.Rollout) *guidon.Flag {
		return flagtest.BooleanFlag("new-ui", enabled, rollouts...)
	}
	matched := func(enabled bool, segments ...string) guidon.BooleanResult {
		return guidon.BooleanResult{Enabled: enabled, Reason: guidon.ReasonMatch, SegmentKeys: segments}
	}
	fallback := func(enabled bool) guidon.BooleanResult {
		return guidon.BooleanResult{Enabled: enabled, Reason: guidon.ReasonDefault}
	}
	tests := []struct {
		name     string
		flag     *guidon.Flag
		entityID string
		want     guidon.BooleanResult
	}{
		// 16.4, in its order. user-1 has bucket 49, user-2 has 56.
		{"below threshold", flag(false, flagtest.Threshold(50, true)), "user-1", matched(true)},
		{"above threshold", flag(false, flagtest.Threshold(50, true)), "user-2", fallback(false)},
		{"below threshold to false", flag(true, flagtest.Threshold(50, false)), "user-1", matched(false)},
		{"on the threshold", flag(true, flagtest.Threshold(49, false)), "user-1", fallback(true)},
		{"no rollouts", flag(true), "user-1", fallback(true)},
		{"segment first", flag(false, flagtest.SegmentRollout(true, or, "everyone"), flagtest.Threshold(100, false)), "user-1", matched(true, "everyone")},

		// 7.6: rollouts in rank order, also after a threshold that does not match.
		{"no rollouts, disabled", flag(false), "user-1", fallback(false)},
		{"threshold first", flag(true, flagtest.Threshold(100, false), flagtest.SegmentRollout(true, or, "everyone")), "user-1", matched(false)},
		{"missed threshold, then segment", flag(false, flagtest.Threshold(10, false), flagtest.SegmentRollout(true, or, "everyone")), "user-1", matched(true, "everyone")},
		{"missed segment, then threshold", flag(false, flagtest.SegmentRollout(false, or, "nobody"), flagtest.Threshold(50, true)), "user-1", matched(true)},
		{"nothing matches", flag(true, flagtest.SegmentRollout(false, or, "nobody"), flagtest.Threshold(10, false)), "user-1", fallback(true)},
		{"all of", flag(false, flagtest.SegmentRollout(true, and, "everyone", "nobody")), "user-1", fallback(false)},
		{"any of", flag(false, flagtest.SegmentRollout(true, or, "everyone", "nobody")), "user-1", matched(true, "everyone")},
		{"fraction includes the bucket of its integer part", flag(false, flagtest.Threshold(49.5, true)), "user-1", matched(true)},
		{"zero", flag(true, flagtest.Threshold(0, false)), "u17", fallback(true)},
		{"hundred", flag(false, flagtest.Threshold(100, true)), "u198", matched(true)},
		{"lost segment", flag(false, flagtest.SegmentRollout(true, or, "lost")), "user-1", fallback(false)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := flagtest.SnapshotOf(tt.flag, flagtest.Everyone(), nobody).Boolean("new-ui", tt.entityID, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, ignoreBucketed); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSegment covers the rules of contract 7.3.
func TestSegment(t *testing.T) {
	tests := []struct {
		name    string
		segment *guidon.Segment
		context map[string]string
		want    bool
	}{
		{"all, no constraints", flagtest.Segment("s", guidon.MatchAll), nil, true},
		{"any, no constraints", flagtest.Segment("s", guidon.MatchAny), nil, true},
		{"all, none holds", flagtest.Segment("s", guidon.MatchAll, flagtest.Has("a"), flagtest.Has("b")), nil, false},
		{"all, one holds", flagtest.Segment("s", guidon.MatchAll, flagtest.Has("a"), flagtest.Has("b")), flagtest.Yes("a"), false},
		{"all, the other holds", flagtest.Segment("s", guidon.MatchAll, flagtest.Has("a"), flagtest.Has("b")), flagtest.Yes("b"), false},
		{"all, all hold", flagtest.Segment("s", guidon.MatchAll, flagtest.Has("a"), flagtest.Has("b")), flagtest.Yes("a", "b"), true},
		{"any, none holds", flagtest.Segment("s", guidon.MatchAny, flagtest.Has("a"), flagtest.Has("b")), nil, false},
		{"any, one holds", flagtest.Segment("s", guidon.MatchAny, flagtest.Has("a"), flagtest.Has("b")), flagtest.Yes("a"), true},
		{"any, the other holds", flagtest.Segment("s", guidon.MatchAny, flagtest.Has("a"), flagtest.Has("b")), flagtest.Yes("b"), true},
		{"any, all hold", flagtest.Segment("s", guidon.MatchAny, flagtest.Has("a"), flagtest.Has("b")), flagtest.Yes("a", "b"), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := flagtest.SnapshotOf(flagtest.BooleanFlag("f", false, flagtest.SegmentRollout(true, guidon.OrSegments, "s")), tt.segment)
			got, err := s.Boolean("f", "someone", tt.context)
			if err != nil || got.Enabled != tt.want {
				t.Errorf("got %t, %v, want %t", got.Enabled, err, tt.want)
			}
		})
	}
}

// TestSegmentSet covers the rules of contract 7.4: the result names the segments that
// matched, in the order in which they are attached.
func TestSegmentSet(t *testing.T) {
	segments := []*guidon.Segment{
		flagtest.Segment("a", guidon.MatchAll, flagtest.Has("a")), flagtest.Segment("b", guidon.MatchAll, flagtest.Has("b")), flagtest.Segment("c", guidon.MatchAll, flagtest.Has("c")),
	}
	any3, all3 := flagtest.Rule(flagtest.Shares{100}, "c", "a", "b"), flagtest.RuleOfAll(flagtest.Shares{100}, "c", "a", "b")
	tests := []struct {
		name    string
		rule    *guidon.Rule
		context map[string]string
		want    []string
	}{
		{"any, none", any3, nil, nil},
		{"any, first", any3, flagtest.Yes("c"), []string{"c"}},
		{"any, last", any3, flagtest.Yes("b"), []string{"b"}},
		{"any, two", any3, flagtest.Yes("b", "c"), []string{"c", "b"}},
		{"any, all", any3, flagtest.Yes("a", "b", "c"), []string{"c", "a", "b"}},
		{"all, none", all3, nil, nil},
		{"all, two", all3, flagtest.Yes("a", "b"), nil},
		{"all, all", all3, flagtest.Yes("a", "b", "c"), []string{"c", "a", "b"}},
		{"single, any", flagtest.Rule(flagtest.Shares{100}, "a"), flagtest.Yes("a"), []string{"a"}},
		{"single, all", flagtest.RuleOfAll(flagtest.Shares{100}, "a"), flagtest.Yes("a"), []string{"a"}},
		{"single, all, none", flagtest.RuleOfAll(flagtest.Shares{100}, "a"), flagtest.Yes("b"), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := flagtest.SnapshotOf(flagtest.VariantFlag("f", tt.rule), segments...).Variant("f", "someone", tt.context)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.SegmentKeys); diff != "" || got.Match != (tt.want != nil) {
				t.Errorf("match %t, segment keys (-want +got):\n%s", got.Match, diff)
			}
		})
	}
}

// TestEvaluationErrors covers the messages of contract 5.3.
func TestEvaluationErrors(t *testing.T) {
	mystery := flagtest.Segment("mystery", guidon.MatchAny, flagtest.Has("a"), &guidon.Constraint{Property: "p", Operator: guidon.OpEQ, Value: "x"})
	segments := []*guidon.Segment{mystery, flagtest.Everyone()}
	tests := []struct {
		name string
		flag *guidon.Flag
		key  string
		code guidon.Code
		want string
	}{
		{"unknown flag", flagtest.VariantFlag("f"), "g", guidon.NotFound, `flag "default/g" not found`},
		// An unknown type fails the request even if another constraint would have
		// decided (contract 7.2).
		{"unknown type", flagtest.VariantFlag("f", flagtest.Rule(nil, "mystery")), "f", guidon.InvalidArgument, "unknown constraint type"},
		{"unknown type in the second segment", flagtest.VariantFlag("f", flagtest.Rule(nil, "everyone", "mystery")), "f", guidon.InvalidArgument, "unknown constraint type"},
		{"unknown type in rollout", flagtest.BooleanFlag("f", true, flagtest.SegmentRollout(true, guidon.AndSegments, "mystery")), "f", guidon.InvalidArgument, "unknown constraint type"},
		{"unknown type not reached", flagtest.VariantFlag("f", flagtest.Rule(nil, "everyone"), flagtest.Rule(nil, "mystery")), "f", guidon.Internal, ""},
		{"unknown type, disabled", flagtest.Disabled(flagtest.VariantFlag("f", flagtest.Rule(nil, "mystery"))), "f", guidon.Internal, ""},
		{"unknown type behind threshold", flagtest.BooleanFlag("f", true, flagtest.Threshold(100, true), flagtest.SegmentRollout(true, guidon.OrSegments, "mystery")), "f", guidon.Internal, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := flagtest.SnapshotOf(tt.flag, segments...)
			var err error
			if tt.flag.Type == guidon.BooleanFlag {
				_, err = s.Boolean(tt.key, "someone", flagtest.Yes("a"))
			} else {
				_, err = s.Variant(tt.key, "someone", flagtest.Yes("a"))
			}
			flagtest.CheckError(t, err, tt.code, tt.want)
		})
	}
	t.Run("wrong type", func(t *testing.T) {
		_, err := flagtest.SnapshotOf(flagtest.BooleanFlag("f", true)).Variant("f", "someone", nil)
		flagtest.CheckError(t, err, guidon.InvalidArgument, "flag type BOOLEAN_FLAG_TYPE invalid")
		_, err = flagtest.SnapshotOf(flagtest.Disabled(flagtest.VariantFlag("f"))).Boolean("f", "someone", nil)
		flagtest.CheckError(t, err, guidon.InvalidArgument, "flag type VARIANT_FLAG_TYPE invalid")
		_, err = flagtest.SnapshotOf(flagtest.VariantFlag("f")).Boolean("g", "someone", nil)
		flagtest.CheckError(t, err, guidon.NotFound, `flag "default/g" not found`)
	})
}

// TestEvaluationAllocates: an evaluation allocates at most once, and only for a list
// of matched segments that cannot be precomputed.
func TestEvaluationAllocates(t *testing.T) {
	segments := []*guidon.Segment{
		flagtest.Segment("a", guidon.MatchAll, flagtest.Has("a")), flagtest.Segment("b", guidon.MatchAll, flagtest.Has("b")),
		flagtest.Segment("c", guidon.MatchAll, flagtest.Has("c")), flagtest.Segment("d", guidon.MatchAll, flagtest.Has("d")),
		flagtest.Segment("everything", guidon.MatchAll,
			&guidon.Constraint{Type: guidon.StringComparison, Property: "a", Operator: guidon.OpIsOneOf, Value: `["yes","no"]`},
			&guidon.Constraint{Type: guidon.StringComparison, Property: "a", Operator: guidon.OpPrefix, Value: `y`},
			&guidon.Constraint{Type: guidon.NumberComparison, Property: "number", Operator: guidon.OpGT, Value: "1.5"},
			&guidon.Constraint{Type: guidon.BooleanComparison, Property: "truth", Operator: guidon.OpTrue},
			&guidon.Constraint{Type: guidon.DateTimeComparison, Property: "date", Operator: guidon.OpGT, Value: "2024-01-01"},
			&guidon.Constraint{Type: guidon.DateTimeComparison, Property: "instant", Operator: guidon.OpGT, Value: "2024-01-01"},
			&guidon.Constraint{Type: guidon.EntityIDComparison, Property: "entityId", Operator: guidon.OpNotContains, Value: "@"},
		),
	}
	context := flagtest.Yes("a", "b", "c")
	context["number"], context["truth"], context["date"], context["instant"] = "2.5", "true", "2025-01-01", "2025-01-01T12:00:00.5Z"
	half := flagtest.Shares{50, 50}
	tests := []struct {
		name string
		flag *guidon.Flag
		most float64
	}{
		{"no rules", flagtest.VariantFlag("f"), 0},
		{"one segment", flagtest.VariantFlag("f", flagtest.Rule(half, "a")), 0},
		{"every type", flagtest.VariantFlag("f", flagtest.Rule(half, "everything")), 0},
		{"any, one matches", flagtest.VariantFlag("f", flagtest.Rule(half, "d", "a")), 0},
		{"any, three match", flagtest.VariantFlag("f", flagtest.Rule(half, "a", "b", "c", "d")), 1},
		{"all", flagtest.VariantFlag("f", flagtest.RuleOfAll(half, "a", "b", "c")), 0},
		{"threshold", flagtest.BooleanFlag("f", true, flagtest.Threshold(50, true)), 0},
		{"rollout to any", flagtest.BooleanFlag("f", true, flagtest.SegmentRollout(true, guidon.OrSegments, "a", "b", "c")), 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := flagtest.SnapshotOf(tt.flag, segments...)
			var err error
			got := testing.AllocsPerRun(100, func() {
				if tt.flag.Type == guidon.BooleanFlag {
					_, err = s.Boolean("f", "a-rather-long-entity-identifier-of-more-than-32-bytes", context)
				} else {
					_, err = s.Variant("f", "a-rather-long-entity-identifier-of-more-than-32-bytes", context)
				}
			})
			if err != nil || got > tt.most {
				t.Errorf("got %g allocations, %v, want at most %g", got, err, tt.most)
			}
		})
	}
}

// TestEvaluateConcurrently evaluates flags of one snapshot in several goroutines,
// which also apply deltas to it, for the race detector.
func TestEvaluateConcurrently(t *testing.T) {
	s, entities := benchSnapshot(100), benchEntities()
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i, e := range entities {
				f := s.Flags()[(i+worker)%len(s.Flags())]
				var err error
				if f.Type == guidon.BooleanFlag {
					_, err = s.Boolean(f.Key, e.id, e.context)
				} else {
					_, err = s.Variant(f.Key, e.id, e.context)
				}
				if err != nil {
					t.Error(err)
					return
				}
				if i%50 == 0 {
					s.Apply(guidon.SnapshotDelta{Flags: []*guidon.Flag{benchFlag(i % 100)}, Segments: []*guidon.Segment{benchSegment(i)}})
				}
			}
		})
	}
	group.Wait()
}
