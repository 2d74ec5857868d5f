package analysis_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// describeSummary returns the summary in words.
func describeSummary(f *guidon.Flag, o analysis.Summary) string {
	text := []string{"off", "on", "partly"}[o.State] + ":"
	for _, share := range o.EveryoneElse {
		text += fmt.Sprintf(" %v%% %s", share.Percentage(), describeAnswer(f, share.Answer))
	}
	if o.Constant {
		text += "; everybody " + describeAnswer(f, o.Answer)
	}
	if o.Rounded != analysis.NoStep {
		text += fmt.Sprint("; rounded ", o.Rounded)
	}
	return text
}

func describeAnswer(f *guidon.Flag, a analysis.Answer) string {
	text := "nothing"
	switch {
	case a.Fails:
		return "fails"
	case f.Type == guidon.BooleanFlag:
		return fmt.Sprint(a.Enabled)
	case a.Variant != nil:
		text = a.Variant.Key
	}
	if a.Default {
		text += " by default"
	}
	return text
}

// countAnswers evaluates the flag for an entity of each bucket, without a context, and
// returns how many fine buckets get which answer.
func countAnswers(t *testing.T, s *guidon.Snapshot, f *guidon.Flag, context map[string]string) map[string]int {
	t.Helper()
	left := 1000
	if f.Type == guidon.BooleanFlag {
		left = 100
	}
	of := guidon.FineBuckets / left
	seen, counts := map[int]bool{}, map[string]int{}
	for i := 0; left > 0; i++ {
		u := fuzzUser{id: fmt.Sprint("entity-", i), context: context}
		if bucket := bucketOf(f.Type, f.Key, u.id); !seen[bucket] {
			seen[bucket] = true
			left--
			counts[answerOf(outcomeOf(s, u))] += of
		}
	}
	return counts
}

// answerOf returns what a client sees of the outcome.
func answerOf(o analysis.Outcome) string {
	if o.Fails {
		return "fails"
	}
	return fmt.Sprint(o.VariantKey, " ", o.Enabled)
}

func answerOfShare(a analysis.Answer) string {
	o := analysis.Outcome{Enabled: a.Enabled, Fails: a.Fails}
	if a.Variant != nil {
		o.VariantKey = a.Variant.Key
	}
	return answerOf(o)
}

func countShares(shares []analysis.AnswerShare) map[string]int {
	counts := map[string]int{}
	for _, s := range shares {
		counts[answerOfShare(s.Answer)] += int(s.Buckets)
	}
	return counts
}

