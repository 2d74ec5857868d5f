package guidon_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// FuzzEvaluate builds a flag, segments and a context from the input, including ones
// that the service would not store. The result always has a variant of the flag and
// segments of one of its rules.
func FuzzEvaluate(f *testing.F) {
	flagtest.SeedEvaluations(f)
	f.Fuzz(func(t *testing.T, data []byte, entityID, value string) {
		s, flag, context := flagtest.FuzzedEvaluation(data, entityID, value)
		variant, err := s.Variant(flag.Key, entityID, context)
		if flag.Type == guidon.VariantFlag {
			if checkOutcome(t, err) {
				checkVariantResult(t, flag, variant)
			}
		} else if !errors.Is(err, guidon.InvalidArgument) {
			t.Errorf("variant of a %v: got %v", flag.Type, err)
		}
		boolean, err := s.Boolean(flag.Key, entityID, context)
		if flag.Type == guidon.BooleanFlag {
			if checkOutcome(t, err) {
				checkBooleanResult(t, flag, boolean)
			}
		} else if !errors.Is(err, guidon.InvalidArgument) {
			t.Errorf("boolean of a %v: got %v", flag.Type, err)
		}
	})
}

// checkOutcome fails the test for any error but that of an unknown constraint type. It
// reports whether there is a result.
func checkOutcome(t *testing.T, err error) bool {
	t.Helper()
	if err != nil {
		flagtest.CheckError(t, err, guidon.InvalidArgument, "unknown constraint type")
	}
	return err == nil
}

func checkVariantResult(t *testing.T, flag *guidon.Flag, got guidon.VariantResult) {
	t.Helper()
	if got.VariantKey != "" {
		v := flag.VariantByKey(got.VariantKey)
		if v == nil || v.Attachment != got.Attachment {
			t.Errorf("%+v: not a variant of the flag", got)
		}
	} else if got.Attachment != "" {
		t.Errorf("%+v: an attachment without a variant", got)
	}
	if got.Match != (got.Reason == guidon.ReasonMatch) {
		t.Errorf("%+v: match and reason disagree", got)
	}
	if got.Match && len(got.SegmentKeys) == 0 {
		t.Errorf("%+v: a match without segments", got)
	}
	ofRule := func(r *guidon.Rule) bool { return subset(got.SegmentKeys, r.SegmentKeys) }
	if len(got.SegmentKeys) > 0 && !slices.ContainsFunc(flag.Rules, ofRule) {
		t.Errorf("%+v: segments of no rule", got)
	}
}

func checkBooleanResult(t *testing.T, flag *guidon.Flag, got guidon.BooleanResult) {
	t.Helper()
	switch got.Reason {
	case guidon.ReasonDefault:
		if got.Enabled != flag.Enabled || len(got.SegmentKeys) > 0 {
			t.Errorf("%+v: not the flag's own value", got)
		}
	case guidon.ReasonMatch:
		decides := func(r *guidon.Rollout) bool {
			switch {
			case r.Threshold != nil:
				return r.Threshold.Value == got.Enabled && len(got.SegmentKeys) == 0
			case r.Segment != nil:
				return r.Segment.Value == got.Enabled && len(got.SegmentKeys) > 0 && subset(got.SegmentKeys, r.Segment.SegmentKeys)
			}
			return false
		}
		if !slices.ContainsFunc(flag.Rollouts, decides) {
			t.Errorf("%+v: no rollout gives this result", got)
		}
	default: // a boolean flag has only these two reasons (contract 7.6)
		t.Errorf("%+v: not a reason of a boolean flag", got)
	}
}

func subset(some, all []string) bool {
	for _, s := range some {
		if !slices.Contains(all, s) {
			return false
		}
	}
	return true
}
