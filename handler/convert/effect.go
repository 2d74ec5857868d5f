package convert

import (
	"fmt"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
)

// Effect returns the message of an effect.
func Effect(e *analysis.Effect) *guidonv1.FlagEffect {
	return &guidonv1.FlagEffect{
		Type: FlagType(e.Type), Buckets: Count(e.Buckets), TypeChanged: e.TypeChanged,
		Steps: lists.Map(e.Steps, func(p analysis.StepPair) *guidonv1.StepPair {
			return &guidonv1.StepPair{Before: step(p.Before), After: step(p.After)}
		}),
		Groups:    lists.Map(e.Groups, func(g analysis.EffectGroup) *guidonv1.EffectGroup { return effectGroup(e, &g) }),
		Truncated: e.Truncated, Everyone: e.DescribeAll(),
		Later: lists.Map(e.Later, func(l analysis.LaterEffect) *guidonv1.LaterEffect {
			return &guidonv1.LaterEffect{At: Timestamp(l.At), Effect: Effect(l.Effect)}
		}),
		Dependents: lists.Map(e.Dependents, func(d analysis.DependentEffect) *guidonv1.DependentEffect {
			return &guidonv1.DependentEffect{FlagKey: d.FlagKey, Effect: Effect(d.Effect)}
		}),
	}
}

func effectGroup(e *analysis.Effect, g *analysis.EffectGroup) *guidonv1.EffectGroup {
	return &guidonv1.EffectGroup{
		Before: step(g.Before), After: step(g.After), Membership: guidonv1.GroupMembership(g.Who),
		ChangedSegments: g.ChangedSegments, UnchangedBuckets: Count(g.Unchanged),
		Moves: lists.Map(g.Moves, func(m analysis.Move) *guidonv1.EffectMove {
			return &guidonv1.EffectMove{
				Buckets: Count(m.Buckets), Percentage: float32(m.Buckets) * 100 / float32(e.Buckets),
				From: flagOutcome(m.From), To: flagOutcome(m.To), FromStep: step(m.FromStep), ToStep: step(m.ToStep),
				SameValue: m.From.SameValue(m.To), Summary: e.Describe(g, &m),
			}
		}),
	}
}

// step returns the index of a rule or rollout, or nil for none.
func step(index int) *int32 {
	if index == analysis.NoStep {
		return nil
	}
	return new(Count(index))
}

func flagOutcome(o analysis.Outcome) *guidonv1.FlagOutcome {
	m := &guidonv1.FlagOutcome{Match: o.Match, VariantKey: o.VariantKey, Enabled: o.Enabled}
	switch {
	case o.Absent:
		m.Reason = guidonv1.OutcomeReason_NOT_FOUND_OUTCOME_REASON
	case o.Fails:
		m.Reason = guidonv1.OutcomeReason_ERROR_OUTCOME_REASON
	default:
		m.Reason = guidonv1.OutcomeReason(o.Reason)
	}
	return m
}

// Timeline returns the message of the boundaries of the flag after the epoch.
func Timeline(f *guidon.Flag, epoch int64) *guidonv1.FlagTimeline {
	boundaries, more := analysis.TimelineOf(f, epoch)
	return &guidonv1.FlagTimeline{Truncated: more, Boundaries: lists.Map(boundaries, func(b analysis.Boundary) *guidonv1.FlagBoundary {
		return &guidonv1.FlagBoundary{At: Timestamp(b.At), Rules: lists.Map(b.Rules, func(r analysis.RuleBoundary) *guidonv1.RuleBoundary {
			verb := "begins: " + change.RuleWords(f, r.Index)
			switch {
			case r.Percentage != nil:
				verb = "is for " + analysis.PercentWords(*r.Percentage)
			case r.Ends:
				verb = "ends: " + change.RuleWords(f, r.Index)
			}
			return &guidonv1.RuleBoundary{
				Number: Count(r.Index + 1), Ends: r.Ends, Percentage: r.Percentage, Text: fmt.Sprintf("rule %d %s", r.Index+1, verb),
			}
		})}
	})}
}

// Reach returns the message of a reach.
func Reach(r *analysis.Reach) *guidonv1.FlagReach {
	return &guidonv1.FlagReach{
		Type: flipt.FlagType(r.Type), Buckets: Count(r.Buckets), Disabled: r.Disabled,
		Steps: lists.Map(r.Steps, func(s analysis.StepReach) *guidonv1.StepReach { return stepReach(r, &s) }),
		Default: &guidonv1.DefaultReach{
			Cause: guidonv1.ReachCause(r.Default.Cause), By: lists.Map(r.Default.By, Count), Why: r.WhyDefault(),
		},
		UnservedVariants: r.Unserved, Truncated: r.Truncated, State: guidonv1.FlagState(r.Summary.State),
		OwnState:     ownState(r.Summary.State, r.Summary.Own),
		EveryoneElse: lists.Map(r.Summary.EveryoneElse, func(a analysis.AnswerShare) *guidonv1.FlagShare { return flagShare(r.Flag, a) }),
	}
}

func stepReach(r *analysis.Reach, s *analysis.StepReach) *guidonv1.StepReach {
	return &guidonv1.StepReach{
		Index: Count(s.Index), Id: s.ID, Fails: s.Fails, Cause: guidonv1.ReachCause(s.Cause), By: lists.Map(s.By, Count),
		MissingSegment: s.Segment, UnmetFlag: s.Unmet, Why: r.Why(s), Buckets: Count(s.Buckets), UnassignedBuckets: Count(s.Unassigned),
		Conflicts: lists.Map(s.Conflicts, func(c analysis.ConstraintRef) *guidonv1.ConstraintReference {
			return &guidonv1.ConstraintReference{SegmentKey: c.Segment, Index: Count(c.Index), Group: Count(c.Group)}
		}),
		Shares: lists.Map(s.Shares, func(s analysis.Share) *guidonv1.ShareReach {
			return &guidonv1.ShareReach{
				VariantKey: s.Variant, Percentage: s.Percentage, GivenPercentage: s.Given(), Rounded: s.Rounded(),
				Start: Count(s.Start), End: Count(s.End), Cause: guidonv1.ShareCause(s.Cause),
			}
		}),
	}
}
