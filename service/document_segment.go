package service

import (
	"cmp"
	"time"

	"github.com/guidonhq/guidon"
)

// normalSegment is [normalFlag] for segments.
func normalSegment(g *guidon.Segment, p *problems, _ map[string]bool) *guidon.Segment {
	p.add(checkNewKey(g.Key, g.Name))
	p.add(checkTexts(field{"name", g.Name}, field{"description", g.Description}))
	p.add(checkEnum("matchType", g.MatchType))
	out := *g
	out.Constraints = nil
	for i, c := range g.Constraints {
		p.entry("constraints", i, func(p *problems) {
			checked, err := NormalConstraint(c)
			p.add(err)
			p.add(checkTexts(field{"property", c.Property}, field{"value", c.Value}, field{"description", c.Description}))
			out.Constraints = append(out.Constraints, &checked)
		})
	}
	return &out
}

// NormalConstraint returns the constraint of a document or a group in the form in which it is
// stored, or InvalidArgument. The operator may be in any case.
func NormalConstraint(c *guidon.Constraint) (guidon.Constraint, error) {
	return ConstraintInput{
		SegmentKey: "segment", // which is checked elsewhere
		Type:       c.Type, Property: c.Property, Operator: c.Operator,
		Value: c.Value, Description: c.Description, Negate: &c.Negate,
	}.check()
}

// NewDocumentSegment is [NewDocumentFlag] for segments.
func NewDocumentSegment(g *guidon.Segment) *guidon.Segment {
	out := *g
	out.Created, out.Unreadable, out.Constraints = guidon.Position{}, nil, copies(g.Constraints)
	for _, c := range out.Constraints {
		c.ID = ""
	}
	for _, at := range SegmentTimes(&out) {
		*at = time.Time{}
	}
	return &out
}

// mergeSegment is [mergeFlag] for segments.
func mergeSegment(have, want *guidon.Segment, now time.Time) *guidon.Segment {
	have = cmp.Or(have, &guidon.Segment{CreatedAt: now})
	out := *want
	out.Created, out.CreatedAt, out.UpdatedAt = have.Created, have.CreatedAt, now
	out.Constraints, _ = constraintParts.continued(want.Constraints, have.Constraints, now)
	return &out
}