// TestSummary checks what is said of a flag, and compares the shares of everyone else with
// an evaluation for each bucket.
func TestSummary(t *testing.T) {
	segments := []*guidon.Segment{
		flagtest.Everyone(),
		flagtest.Segment("staff", guidon.MatchAll, flagtest.Has("staff")),
		flagtest.Segment("beta", guidon.MatchAll, flagtest.Has("beta")),
		flagtest.Segment("nobody", guidon.MatchAll, constraint(guidon.StringComparison, "p", "eq", "a"), constraint(guidon.StringComparison, "p", "eq", "b")),
		flagtest.Segment("odd", guidon.MatchAll, &guidon.Constraint{Type: 9, Property: "p", Operator: "eq"}),
	}
	on := func(keys ...string) *guidon.Rollout {
		return flagtest.SegmentRollout(true, guidon.OrSegments, keys...)
	}
	all := func(keys ...string) *guidon.Rollout {
		return flagtest.SegmentRollout(true, guidon.AndSegments, keys...)
	}
	boolean := func(enabled bool, rollouts ...*guidon.Rollout) *guidon.Flag {
		return flagtest.BooleanFlag("flag", enabled, rollouts...)
	}
	variant := func(rules ...*guidon.Rule) *guidon.Flag { return flagtest.VariantFlag("flag", rules...) }
	to := func(shares ...float32) flagtest.Shares { return shares }
	many := make([]*guidon.Rollout, 60)
	for i := range many {
		many[i] = on("nobody")
	}
	for _, test := range []struct {
		name string
		flag *guidon.Flag
		want string
	}{
		{"off", boolean(false), "off: 100% false; everybody false"},
		{"on", boolean(true), "on: 100% true; everybody true"},
		{"on for a segment", boolean(false, on("staff")), "partly: 100% false"},
		{"off for a segment", boolean(true, flagtest.SegmentRollout(false, guidon.OrSegments, "staff")), "partly: 100% true"},
		{"on for a segment and the rest", boolean(true, on("staff")), "on: 100% true; everybody true"},
		{"on for a segment without entities", boolean(false, on("nobody")), "off: 100% false; everybody false"},
		{"on for a segment, again", boolean(true, flagtest.SegmentRollout(false, guidon.OrSegments, "nobody"), on("staff"), on("staff")), "on: 100% true; everybody true"},
		{"off for a segment that is already on", boolean(true, on("staff"), flagtest.SegmentRollout(false, guidon.OrSegments, "staff")), "on: 100% true; everybody true"},
		{"a share that is taken", boolean(true, flagtest.Threshold(50, true), flagtest.Threshold(30, false)), "on: 100% true; everybody true"},
		{"too many rollouts to analyze", boolean(false, many...), "partly: 100% false"},
		{"on for a missing segment", boolean(false, on("missing"), on("staff", "missing")), "off: 100% false; everybody false"},
		{"on for everyone", boolean(false, on("everyone")), "on: 100% true; everybody true"},
		{"on for everyone or staff", boolean(false, on("staff", "everyone")), "on: 100% true; everybody true"},
		{"on for everyone and staff", boolean(false, all("staff", "everyone")), "partly: 100% false"},
		{"a share", boolean(false, flagtest.Threshold(25, true)), "partly: 75% false 25% true"},
		{"a share that is rounded", boolean(false, flagtest.Threshold(12.5, true)), "partly: 87% false 13% true"},
		{"nearly all", boolean(false, on("staff"), flagtest.Threshold(99.9, true)), "on: 100% true; everybody true; rounded 1"},
		{"nearly all, but staff", boolean(false, flagtest.SegmentRollout(false, guidon.OrSegments, "staff"), flagtest.Threshold(99.9, true)), "partly: 100% true; rounded 1"},
		{"nearly all, never reached", boolean(false, on("everyone"), flagtest.Threshold(99.9, false)), "on: 100% true; everybody true"},
		{"all", boolean(false, flagtest.Threshold(100, true)), "on: 100% true; everybody true"},
		{"none", boolean(false, flagtest.Threshold(0, true)), "off: 100% false; everybody false"},
		{"turned off", boolean(true, flagtest.Threshold(100, false), on("staff")), "off: 100% false; everybody false"},
		{"shares with common buckets", boolean(false, flagtest.Threshold(50, true), flagtest.Threshold(30, false), flagtest.Threshold(60, false), flagtest.Threshold(80, true)), "partly: 70% true 30% false"},
		{"a share, then everyone", boolean(false, flagtest.Threshold(10, false), on("everyone"), flagtest.Threshold(50, false)), "partly: 90% true 10% false"},
		{"staff, then a share", boolean(false, on("staff"), flagtest.Threshold(10, true)), "partly: 90% false 10% true"},
		{"an unknown constraint", boolean(false, flagtest.Threshold(10, true), on("odd")), "partly: 90% fails 10% true"},
		{"only an unknown constraint", boolean(true, on("odd")), "off: 100% fails"},

		{"a variant flag without rules", variant(), "on: 100% nothing by default; everybody nothing by default"},
		{"a default variant", flagtest.WithDefault(variant(), "B"), "on: 100% B by default; everybody B by default"},
		{"not enabled", flagtest.Disabled(flagtest.WithDefault(variant(flagtest.Rule(to(100), "everyone")), "B")), "off: 100% B by default; everybody B by default"},
		{"a rule for a segment", flagtest.WithDefault(variant(flagtest.Rule(to(100), "staff")), "B"), "on: 100% B by default"},
		{"a rule for everyone", variant(flagtest.Rule(to(25, 75), "everyone")), "on: 75% B 25% A"},
		{"a rule for everyone and staff", variant(flagtest.RuleOfAll(to(100), "everyone", "staff")), "on: 100% nothing by default"},
		{"thirds", flagtest.WithDefault(variant(flagtest.Rule(to(33.33, 33.33, 33.33), "everyone")), "A"), "on: 33.3% A 33.3% B 33.3% C 0.1% A by default"},
		{"a rest without a default", variant(flagtest.Rule(to(10, 20), "everyone"), flagtest.Rule(to(100), "everyone")), "on: 70% nothing by default 20% B 10% A"},
		{"more than all", variant(flagtest.Rule(to(80, 80), "everyone")), "on: 80% A 20% B"},
		{"no distributions", flagtest.WithDefault(variant(flagtest.Rule(nil, "everyone")), "C"), "on: 100% C by default; everybody C by default"},
		{"one variant for all", variant(flagtest.Rule(to(100), "staff"), flagtest.Rule(to(100), "everyone")), "on: 100% A; everybody A"},
		{"one variant for all, partly by default", flagtest.WithDefault(variant(flagtest.Rule(to(60), "everyone")), "A"), "on: 60% A 40% A by default; everybody A"},
		{"another variant for nobody", flagtest.WithDefault(variant(flagtest.Rule(to(0, 100), "nobody")), "A"), "on: 100% A by default; everybody A by default"},
		{"an unknown constraint in a rule", variant(flagtest.Rule(to(100), "staff"), flagtest.Rule(to(100), "odd")), "on: 100% fails"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := flagtest.SnapshotOf(test.flag, segments...)
			o := analysis.Summarize(s.Compiled("flag"))
			if got := describeSummary(test.flag, o); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if diff := cmp.Diff(countAnswers(t, s, test.flag, nil), countShares(o.EveryoneElse)); diff != "" {
				t.Errorf("everyone else (-evaluated +summary):\n%s", diff)
			}
		})
	}
}

