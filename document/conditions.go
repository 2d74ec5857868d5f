package document

import (
	"maps"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// conditions returns the members of a rule with its conditions. All of them are additions.
func (d *decoder) conditions(c *guidon.Conditions) fields {
	return d.additions(fields{
		"if":       d.list(func(n *node) { c.Groups = append(c.Groups, d.group(n)) }),
		"except":   d.texts(&c.ExceptSegmentKeys),
		"everyone": d.boolean(&c.Everyone),
		"requires": d.requirements(&c.Requires),
		"from":     d.instant(&c.From),
		"until":    d.instant(&c.Until),
		"portion": func(n *node) {
			if n.kind != null {
				c.Portion = &guidon.Portion{}
				known := d.split(&c.Portion.Split)
				known["percentage"], known["start"] = d.float(&c.Portion.Percentage), d.float(&c.Portion.Start)
				known["ramp"] = d.ramp(&c.Portion.Ramp)
				d.object(n, known)
			}
		},
	})
}

// additions returns the fields, which fail in versions that do not have them.
func (d *decoder) additions(known fields) fields {
	for name, read := range maps.All(known) {
		known[name] = func(n *node) {
			if n.kind != null {
				d.require(n, name, withAdditions)
			}
			read(n)
		}
	}
	return known
}

// group reads the constraints of all or any.
func (d *decoder) group(n *node) *guidon.ConstraintGroup {
	g := &guidon.ConstraintGroup{}
	given := 0
	read := func(match guidon.MatchType) func(n *node) {
		constraints := d.list(func(n *node) {
			c := d.constraint(n)
			g.Constraints = append(g.Constraints, &guidon.Constraint{
				Type: c.Type, Property: c.Property, Operator: c.Operator, Value: c.Value, Negate: c.Negate, Description: c.Description,
			})
		})
		return func(n *node) {
			given++
			g.MatchType = match
			constraints(n)
		}
	}
	d.object(n, fields{"all": read(guidon.MatchAll), "any": read(guidon.MatchAny)})
	if given > 1 {
		d.fail(n, "invalid field all or any: only one can be present")
	}
	return g
}

func (d *decoder) split(s *guidon.Split) fields {
	return fields{"by": d.text(&s.By), "seed": d.text(&s.Seed), "hash": d.enum(&s.Hash)}
}

func (e *encoder) conditions(n *node, c *guidon.Conditions) {
	addList(n, "if", c.Groups, func(g *guidon.ConstraintGroup) *node {
		n, name := &node{kind: object}, "all"
		if g.MatchType == guidon.MatchAny {
			name = "any"
		}
		addList(n, name, g.Constraints, func(c *guidon.Constraint) *node {
			return e.constraint(&service.DocumentConstraint{
				Type: c.Type, Property: c.Property, Operator: c.Operator, Value: c.Value, Negate: c.Negate, Description: c.Description,
			})
		})
		return n
	})
	addList(n, "except", c.ExceptSegmentKeys, textNode)
	n.addTrue("everyone", c.Everyone)
	addRequirements(n, c.Requires)
	if p := c.Portion; p != nil {
		portion := &node{kind: object}
		portion.add("percentage", e.floatNode(p.Percentage))
		e.addStart(portion, p.Start)
		addSplit(portion, p.Split)
		e.addRamp(portion, p.Ramp)
		n.add("portion", portion)
	}
	addInstant(n, "from", c.From)
	addInstant(n, "until", c.Until)
}

func addInstant(n *node, name string, at time.Time) {
	if !at.IsZero() {
		n.add(name, textNode(at.Format(time.RFC3339)))
	}
}

func (e *encoder) addStart(n *node, start float32) {
	if start != 0 {
		n.add("start", e.floatNode(start))
	}
}

func addSplit(n *node, s guidon.Split) {
	n.addText("by", s.By)
	n.addText("seed", s.Seed)
	if s.Hash != guidon.DefaultHash {
		n.add("hash", textNode(s.Hash.String()))
	}
}
