package analysis_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// FuzzConditions compares what is said of flags whose rules have conditions, portions and ways to
// divide of their own with evaluations.
func FuzzConditions(f *testing.F) {
	seedEdits(f)
	f.Fuzz(func(t *testing.T, data []byte, value string) {
		input := flagtest.NewTargetedInput(data)
		now := input.Minute()
		before, after := editOf(input, value)
		before, after = before.At(now), after.At(now)
		if before.Flag("flag").Type > guidon.BooleanFlag {
			return
		}
		for _, u := range fuzzUsers(value) {
			if _, err := analysis.Decide(before, "flag", u.id, u.context); err != nil {
				return // a constraint of an unknown type
			}
			if _, err := analysis.Decide(after, "flag", u.id, u.context); err != nil {
				return
			}
		}
		checkReach(t, before, value)
		checkSummary(t, before, value)
		checkMoves(t, before, after, value)
		checkExplanations(t, before, value)
	})
}

func decidedBy(s *guidon.Snapshot, u fuzzUser) int {
	e, err := analysis.Decide(s, "flag", u.id, u.context)
	if err != nil {
		return analysis.NoStep
	}
	return e.Decided
}

// isUnmet reports whether the flag is off because of another.
func isUnmet(s *guidon.Snapshot, u fuzzUser) bool {
	e, err := analysis.Decide(s, "flag", u.id, u.context)
	return err == nil && e.Unmet() != ""
}

func checkReach(t *testing.T, s *guidon.Snapshot, value string) {
	t.Helper()
	reach := reachOf(s, "flag")
	for _, u := range fuzzUsers(value) {
		got, step := outcomeOf(s, u), decidedBy(s, u)
		switch {
		case reach.Disabled:
		case step >= 0 && reach.Steps[step].Cause != analysis.Reached:
			t.Errorf("%v is decided by step %d: %+v", u, step, reach.Steps[step])
		case step < 0 && reach.Default.Cause != analysis.Reached && !isUnmet(s, u):
			t.Errorf("%v gets the default: %+v", u, reach.Default)
		case got.VariantKey != "" && slices.Contains(reach.Unserved, got.VariantKey):
			t.Errorf("%v gets %s, which nobody should: %+v", u, got.VariantKey, reach)
		}
	}
}

func checkSummary(t *testing.T, s *guidon.Snapshot, value string) {
	t.Helper()
	o, flag := analysis.Summarize(s.Compiled("flag")), s.Flag("flag")
	for _, u := range fuzzUsers(value) {
		got := outcomeOf(s, u)
		if o.Constant && answerOf(got) != answerOfShare(o.Answer) {
			t.Errorf("%v gets %s, but everybody %s", u, answerOf(got), answerOfShare(o.Answer))
		}
		if flag.Type == guidon.BooleanFlag && (o.State == analysis.OffState && got.Enabled || o.State == analysis.OnState && !got.Enabled) {
			t.Errorf("%v gets %+v, but the state is %d", u, got, o.State)
		}
	}
	sum := int32(0)
	for _, share := range o.EveryoneElse {
		sum += share.Buckets
	}
	if sum < guidon.FineBuckets-10 || sum > guidon.FineBuckets+10 { // parts are rounded
		t.Errorf("the shares of everyone else sum up to %d", sum)
	}
}

// checkMoves checks that the effect of the edit has each user's change.
func checkMoves(t *testing.T, before, after *guidon.Snapshot, value string) {
	t.Helper()
	e := effectOf(before, after, "flag")
	checkSums(t, e)
	if e.TypeChanged || e.Truncated {
		return
	}
	for _, u := range fuzzUsers(value) {
		from, to := outcomeOf(before, u), outcomeOf(after, u)
		if e.Everyone != nil && !to.SameValue(*e.Everyone) {
			t.Errorf("%v gets %+v, but everyone %+v", u, to, *e.Everyone)
		}
		if from == to || e.Type == guidon.BooleanFlag && from.SameValue(to) {
			continue
		}
		moved := func(m analysis.Move) bool {
			return m.From == from && m.To == to && m.FromStep == decidedBy(before, u) && m.ToStep == decidedBy(after, u)
		}
		if !slices.ContainsFunc(e.Groups, func(g analysis.EffectGroup) bool { return slices.ContainsFunc(g.Moves, moved) }) {
			t.Errorf("%v: %+v becomes %+v, which no move says: %+v", u, from, to, e.Groups)
		}
	}
}

// checkExplanations checks that explanations have the result, and that the other results which
// they call reachable are, and those that they call impossible are no user's with the same id.
func checkExplanations(t *testing.T, s *guidon.Snapshot, value string) {
	t.Helper()
	users := fuzzUsers(value)
	for _, u := range users[:20] {
		e, err := analysis.Explain(s, "flag", u.id, u.context)
		if err != nil {
			t.Fatal(err)
		}
		if e.Boolean != nil {
			want, _ := s.Boolean("flag", u.id, u.context)
			if diff := cmp.Diff(&want, e.Boolean); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		}
		for i := range e.Others {
			checkOther(t, s, u, &e.Others[i], users)
		}
	}
}

func checkOther(t *testing.T, s *guidon.Snapshot, u fuzzUser, o *analysis.OtherResult, users []fuzzUser) {
	t.Helper()
	switch o.Verdict {
	case analysis.Reachable:
		changed := changedContext(u.context, o.Changes)
		if got, err := analysis.Decide(s, "flag", u.id, changed); err != nil || !gives(got, o) || got.Decided != o.Step {
			t.Errorf("%v: %+v: with the changes (%v) the result is %+v, %v", u, o, changed, got, err)
		}
	case analysis.Impossible:
		for _, other := range users {
			if got, err := analysis.Decide(s, "flag", u.id, other.context); err == nil && gives(got, o) {
				t.Errorf("%v: %+v, but it is the result with %v", u, o, other.context)
			}
		}
	}
}