// FuzzSummary compares summaries with evaluations.
func FuzzSummary(f *testing.F) {
	seedEdits(f)
	f.Fuzz(func(t *testing.T, data []byte, value string) {
		s, _ := fuzzEdit(data, value)
		flag := s.Flag("flag")
		if flag.Type > guidon.BooleanFlag {
			return
		}
		o := analysis.Summarize(s.Compiled("flag"))
		for _, u := range fuzzUsers(value) {
			got := outcomeOf(s, u)
			if o.Constant && answerOf(got) != answerOfShare(o.Answer) {
				t.Errorf("%v gets %s, but everybody %s", u, answerOf(got), answerOfShare(o.Answer))
			}
			if flag.Type == guidon.BooleanFlag && (o.State == analysis.OffState && got.Enabled || o.State == analysis.OnState && !got.Enabled) {
				t.Errorf("%v gets %+v, but the state is %d", u, got, o.State)
			}
		}
		if state, known := reachedState(s); known && o.State != state {
			t.Errorf("the state is %d, but by its reach %d", o.State, state)
		}
		if context := outsideOf(s, value); context != nil {
			if diff := cmp.Diff(countAnswers(t, s, flag, context), countShares(o.EveryoneElse)); diff != "" {
				t.Errorf("everyone else (-evaluated +summary):\n%s", diff)
			}
		}
	})
}

// reachedState returns the state of a boolean flag by its reach.
func reachedState(s *guidon.Snapshot) (analysis.FlagState, bool) {
	flag, reach := s.Flag("flag"), reachOf(s, "flag")
	if flag.Type != guidon.BooleanFlag || reach.Truncated {
		return 0, false
	}
	var on, off bool
	add := func(value bool) { on, off = on || value, off || !value }
	for i, step := range reach.Steps {
		switch r := flag.Rollouts[i]; {
		case step.Cause != analysis.Reached:
		case step.Fails:
			off = true
		case r.Threshold != nil:
			add(r.Threshold.Value)
		default:
			add(r.Segment.Value)
		}
	}
	if reach.Default.Cause == analysis.Reached {
		add(flag.Enabled)
	}
	switch {
	case on && off:
		return analysis.PartlyState, true
	case on:
		return analysis.OnState, true
	}
	return analysis.OffState, true
}

// outsideOf returns a context with which no entity is in a segment with constraints, or nil
// if it finds none.
func outsideOf(s *guidon.Snapshot, value string) map[string]string {
	for _, u := range append(fuzzUsers(value), fuzzUser{context: map[string]string{}}) {
		inside := false
		for _, g := range s.Segments() {
			for _, c := range g.Constraints {
				inside = inside || c.Type == guidon.EntityIDComparison // may match some of the entities
			}
			if len(g.Constraints) > 0 {
				u.id = "entity-0"
				inside = inside || matches(s, []string{g.Key}, guidon.OrSegments, u)
			}
		}
		if !inside {
			return u.context
		}
	}
	return nil
}
