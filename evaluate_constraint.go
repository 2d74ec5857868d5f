package guidon

import (
	"strconv"
	"time"
)

// CompiledConstraint is a constraint prepared for evaluation. A missing value is the same
// as an empty one (contract 7.2). It is safe for concurrent use.
type CompiledConstraint struct {
	property string // of the context
	entity   bool   // the entity's id is compared instead of a property
	missing  bool   // the result for an empty value
	matches  matcher
}

// Holds reports whether the constraint holds for the entity.
func (c *CompiledConstraint) Holds(entityID string, context map[string]string) bool {
	value := entityID
	if !c.entity {
		value = context[c.property]
	}
	return c.Accepts(value)
}

// Accepts reports whether the constraint holds for a value of its property, or for an
// entity's id.
func (c *CompiledConstraint) Accepts(value string) bool {
	if value == "" {
		return c.missing
	}
	return c.matches(value)
}

// CompileConstraint returns the compiled form of the constraint, and whether its type is
// known. Its comparison fails for every value if its [Operand] is not valid.
func CompileConstraint(c *Constraint) (compiled CompiledConstraint, known bool) {
	compiled = CompiledConstraint{property: c.Property, entity: c.Type == EntityIDComparison, matches: never}
	if o := c.Operand(); o.Valid {
		operator := OperatorNamed(c.Operator)
		compiled.missing = operator.Missing
		compiled.matches = operator.matcher(c.Type, &o)
	}
	if c.Negate {
		compiled = compiled.opposite()
	}
	return compiled, c.Type.Known()
}

// opposite returns the constraint that holds for all other values.
func (c CompiledConstraint) opposite() CompiledConstraint {
	matches := c.matches
	c.missing, c.matches = !c.missing, func(value string) bool { return !matches(value) }
	return c
}

// matcher returns the matcher of constraints of the type with a valid operand.
func (o *Operator) matcher(t ComparisonType, operand *Operand) matcher {
	switch {
	case o.Takes == NoOperand:
		return o.plain
	case t == NumberComparison && o.Takes == ListOfItems:
		return o.numberList(operand.Numbers)
	case t == NumberComparison:
		return o.number(operand.Numbers[0])
	case t == DateTimeComparison:
		return o.instant(operand.Instant)
	case t == VersionComparison:
		return o.version(operand.Version)
	case t == PatternComparison:
		return matchesPattern(operand.Pattern)
	case t == ListComparison:
		return o.list(operand.Texts)
	case t == AddressComparison:
		return operand.Addresses.has
	case o.Takes == ListOfItems:
		set, within := setOf(operand.Texts), o.within
		return func(value string) bool { return set[value] == within }
	}
	return o.text(operand.Texts[0])
}

func setOf[T comparable](items []T) map[T]bool {
	set := make(map[T]bool, len(items))
	for _, item := range items {
		set[item] = true
	}
	return set
}

func (o *Operator) numberList(want []float64) matcher {
	set, within := setOf(want), o.within
	return func(value string) bool {
		number, err := strconv.ParseFloat(value, 64)
		return err == nil && set[number] == within
	}
}

func (o *Operator) number(want float64) matcher {
	orders := o.orders
	return func(value string) bool {
		number, err := strconv.ParseFloat(value, 64)
		return err == nil && orders&orderOf(number, want) != 0
	}
}

func orderOf(number, want float64) order {
	switch {
	case number < want:
		return less
	case number > want:
		return greater
	case number == want:
		return equal
	}
	return unordered
}

func (o *Operator) instant(want time.Time) matcher {
	orders := o.orders
	return func(value string) bool {
		instant, err := ParseDateTime(value)
		return err == nil && orders.include(instant.Compare(want))
	}
}

func (o *Operator) version(want Version) matcher {
	orders := o.orders
	return func(value string) bool {
		version, err := ParseVersion(value)
		return err == nil && orders.include(version.Compare(want))
	}
}

// include reports whether the orders have the result of a comparison: -1, 0 or 1.
func (o order) include(result int) bool { return o&[...]order{less, equal, greater}[result+1] != 0 }

// ParseDateTime parses an RFC 3339 instant or a date, which means midnight UTC. The
// length distinguishes them, so that no failed attempt allocates an error.
func ParseDateTime(value string) (time.Time, error) {
	if len(value) == len(time.DateOnly) {
		return time.Parse(time.DateOnly, value)
	}
	return time.Parse(time.RFC3339, value)
}
