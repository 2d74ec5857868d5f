package convert

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/internal/lists"
)

// WithConditions is a message of a rule with the conditions of [guidon.Conditions].
type WithConditions interface {
	GetGroups() []*flipt.ConstraintGroup
	GetExceptSegmentKeys() []string
	GetEveryone() bool
	GetRequires() []*flipt.Requirement
	GetHoldsFrom() *timestamppb.Timestamp
	GetHoldsUntil() *timestamppb.Timestamp
	GetPortion() *flipt.Portion
}

// ConditionsOf returns the conditions of a rule or rollout, or of a request about one, or nil if it
// has none.
func ConditionsOf(m WithConditions) *guidon.Conditions {
	c := guidon.Conditions{ExceptSegmentKeys: m.GetExceptSegmentKeys(), Everyone: m.GetEveryone(), Requires: RequirementsOf(m.GetRequires())}
	c.From, c.Until = timeOf(m.GetHoldsFrom()), timeOf(m.GetHoldsUntil())
	for _, g := range m.GetGroups() {
		c.Groups = append(c.Groups, groupOf(g))
	}
	if p := m.GetPortion(); p != nil {
		c.Portion = &guidon.Portion{Percentage: p.GetPercentage(), Start: p.GetStart(), Ramp: RampOf(p.GetRamp())}
		if split := SplitOf(p.GetSplit()); split != nil {
			c.Portion.Split = *split
		}
	}
	return c.OrNil()
}

// RequirementsOf returns the requirements, or nil if there are none. It shares their answers with the
// messages.
func RequirementsOf(all []*flipt.Requirement) []guidon.Requirement {
	if len(all) == 0 {
		return nil
	}
	return lists.Map(all, func(m *flipt.Requirement) guidon.Requirement {
		return guidon.Requirement{FlagKey: m.GetFlagKey(), Answers: m.GetAnswers()}
	})
}

// WireRequirements returns the messages of the requirements, or nil if there are none.
func WireRequirements(all []guidon.Requirement) []*flipt.Requirement {
	if len(all) == 0 {
		return nil
	}
	return lists.Map(all, func(r guidon.Requirement) *flipt.Requirement {
		return &flipt.Requirement{FlagKey: r.FlagKey, Answers: r.Answers}
	})
}

func timeOf(t *timestamppb.Timestamp) (at time.Time) {
	if t != nil {
		at = t.AsTime()
	}
	return at
}

func groupOf(g *flipt.ConstraintGroup) *guidon.ConstraintGroup {
	return &guidon.ConstraintGroup{
		MatchType: Enum[guidon.MatchType](g.GetMatch()),
		Constraints: lists.Map(g.GetConstraints(), func(c *flipt.GroupConstraint) *guidon.Constraint {
			return &guidon.Constraint{
				Type: Enum[guidon.ComparisonType](c.GetType()), Property: c.GetProperty(), Operator: c.GetOperator(),
				Value: c.GetValue(), Negate: c.GetNegate(), Description: c.GetDescription(),
			}
		}),
	}
}

// SplitOf returns the way to divide, or nil if m states none.
func SplitOf(m *flipt.Split) *guidon.Split {
	split := guidon.Split{By: m.GetBy(), Seed: m.GetSeed(), Hash: Enum[guidon.BucketHash](m.GetHash())}
	if split == (guidon.Split{}) {
		return nil
	}
	return &split
}

// WireSplit returns the message of the way to divide, or nil if s is nil.
func WireSplit(s *guidon.Split) *flipt.Split {
	if s == nil {
		return nil
	}
	return &flipt.Split{By: s.By, Seed: s.Seed, Hash: flipt.BucketHash(s.Hash)}
}

// WirePortion returns the message of the portion, or nil if p is nil.
func WirePortion(p *guidon.Portion) *flipt.Portion {
	if p == nil {
		return nil
	}
	m := &flipt.Portion{Percentage: p.Percentage, Start: p.Start, Ramp: WireRamp(p.Ramp)}
	if p.Split != (guidon.Split{}) {
		m.Split = WireSplit(&p.Split)
	}
	return m
}

// WireGroups returns the messages of the groups, or nil if there are none.
func WireGroups(groups []*guidon.ConstraintGroup) (list []*flipt.ConstraintGroup) {
	for _, g := range groups {
		list = append(list, &flipt.ConstraintGroup{Match: flipt.MatchType(g.MatchType), Constraints: lists.Map(g.Constraints,
			func(c *guidon.Constraint) *flipt.GroupConstraint {
				return &flipt.GroupConstraint{
					Type: flipt.ComparisonType(c.Type), Property: c.Property, Operator: c.Operator, Value: c.Value,
					Description: c.Description, Negate: c.Negate,
				}
			})})
	}
	return list
}

// RampOf returns the ramp, or nil if m is nil.
func RampOf(m *flipt.Ramp) *guidon.Ramp {
	if m == nil {
		return nil
	}
	r := &guidon.Ramp{
		Start: timeOf(m.GetStart()), Initial: m.GetInitial(), Over: m.GetOver().AsDuration(),
		Steps: lists.Map(m.GetSteps(), func(s *flipt.RampStep) guidon.RampStep {
			return guidon.RampStep{Percentage: s.GetPercentage(), For: s.GetDuration().AsDuration()}
		}),
		Paused: timeOf(m.GetPaused()), Reversed: timeOf(m.GetReversed()), Delay: m.GetDelay().AsDuration(),
	}
	if c := m.GetConfirm(); c != nil {
		r.Confirm = &guidon.RampConfirm{
			Every: c.GetEvery().AsDuration(), Lapse: Enum[guidon.RampLapse](c.GetLapse()), Last: timeOf(c.GetLast()),
		}
	}
	return r
}

// WireRamp returns the message of the ramp, or nil if r is nil.
func WireRamp(r *guidon.Ramp) *flipt.Ramp {
	if r == nil {
		return nil
	}
	m := &flipt.Ramp{
		Start: Timestamp(r.Start), Initial: r.Initial, Over: wireDuration(r.Over),
		Steps: lists.Map(r.Steps, func(s guidon.RampStep) *flipt.RampStep {
			return &flipt.RampStep{Percentage: s.Percentage, Duration: wireDuration(s.For)}
		}),
		Paused: Timestamp(r.Paused), Reversed: Timestamp(r.Reversed), Delay: wireDuration(r.Delay),
	}
	if c := r.Confirm; c != nil {
		m.Confirm = &flipt.RampConfirm{Every: wireDuration(c.Every), Lapse: flipt.RampLapse(c.Lapse), Last: Timestamp(c.Last)}
	}
	return m
}

func wireDuration(d time.Duration) *durationpb.Duration {
	if d == 0 {
		return nil
	}
	return durationpb.New(d)
}
