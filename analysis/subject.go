package analysis

import "github.com/guidonhq/guidon"

// subject is the subject of a constraint: a property, or the entity's id.
type subject struct {
	entity   bool
	property string
}

func subjectOf(c *guidon.Constraint) subject {
	if c.Type == guidon.EntityIDComparison {
		return subject{entity: true}
	}
	return subject{property: c.Property}
}

// name returns the property by which constraints name the subject.
func (s subject) name() string {
	if s.entity {
		return guidon.EntityProperty
	}
	return s.property
}

// sameSubject reports whether the constraints compare the same property, or both the
// entity's id.
func sameSubject(a, b *guidon.Constraint) bool { return subjectOf(a) == subjectOf(b) }

// comparesAs reports whether the constraint, which is about the same property, compares it in
// the same way as the other one. Either may be negated.
func comparesAs(c, other *guidon.Constraint) bool {
	return c.Value == other.Value && c.Operator == other.Operator && c.Type == other.Type
}
