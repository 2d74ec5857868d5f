package object

import (
	"strconv"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// ruled is a flag with its rules, while they are edited.
type ruled struct {
	*guidonv1.DocumentFlag
	rules []*rule
}

// rule is a rule of a flag of either type.
type rule struct {
	*guidonv1.DocumentRule        // of a boolean flag: whom it is for, with its share as the portion
	value                  bool   // of a boolean flag
	description            string // of a boolean flag
}

func isBoolean(f *guidonv1.DocumentFlag) bool { return f.GetType() == flipt.FlagType_BOOLEAN_FLAG_TYPE }

// rulesOf returns the rules of a flag.
func rulesOf(f *guidonv1.DocumentFlag) []*rule {
	if !isBoolean(f) {
		return lists.Map(f.GetRules(), func(r *guidonv1.DocumentRule) *rule { return &rule{DocumentRule: r} })
	}
	return lists.Map(f.GetRollouts(), booleanRule)
}

func booleanRule(r *guidonv1.DocumentRollout) *rule {
	of := &guidonv1.DocumentRule{
		SegmentKeys: r.GetSegment().GetSegmentKeys(), SegmentOperator: r.GetSegment().GetSegmentOperator(),
		Groups: r.GetGroups(), ExceptSegmentKeys: r.GetExceptSegmentKeys(), Everyone: r.GetEveryone(), Portion: r.GetPortion(),
		Requires: r.GetRequires(), HoldsFrom: r.GetHoldsFrom(), HoldsUntil: r.GetHoldsUntil(),
	}
	if t := r.GetThreshold(); t != nil {
		of.Portion = &flipt.Portion{Percentage: t.GetPercentage(), Start: t.GetStart(), Split: t.GetSplit(), Ramp: t.GetRamp()}
	}
	return &rule{of, r.GetSegment().GetValue() || r.GetThreshold().GetValue(), r.GetDescription()}
}

// store makes the rules those of the flag.
func (f *ruled) store() {
	if isBoolean(f.DocumentFlag) {
		f.Rollouts = lists.Map(f.rules, (*rule).rollout)
		return
	}
	f.Rules = lists.Map(f.rules, func(r *rule) *guidonv1.DocumentRule { return r.DocumentRule })
}

// rollout returns the rule of a boolean flag as documents have it. A share of everyone is a
// threshold; one of other entities a portion.
func (r *rule) rollout() *guidonv1.DocumentRollout {
	stored := &guidonv1.DocumentRollout{
		Description: r.description, Groups: r.GetGroups(), ExceptSegmentKeys: r.GetExceptSegmentKeys(), Everyone: r.GetEveryone(),
		Requires: r.GetRequires(), HoldsFrom: r.GetHoldsFrom(), HoldsUntil: r.GetHoldsUntil(),
	}
	p := r.GetPortion()
	if !hasTarget(r.DocumentRule) {
		stored.Rule = &guidonv1.DocumentRollout_Threshold{Threshold: &guidonv1.DocumentRolloutThreshold{
			Percentage: p.GetPercentage(), Value: r.value, Start: p.GetStart(), Split: p.GetSplit(), Ramp: p.GetRamp(),
		}}
		return stored
	}
	stored.Portion = p
	stored.Rule = &guidonv1.DocumentRollout_Segment{Segment: &guidonv1.DocumentRolloutSegment{
		SegmentKeys: r.GetSegmentKeys(), SegmentOperator: r.GetSegmentOperator(), Value: r.value,
	}}
	return stored
}

// index returns the index of the rule whose number the text is.
func (f *ruled) index(text string) (int, error) {
	n, err := strconv.Atoi(text)
	switch count := len(f.rules); {
	case count == 0:
		return 0, cli.UsageError("flag %q has no rules", f.GetKey())
	case err != nil || n < 1 || n > count:
		return 0, cli.UsageError("invalid rule %q: must be a number from 1 to %d; \"guidon flag get %s\" shows the rules", text, count, f.GetKey())
	}
	return n - 1, nil
}

// isTurnedOff reports whether the first rule of a boolean flag, or the state of a variant
// flag, turns it off for everybody.
func isTurnedOff(f *guidonv1.DocumentFlag) bool {
	if !isBoolean(f) {
		return !f.GetEnabled()
	}
	if len(f.GetRollouts()) == 0 {
		return false
	}
	r := f.GetRollouts()[0]
	t := r.GetThreshold()
	return t.GetPercentage() >= 100 && t.GetRamp() == nil && !t.GetValue() && r.GetDescription() == service.OffDescription &&
		r.GetHoldsFrom() == nil && r.GetHoldsUntil() == nil
}
