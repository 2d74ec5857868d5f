package guidon

import (
	"slices"
	"time"
)

// Conditions are what a rule or rollout requires of an entity besides its segments, and when
// it does. A threshold has only the times. Rules without any have a nil pointer, see
// [Conditions.Stated].
type Conditions struct {
	Groups            []*ConstraintGroup `json:"groups,omitempty"`            // all of which must hold
	ExceptSegmentKeys []string           `json:"exceptSegmentKeys,omitempty"` // none of which may match
	Everyone          bool               `json:"everyone,omitempty"`          // without segments and groups: it matches everyone
	Portion           *Portion           `json:"portion,omitempty"`
	Requires          []Requirement      `json:"requires,omitempty"`
	From              time.Time          `json:"from,omitzero"`  // when the rule begins to hold, in whole seconds, or zero
	Until             time.Time          `json:"until,omitzero"` // when it no longer holds, or zero
}

// noConditions are those of most rules.
var noConditions = &Conditions{}

// Stated returns the conditions, or ones without any content if c is nil. The caller must not
// modify them.
func (c *Conditions) Stated() *Conditions {
	if c == nil {
		return noConditions
	}
	return c
}

// OrNil returns the conditions, or nil if they have no content.
func (c Conditions) OrNil() *Conditions {
	if c.none() {
		return nil
	}
	return &c
}

// Clone returns a deep copy, or nil if c is nil.
func (c *Conditions) Clone() *Conditions {
	if c == nil {
		return nil
	}
	clone := *c
	clone.ExceptSegmentKeys, clone.Groups = slices.Clone(c.ExceptSegmentKeys), slices.Clone(c.Groups)
	for i, g := range c.Groups {
		group := &ConstraintGroup{MatchType: g.MatchType}
		for _, constraint := range g.Constraints {
			group.Constraints = append(group.Constraints, new(*constraint))
		}
		clone.Groups[i] = group
	}
	clone.Requires = CloneRequirements(c.Requires)
	if c.Portion != nil {
		clone.Portion = new(*c.Portion)
		clone.Portion.Ramp = c.Portion.Ramp.Clone()
	}
	return &clone
}

// none reports whether there are no conditions.
func (c *Conditions) none() bool {
	return c == nil || len(c.Groups) == 0 && len(c.ExceptSegmentKeys) == 0 && !c.Everyone && c.Portion == nil && len(c.Requires) == 0 && c.From.IsZero() && c.Until.IsZero()
}

// ConstraintGroup is some constraints of a rule, which belong to no segment.
type ConstraintGroup struct {
	MatchType   MatchType     `json:"matchType"`
	Constraints []*Constraint `json:"constraints"` // without ids and times
}

// CompiledConditions are what a rule requires besides its audience, prepared for evaluation. Rules
// without any have none. They are safe for concurrent use, and must not be modified.
type CompiledConditions struct {
	Also     *Audience // without keys; nil unless it is apart from the segments, of which one is enough
	Requires []CompiledRequirement
	Portion  *BucketShare // nil if all are in it
	Split    *Bucketer    // nil if the distributions use the flag's own
}

// conditions compiles what is not part of the audience. It returns nil if there is nothing,
// and false if the rule never matches in the epoch.
func (c *Conditions) compile(also *Audience, split *Split, key string, epoch int64) (compiled *CompiledConditions, matches bool) {
	compiled = &CompiledConditions{Also: also, Requires: compileRequirements(c.Requires)}
	if p := c.Portion; p != nil {
		switch share := newBucketShare(newPortionBucketer(p.Split, key), p.Start, p.Ramp.PercentageAt(epoch, p.Percentage)); {
		case share.Empty():
			return nil, false
		case !share.Takes():
			compiled.Portion = &share
		}
	}
	if split.Stated() != (Split{}) {
		compiled.Split = new(newBucketer(*split, key))
	}
	if also == nil && compiled.Portion == nil && compiled.Split == nil && len(c.Requires) == 0 {
		return nil, true
	}
	return compiled, true
}

// buckets returns how many buckets the distributions divide. c may be nil.
func (c *CompiledConditions) buckets() int {
	if c == nil || c.Split == nil {
		return VariantBuckets
	}
	return c.Split.Buckets()
}

// Met reports whether the entity, which is in the audience, meets the conditions. The error is that
// of evaluating a required flag. It sets bucketed if the entity's id was hashed.
func (c *CompiledConditions) Met(entityID string, context map[string]string, bucketed *bool) (bool, error) {
	if c.Also != nil && c.Also.matchAll(entityID, context) == nil {
		return false, nil
	}
	if key, err := Unmet(c.Requires, entityID, context, bucketed); key != "" || err != nil {
		return false, err
	}
	if c.Portion != nil {
		*bucketed = *bucketed || c.Portion.divides()
		if !c.Portion.Has(entityID, context) {
			return false, nil
		}
	}
	if c.Split == nil {
		return true, nil
	}
	_, found := c.Split.Value(entityID, context)
	return found, nil
}

// divided reports whether the rule is for a share of its entities. c may be nil.
func (c *CompiledConditions) divided() bool {
	return c != nil && c.Portion != nil && c.Portion.partial()
}
