package servicetest

import (
	"context"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/service"
)

// segmentOperation is a [flagOperation] for segments.
type segmentOperation struct {
	name    string
	missing verdict
	make    func(m *model, g *guidon.Segment) (verdict, call)
}

var segmentOperations = []segmentOperation{
	{"UpdateSegment", notFound, (*model).updateSegment},
	{"CreateConstraint", notFound, (*model).createConstraint},
	{"UpdateConstraint", notFound, (*model).updateConstraint},
	{"DeleteConstraint", unchanged, (*model).deleteConstraint},
}

// changeSegment creates, changes or deletes one segment.
func (m *model) changeSegment(s *space) attempt {
	key, next := m.segmentKey(), s.current().clone()
	if m.one(8) {
		return m.deleteSegment(s, key, next)
	}
	have := next.segments[key]
	if have == nil && !m.one(6) || m.one(20) {
		return m.createSegment(s, key, next)
	}
	o, g := pick(m, segmentOperations), &guidon.Segment{Key: key}
	if have != nil {
		g = flagtest.Copy(have)
	}
	v, call := o.make(m, g)
	if have == nil {
		v = o.missing
	}
	if v == changes {
		next.segments[key] = g
	}
	return m.single(s, o.name+" "+key, next, v, call)
}

func (m *model) deleteSegment(s *space, key string, next *state) attempt {
	v := changes
	delete(next.segments, key)
	if !next.consistent() {
		v = invalid
	}
	return m.single(s, "DeleteSegment "+key, next, v, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return m.service.DeleteSegment(ctx, w, namespace, key)
	})
}

func (m *model) createSegment(s *space, key string, next *state) attempt {
	v := changes
	in := guidon.Segment{Key: key, Name: m.name(), Description: m.text(), MatchType: guidon.MatchType(m.random.IntN(2))} // #nosec G115 -- 0 or 1
	switch {
	case next.segments[key] != nil:
		v = invalid
	case next.namespace == nil:
		v = notFound
	default:
		next.segments[key] = &guidon.Segment{Key: key, Name: in.Name, Description: in.Description, MatchType: in.MatchType}
	}
	return m.single(s, "CreateSegment "+key, next, v, withInput(m.service.CreateSegment, in))
}

func (m *model) updateSegment(g *guidon.Segment) (verdict, call) {
	in := guidon.Segment{Key: g.Key, Name: m.name(), Description: m.text(), MatchType: guidon.MatchType(m.random.IntN(2))} // #nosec G115 -- 0 or 1
	g.Name, g.Description, g.MatchType = in.Name, in.Description, in.MatchType
	return changes, withInput(m.service.UpdateSegment, in)
}

// condition returns the arguments for a constraint, and the constraint.
func (m *model) condition(g *guidon.Segment, id string) (service.ConstraintInput, *guidon.Constraint) {
	c := &guidon.Constraint{ID: id, Description: m.text()}
	c.Type, c.Property, c.Operator, c.Value = guidon.StringComparison, pick(m, []string{"plan", "country"}), guidon.OpEQ, m.name()
	if m.one(3) {
		c.Type, c.Operator, c.Value = guidon.NumberComparison, guidon.OpGT, "5"
	}
	in := service.ConstraintInput{
		ID: id, SegmentKey: g.Key, Type: c.Type, Property: c.Property, Operator: c.Operator, Value: c.Value, Description: c.Description,
	}
	if !m.one(3) {
		c.Negate = m.one(2)
		in.Negate = &c.Negate
	}
	return in, c
}

func (m *model) createConstraint(g *guidon.Segment) (verdict, call) {
	in, c := m.condition(g, newID)
	g.Constraints = append(g.Constraints, c)
	return changes, withInput(m.service.CreateConstraint, in)
}

func (m *model) updateConstraint(g *guidon.Segment) (verdict, call) {
	have := pickOr(m, g.Constraints, &guidon.Constraint{ID: "none"})
	in, c := m.condition(g, have.ID)
	v := changes
	switch {
	case have.ID == "none":
		v = notFound
	case have.Negate && in.Negate == nil:
		v = verdict{fails: guidon.FailedPrecondition}
	}
	*have = *c
	return v, withInput(m.service.UpdateConstraint, in)
}

func (m *model) deleteConstraint(g *guidon.Segment) (verdict, call) {
	v, id := unchanged, pickOr(m, g.Constraints, &guidon.Constraint{ID: "none"}).ID
	if id != "none" {
		v = changes
	}
	g.Constraints = slices.DeleteFunc(g.Constraints, func(c *guidon.Constraint) bool { return c.ID == id })
	return v, withItems(m.service.DeleteConstraint, g.Key, id)
}
