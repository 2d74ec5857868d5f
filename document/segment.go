package document

import (
	"github.com/guidonhq/guidon/service"
)

func (d *decoder) segment(n *node) *service.DocumentSegment {
	g := &service.DocumentSegment{}
	d.object(n, fields{
		"key": d.text(&g.Key), "name": d.text(&g.Name), "description": d.text(&g.Description),
		"match_type":  d.enum(&g.MatchType),
		"constraints": d.list(func(n *node) { g.Constraints = append(g.Constraints, d.constraint(n)) }),
	})
	return g
}

func (d *decoder) constraint(n *node) *service.DocumentConstraint {
	c := &service.DocumentConstraint{}
	d.object(n, fields{
		"type": func(n *node) {
			d.enum(&c.Type)(n)
			if c.Type.Addition() {
				d.require(n, c.Type.String(), withAdditions)
			}
		},
		"not": func(n *node) {
			d.boolean(&c.Negate)(n)
			if c.Negate {
				d.require(n, "constraint.not", withAdditions)
			}
		},
		"property": d.text(&c.Property), "operator": d.text(&c.Operator),
		"value": d.text(&c.Value), "description": d.text(&c.Description),
	})
	return c
}

func (e *encoder) segment(g *service.DocumentSegment) *node {
	n := &node{kind: object}
	n.addText("key", g.Key)
	n.addText("name", g.Name)
	n.addText("description", g.Description)
	addList(n, "constraints", g.Constraints, e.constraint)
	n.add("match_type", textNode(g.MatchType.String()))
	return n
}

func (e *encoder) constraint(c *service.DocumentConstraint) *node {
	n := &node{kind: object}
	n.add("type", textNode(c.Type.String()))
	n.addText("property", c.Property)
	n.addText("operator", c.Operator)
	n.addText("value", c.Value)
	n.addTrue("not", c.Negate)
	n.addText("description", c.Description)
	return n
}
