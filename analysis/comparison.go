package analysis

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/guidonhq/guidon"
)

// comparisonType is what analyses know about a type of constraints.
type comparisonType struct {
	words      string
	compares   comparisons // how it compares; 0 if the operator says that
	serverOnly string      // what a rule does with it, if client engines do not know the type
	operand    ConstraintProblem
	value      ConstraintProblem
	parses     func(value string) bool // otherwise there is the problem of the value
}

var comparisonTypes = map[guidon.ComparisonType]comparisonType{
	guidon.StringComparison:   {words: "text"},
	guidon.NumberComparison:   {"number", comparesNumber, "", ExpectedNotNumber, ValueNotNumber, parsedBy(parseNumber)},
	guidon.BooleanComparison:  {"yes or no", comparesBoolean, "", "", ValueNotBoolean, isBoolean},
	guidon.DateTimeComparison: {"date", comparesTime, "", ExpectedNotDateTime, ValueNotDateTime, parsedBy(guidon.ParseDateTime)},
	guidon.EntityIDComparison: {words: "entity"},
	guidon.VersionComparison: {
		"version", comparesVersion, "compares a version", ExpectedNotVersion, ValueNotVersion, parsedBy(guidon.ParseVersion),
	},
	guidon.PatternComparison: {"pattern", comparesPattern, "compares with a pattern", ExpectedNotPattern, ValueTooLong, fitsPattern},
	guidon.ListComparison:    {"list", comparesItems, "compares a list", ExpectedNotList, "", nil},
	guidon.AddressComparison: {
		"address", comparesAddress, "compares an address", ExpectedNotAddresses, ValueNotAddress, parsedBy(guidon.ParseAddress),
	},
}

func parsedBy[T any](parse func(value string) (T, error)) func(value string) bool {
	return func(value string) bool {
		_, err := parse(value)
		return err == nil
	}
}

func parseNumber(value string) (float64, error) { return strconv.ParseFloat(value, 64) }

func isBoolean(value string) bool {
	return slices.Contains(trueTexts, value) || slices.Contains(falseTexts, value)
}

func fitsPattern(value string) bool { return len(value) <= guidon.MaxPatternProperty }

// kindOf returns how the constraint compares its property, or 0 if that is not known.
func kindOf(c *guidon.Constraint) comparisons {
	if isText(c) {
		return operatorOf(c).part
	}
	return comparisonTypes[c.Type].compares
}

// expectedProblem returns the problem of a constraint whose value does not parse.
func expectedProblem(c *guidon.Constraint) ConstraintProblem {
	if c.Type == guidon.NumberComparison && takesList(c) {
		return ExpectedNotNumbers
	}
	return cmp.Or(comparisonTypes[c.Type].operand, ExpectedNotStrings)
}

// actualProblem returns why the value does not parse as the type, or NoProblem.
func actualProblem(t guidon.ComparisonType, value string) ConstraintProblem {
	if known := comparisonTypes[t]; known.parses != nil && !known.parses(value) {
		return known.value
	}
	return NoProblem
}

// TypeWords returns a type of constraints in words, such as "yes or no". It returns "" for one
// that is not known.
func TypeWords(t guidon.ComparisonType) string { return comparisonTypes[t].words }

// operand is the operand of a constraint, with what makes it useless.
type operand struct {
	guidon.Operand
	problem ConstraintProblem // the comparison fails for every value because of it
}

func operandOf(c *guidon.Constraint) operand {
	o := operand{Operand: c.Operand()}
	switch {
	case !o.Compared:
		o.problem = OperatorUnsupported
	case !o.Valid:
		o.problem = expectedProblem(c)
	}
	return o
}

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
