package document

import (
	"github.com/guidonhq/guidon"
)

var asSegment = pointerTo(objectOf(func(g *guidon.Segment) []field {
	return []field{
		optional("key", &g.Key, asText),
		optional("name", &g.Name, asText),
		optional("description", &g.Description, asText),
		listOf("constraints", &g.Constraints, asConstraint),
		always("match_type", &g.MatchType, asEnum[guidon.MatchType]()),
	}
}))

// asConstraint is the form of a constraint of a segment or a group.
var asConstraint = pointerTo(objectOf(func(c *guidon.Constraint) []field {
	return []field{
		always("type", &c.Type, asEnum[guidon.ComparisonType]()).and(func(d *decoder, n *node) {
			if c.Type.Addition() {
				d.require(n, c.Type.String(), withAdditions)
			}
		}),
		optional("property", &c.Property, asText),
		optional("operator", &c.Operator, asText),
		optional("value", &c.Value, asText),
		optional("not", &c.Negate, asBoolean).and(func(d *decoder, n *node) {
			if c.Negate {
				d.require(n, "constraint.not", withAdditions)
			}
		}),
		optional("description", &c.Description, asText),
	}
}))
