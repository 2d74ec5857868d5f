package convert

import (
	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// withConditions is a message of a rule with the conditions of [guidon.Conditions]. G is the
// message of its groups.
type withConditions[G any] interface {
	GetGroups() []G
	GetExceptSegmentKeys() []string
	GetEveryone() bool
	GetPortion() *flipt.Portion
}

// ConditionsOf returns the conditions of a rule or rollout, or of a request about one.
func ConditionsOf(m withConditions[*flipt.ConstraintGroup]) guidon.Conditions {
	return conditionsOf(m, func(g *flipt.ConstraintGroup) *guidon.ConstraintGroup {
		return groupOf(g.GetMatch(), g.GetConstraints())
	})
}

func documentConditionsOf(m withConditions[*guidonv1.DocumentConstraintGroup]) guidon.Conditions {
	return conditionsOf(m, func(g *guidonv1.DocumentConstraintGroup) *guidon.ConstraintGroup {
		return groupOf(g.GetMatch(), g.GetConstraints())
	})
}

func conditionsOf[G any](m withConditions[G], group func(G) *guidon.ConstraintGroup) guidon.Conditions {
	c := guidon.Conditions{ExceptSegmentKeys: m.GetExceptSegmentKeys(), Everyone: m.GetEveryone()}
	for _, g := range m.GetGroups() {
		c.Groups = append(c.Groups, group(g))
	}
	if p := m.GetPortion(); p != nil {
		c.Portion = &guidon.Portion{Percentage: p.GetPercentage(), Start: p.GetStart()}
		if split := SplitOf(p.GetSplit()); split != nil {
			c.Portion.Split = *split
		}
	}
	return c
}

// comparison is a message of a constraint.
type comparison interface {
	GetType() flipt.ComparisonType
	GetProperty() string
	GetOperator() string
	GetValue() string
	GetNegate() bool
	GetDescription() string
}

func groupOf[C comparison](match flipt.MatchType, constraints []C) *guidon.ConstraintGroup {
	return &guidon.ConstraintGroup{MatchType: Enum[guidon.MatchType](match), Constraints: All(constraints, func(c C) *guidon.Constraint {
		return &guidon.Constraint{
			Type: Enum[guidon.ComparisonType](c.GetType()), Property: c.GetProperty(), Operator: c.GetOperator(),
			Value: c.GetValue(), Negate: c.GetNegate(), Description: c.GetDescription(),
		}
	})}
}

// SplitOf returns the way to divide, or nil if m is nil.
func SplitOf(m *flipt.Split) *guidon.Split {
	if m == nil {
		return nil
	}
	return &guidon.Split{By: m.GetBy(), Seed: m.GetSeed(), Hash: Enum[guidon.BucketHash](m.GetHash())}
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
	m := &flipt.Portion{Percentage: p.Percentage, Start: p.Start}
	if p.Split != (guidon.Split{}) {
		m.Split = WireSplit(&p.Split)
	}
	return m
}

// WireGroups returns the messages of the groups, or nil if there are none.
func WireGroups(groups []*guidon.ConstraintGroup) (list []*flipt.ConstraintGroup) {
	for _, g := range groups {
		list = append(list, &flipt.ConstraintGroup{Match: flipt.MatchType(g.MatchType), Constraints: All(g.Constraints,
			func(c *guidon.Constraint) *flipt.Constraint {
				return &flipt.Constraint{
					Type: flipt.ComparisonType(c.Type), Property: c.Property, Operator: c.Operator, Value: c.Value,
					Description: c.Description, Negate: c.Negate,
				}
			})})
	}
	return list
}

func wireDocumentGroups(groups []*guidon.ConstraintGroup) (list []*guidonv1.DocumentConstraintGroup) {
	for _, g := range groups {
		list = append(list, &guidonv1.DocumentConstraintGroup{Match: flipt.MatchType(g.MatchType), Constraints: All(g.Constraints,
			func(c *guidon.Constraint) *guidonv1.DocumentConstraint {
				return &guidonv1.DocumentConstraint{
					Type: flipt.ComparisonType(c.Type), Property: c.Property, Operator: c.Operator, Value: c.Value,
					Description: c.Description, Negate: c.Negate,
				}
			})})
	}
	return list
}
