package service

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
)

// DocumentSegment is a segment with its constraints.
type DocumentSegment struct {
	Key         string
	Name        string
	Description string
	MatchType   guidon.MatchType
	Constraints []*DocumentConstraint
}

// additions reports whether Flipt, or a release without additions, does not know a constraint.
func (g *DocumentSegment) additions() bool {
	return slices.ContainsFunc(g.Constraints, func(c *DocumentConstraint) bool { return c.Negate || c.Type.Addition() })
}

// DocumentConstraint is a constraint of a segment.
type DocumentConstraint struct {
	Type        guidon.ComparisonType
	Property    string
	Operator    string // case-insensitive
	Value       string
	Description string
	Negate      bool
}

func (g *DocumentSegment) normalize(p *problems) *DocumentSegment {
	p.add(checkNewKey(g.Key, g.Name))
	p.add(checkTexts(field{"name", g.Name}, field{"description", g.Description}))
	p.add(checkEnum("matchType", g.MatchType))
	out := *g
	out.Constraints = nil
	for i, c := range g.Constraints {
		if c == nil {
			continue
		}
		p.entry("constraints", i, func(p *problems) {
			checked, err := c.Normal()
			p.add(err)
			p.add(checkTexts(field{"property", c.Property}, field{"value", c.Value}, field{"description", c.Description}))
			out.Constraints = append(out.Constraints, documentConstraint(&checked))
		})
	}
	return &out
}

// Normal returns the constraint in the form in which it is stored, or InvalidArgument.
func (c *DocumentConstraint) Normal() (guidon.Constraint, error) {
	return ConstraintInput{
		SegmentKey: "segment", // which is checked elsewhere
		Type:       c.Type, Property: c.Property, Operator: c.Operator,
		Value: c.Value, Description: c.Description, Negate: &c.Negate,
	}.check()
}

// NewDocumentSegment returns the segment in the form of a document.
func NewDocumentSegment(g *guidon.Segment) *DocumentSegment {
	d := &DocumentSegment{Key: g.Key, Name: g.Name, Description: g.Description, MatchType: g.MatchType}
	for _, c := range g.Constraints {
		d.Constraints = append(d.Constraints, documentConstraint(c))
	}
	return d
}

func documentConstraint(c *guidon.Constraint) *DocumentConstraint {
	return &DocumentConstraint{
		Type: c.Type, Property: c.Property, Operator: c.Operator, Value: c.Value, Description: c.Description, Negate: c.Negate,
	}
}

// mergeSegment is mergeFlag for segments.
func mergeSegment(have *guidon.Segment, want *DocumentSegment, now time.Time) *guidon.Segment {
	have = cmp.Or(have, &guidon.Segment{CreatedAt: now})
	out := *have
	out.Key, out.Name, out.Description, out.MatchType = want.Key, want.Name, want.Description, want.MatchType
	out.UpdatedAt = now
	out.Constraints = nil
	old := NewDocumentSegment(have).Constraints
	for i, from := range pair(want.Constraints, old, constraintKeys) {
		w := want.Constraints[i]
		c := &guidon.Constraint{ID: NewID(), CreatedAt: now, UpdatedAt: now}
		if from >= 0 {
			*c = *have.Constraints[from]
			if *old[from] != *w {
				c.UpdatedAt = now
			}
		}
		c.Type, c.Property, c.Operator, c.Value, c.Negate, c.Description = w.Type, w.Property, w.Operator, w.Value, w.Negate, w.Description
		out.Constraints = append(out.Constraints, c)
	}
	return &out
}

func sameSegment(have *guidon.Segment, want *DocumentSegment) bool {
	return reflect.DeepEqual(NewDocumentSegment(have), want)
}

// constraintKeys are the keys by which constraints are paired, the most specific first. The first is
// the whole content.
var constraintKeys = []func(c *DocumentConstraint) string{
	func(c *DocumentConstraint) string {
		return fmt.Sprintf("%d %q %q %q %q %t", c.Type, c.Property, c.Operator, c.Value, c.Description, c.Negate)
	},
	func(c *DocumentConstraint) string { return fmt.Sprintf("%d %q %q", c.Type, c.Property, c.Operator) },
	func(c *DocumentConstraint) string { return fmt.Sprintf("%d %q", c.Type, c.Property) },
	func(*DocumentConstraint) string { return "any" },
}
