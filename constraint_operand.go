package guidon

import (
	"encoding/json"
	"strconv"
	"time"
)

// operand is the value of a constraint, parsed in the same way as by compileConstraint.
type operand struct {
	problem ConstraintProblem // the constraint holds for no value because of it
	number  float64
	instant time.Time
	texts   []string  // of a list
	numbers []float64 // of a list

	content string // of the constraint, if it is one of a predicate
}

func operandOf(c *Constraint) (o operand) {
	o.parse(c)
	return o
}

func (o *operand) parse(c *Constraint) {
	*o = operand{problem: OperatorUnsupported}
	switch c.Type {
	case StringComparison, EntityIDComparison:
		o.parseString(c)
	case NumberComparison:
		o.parseNumber(c)
	case BooleanComparison:
		switch c.Operator {
		case OpPresent, OpNotPresent, OpTrue, OpFalse:
			o.problem = NoProblem
		}
	case DateTimeComparison:
		o.parseDateTime(c)
	}
}

func (o *operand) parseString(c *Constraint) {
	switch c.Operator {
	case OpEmpty, OpNotEmpty, OpEQ, OpNEQ, OpPrefix, OpSuffix, OpContains, OpNotContains:
		o.problem = NoProblem
	case OpIsOneOf, OpIsNotOneOf:
		texts, err := parseList[string](c.Value)
		o.texts, o.problem = texts, problemIf(err, ExpectedNotStrings)
	}
}

func (o *operand) parseNumber(c *Constraint) {
	switch c.Operator {
	case OpPresent, OpNotPresent:
		o.problem = NoProblem
	case OpIsOneOf, OpIsNotOneOf:
		numbers, err := parseList[float64](c.Value)
		o.numbers, o.problem = numbers, problemIf(err, ExpectedNotNumbers)
	default:
		if numberOperators[c.Operator] != nil {
			number, err := strconv.ParseFloat(c.Value, 64)
			o.number, o.problem = number, problemIf(err, ExpectedNotNumber)
		}
	}
}

func (o *operand) parseDateTime(c *Constraint) {
	switch c.Operator {
	case OpPresent, OpNotPresent:
		o.problem = NoProblem
	default:
		if timeOperators[c.Operator] != nil {
			instant, err := parseDateTime(c.Value)
			o.instant, o.problem = instant, problemIf(err, ExpectedNotDateTime)
		}
	}
}

// parseList returns the items of a JSON array.
func parseList[T any](list string) (items []T, err error) {
	err = json.Unmarshal([]byte(list), &items)
	return items, err
}

func problemIf(err error, problem ConstraintProblem) ConstraintProblem {
	if err == nil {
		return NoProblem
	}
	return problem
}

// testsPresence reports whether the operator does not compare the value.
func testsPresence(operator string) bool {
	switch operator {
	case OpEmpty, OpNotEmpty, OpPresent, OpNotPresent:
		return true
	}
	return false
}
