package guidon

import (
	"slices"
	"strings"
	"time"
)

// MatchType is how the constraints of a segment combine. The numbers are those of the
// wire.
type MatchType uint8

// Match types. A segment without constraints matches with either.
const (
	MatchAll MatchType = 0 // all constraints must hold
	MatchAny MatchType = 1 // at least one constraint must hold
)

// Segment is a set of entities, defined by constraints.
type Segment struct {
	Key         string        `json:"key"`
	Name        string        `json:"name"`
	Description string        `json:"description,omitempty"`
	MatchType   MatchType     `json:"matchType"`
	Constraints []*Constraint `json:"constraints,omitempty"` // in creation order
	CreatedAt   time.Time     `json:"createdAt"`
	UpdatedAt   time.Time     `json:"updatedAt"`

	Created    Position    `json:"-"` // of the change record of its creation; set by the store, orders lists
	Unreadable *Unreadable `json:"-"` // nil unless the stored form cannot be read; then only Key and Created are known
}

// Additions is [Flag.Additions] for segments.
func (s *Segment) Additions() bool {
	return slices.ContainsFunc(s.Constraints, func(c *Constraint) bool { return c.Negate || c.Type.Addition() })
}

// Stored returns the segment as it is stored, as JSON. A constraint that is negated has a mark
// in its type, so that releases that would ignore that refuse the segment. [ReadSegment]
// removes it.
func (s *Segment) Stored() *Segment {
	if !slices.ContainsFunc(s.Constraints, func(c *Constraint) bool { return c.Negate }) {
		return s
	}
	stored := *s
	stored.Constraints = make([]*Constraint, len(s.Constraints))
	for i, c := range s.Constraints {
		marked := *c
		if c.Negate {
			marked.Type |= markedComparison
		}
		stored.Constraints[i] = &marked
	}
	return &stored
}

// Unmark removes what [Segment.Stored] has added from a decoded segment.
func (s *Segment) Unmark() {
	for _, c := range s.Constraints {
		c.Type &^= markedComparison
	}
}

// Constraint returns the constraint with the id, or nil.
func (s *Segment) Constraint(id string) *Constraint {
	return find(s.Constraints, func(c *Constraint) bool { return c.ID == id })
}

// EntityProperty is the property of every constraint on the entity id.
const EntityProperty = "entityId"

// MeansEntity reports whether a property is spelled like [EntityProperty]: a constraint of
// another type on it compares a property of the context, which hardly any has.
func MeansEntity(property string) bool {
	return strings.EqualFold(strings.NewReplacer("_", "", "-", "").Replace(property), EntityProperty)
}

// Constraint is a condition on a property of the evaluation context, or on the entity
// id (contract 7.2).
type Constraint struct {
	ID          string         `json:"id,omitempty"` // empty in a ConstraintGroup
	Type        ComparisonType `json:"type"`
	Property    string         `json:"property"`
	Operator    string         `json:"operator"` // the name of one of the Operators
	Value       string         `json:"value,omitempty"`
	Negate      bool           `json:"negate,omitempty"` // it holds if the comparison does not, also for a missing value
	Description string         `json:"description,omitempty"`
	CreatedAt   time.Time      `json:"createdAt,omitzero"` // zero in a ConstraintGroup
	UpdatedAt   time.Time      `json:"updatedAt,omitzero"`
}

// Opposite returns the constraint that holds for all other values.
func (c *Constraint) Opposite() *Constraint {
	opposite := *c
	opposite.Negate = !c.Negate
	return &opposite
}
