package document

import (
	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

var asSegment = pointerTo(objectOf(func(g *service.DocumentSegment) []field {
	return []field{
		optional("key", &g.Key, asText),
		optional("name", &g.Name, asText),
		optional("description", &g.Description, asText),
		listOf("constraints", &g.Constraints, asConstraint),
		always("match_type", &g.MatchType, asEnum[guidon.MatchType]()),
	}
}))

var asConstraint = pointerTo(objectOf(func(c *service.DocumentConstraint) []field {
	return constraintFields(&c.Type, &c.Property, &c.Operator, &c.Value, &c.Negate, &c.Description)
}))

// constraintFields returns the fields of a constraint of a segment or a group.
func constraintFields(kind *guidon.ComparisonType, property, operator, value *string, negate *bool, description *string) []field {
	return []field{
		always("type", kind, asEnum[guidon.ComparisonType]()).and(func(d *decoder, n *node) {
			if kind.Addition() {
				d.require(n, kind.String(), withAdditions)
			}
		}),
		optional("property", property, asText),
		optional("operator", operator, asText),
		optional("value", value, asText),
		optional("not", negate, asBoolean).and(func(d *decoder, n *node) {
			if *negate {
				d.require(n, "constraint.not", withAdditions)
			}
		}),
		optional("description", description, asText),
	}
}
