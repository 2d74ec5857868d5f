package analysis_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// FuzzExplain compares explanations with evaluations: they have the same result or the same
// error, the path determines exactly that result, and an evaluation with the changes of
// another, reachable result returns that one.
func FuzzExplain(f *testing.F) {
	flagtest.SeedEvaluations(f)
	f.Fuzz(func(t *testing.T, data []byte, entityID, value string) {
		s, flag, context := flagtest.FuzzedEvaluation(data, entityID, value)
		e, err := analysis.Explain(s, flag.Key, entityID, context)
		if flag.Type == guidon.BooleanFlag {
			want, wantErr := s.Boolean(flag.Key, entityID, context)
			if !sameError(t, err, wantErr) {
				return
			}
			if diff := cmp.Diff(&want, e.Boolean); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, booleanOfPath(e), cmpopts.IgnoreFields(want, "Divided")); diff != "" {
				t.Errorf("result of the path (-want +got):\n%s", diff)
			}
		} else {
			want, wantErr := s.Variant(flag.Key, entityID, context)
			if !sameError(t, err, wantErr) {
				return
			}
			if diff := cmp.Diff(&want, e.Variant); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, variantOfPath(e), cmpopts.IgnoreFields(want, "Divided")); diff != "" {
				t.Errorf("result of the path (-want +got):\n%s", diff)
			}
		}
		checkOthers(t, s, e, entityID, context)
	})
}

// sameError fails the test if the errors differ. It reports whether both are nil.
func sameError(t *testing.T, got, want error) bool {
	t.Helper()
	if got != want {
		t.Fatalf("got error %v, want that of the evaluation: %v", got, want)
	}
	return got == nil
}

// variantOfPath returns the result that the path of an explanation describes.
func variantOfPath(e *analysis.Explanation) guidon.VariantResult {
	result := guidon.VariantResult{}
	if v := e.Flag.DefaultVariant(); v != nil {
		result = guidon.VariantResult{Reason: guidon.ReasonDefault, VariantKey: v.Key, Attachment: v.Attachment}
	}
	if !e.Flag.Enabled {
		result.Reason = guidon.ReasonFlagDisabled
	}
	if e.Decided < 0 {
		return result
	}
	step := &e.Steps[e.Decided]
	result.SegmentKeys, result.Rule = matchedKeys(step), int32(e.Decided+1)
	if b := step.Bucket; b != nil {
		for _, r := range b.Ranges {
			if r.Distribution.Rollout > 0 && r.Variant != "" {
				result.Bucketed = r.End < b.Of // of the first one
				break
			}
		}
		if b.Chosen >= 0 {
			v := e.Flag.Variant(b.Ranges[b.Chosen].Distribution.VariantID)
			result.VariantKey, result.Attachment = v.Key, v.Attachment
		}
	}
	if result.Match = step.Outcome == analysis.StepMatched; result.Match {
		result.Reason = guidon.ReasonMatch
	}
	return result
}

// booleanOfPath does the same for a boolean flag.
func booleanOfPath(e *analysis.Explanation) guidon.BooleanResult {
	result := guidon.BooleanResult{Enabled: e.Flag.Enabled, Reason: guidon.ReasonDefault}
	for i := range e.Steps {
		if b := e.Steps[i].Bucket; b != nil && e.Steps[i].Rollout.Threshold.Percentage > 0 && e.Steps[i].Rollout.Threshold.Percentage < 100 {
			result.Bucketed = true
		}
	}
	if e.Decided < 0 {
		return result
	}
	step := &e.Steps[e.Decided]
	result.Reason, result.Rule = guidon.ReasonMatch, int32(e.Decided+1)
	if r := step.Rollout; r.Threshold != nil {
		result.Enabled = r.Threshold.Value
	} else {
		result.Enabled, result.SegmentKeys = r.Segment.Value, matchedKeys(step)
	}
	return result
}

func matchedKeys(step *analysis.ExplainedStep) (keys []string) {
	for _, g := range step.Segments {
		if g.Matched {
			keys = append(keys, g.Key)
		}
	}
	return keys
}

// checkOthers makes the changes of every reachable result, and evaluates the flag with them.
func checkOthers(t *testing.T, s *guidon.Snapshot, e *analysis.Explanation, entityID string, context map[string]string) {
	t.Helper()
	for i := range e.Others {
		o := &e.Others[i]
		if o.Verdict != analysis.Reachable {
			if len(o.Obstacles) == 0 && !e.Limited {
				t.Errorf("%+v: neither reachable nor an obstacle", o)
			}
			continue
		}
		changed := changedContext(context, o.Changes)
		got, err := analysis.Explain(s, e.Flag.Key, entityID, changed)
		if err != nil {
			t.Errorf("%+v: evaluation with the changes: %v", o, err)
			continue
		}
		if !gives(got, o) || got.Decided != o.Step {
			t.Errorf("%+v: with the changes (%v) the result is %+v%+v of step %d", o, changed, got.Variant, got.Boolean, got.Decided)
		}
		if want, got := changedOutcomes(o), differing(got, entityID, context); want != got {
			t.Errorf("%+v: the changes state %d outcomes, with them %d differ", o, want, got)
		}
	}
}

// changedContext returns the context with the examples of the changes.
func changedContext(context map[string]string, changes []analysis.PropertyChange) map[string]string {
	changed := make(map[string]string)
	for key, value := range context {
		changed[key] = value
	}
	for _, c := range changes {
		changed[c.Property] = c.Example
	}
	return changed
}

// gives reports whether the explanation has the other result.
func gives(e *analysis.Explanation, o *analysis.OtherResult) bool {
	if e.Boolean != nil {
		return e.Boolean.Enabled == o.Enabled
	}
	return e.Variant.Match == o.Match && e.Variant.VariantKey == o.VariantKey
}

func changedOutcomes(o *analysis.OtherResult) (n int) {
	for _, c := range o.Changes {
		n += len(c.Outcomes)
	}
	return n
}

// outcomeKey identifies constraints that compare the same in the same way.
type outcomeKey struct {
	kind                      guidon.ComparisonType
	property, operator, value string
	negate                    bool
}

func keyOf(c *guidon.Constraint) outcomeKey {
	return outcomeKey{c.Type, c.Property, c.Operator, c.Value, c.Negate}
}

// differing returns how many outcomes on the path of after are others with the context
// before. Steps that the explanation before has not reached are evaluated for that.
func differing(after *analysis.Explanation, entityID string, before map[string]string) int {
	last := after.Decided
	if last < 0 {
		last = len(after.Steps) - 1
	}
	different := make(map[outcomeKey]bool)
	for i := range after.Steps[:last+1] {
		if after.Steps[i].Outcome == analysis.StepNeverMatches {
			continue // evaluations skip it
		}
		for _, g := range after.Steps[i].Segments {
			for _, c := range g.Constraints {
				if matchesAlone(c.Constraint, entityID, before) != c.Matched {
					different[keyOf(c.Constraint)] = true
				}
			}
		}
	}
	return len(different)
}

// matchesAlone evaluates a single constraint.
func matchesAlone(c *guidon.Constraint, entityID string, context map[string]string) bool {
	flag := flagtest.VariantFlag("alone", flagtest.Rule(nil, "alone"))
	s := flagtest.SnapshotOf(flag, flagtest.Segment("alone", guidon.MatchAll, c))
	result, err := s.Variant("alone", entityID, context)
	return err == nil && result.Match
}
