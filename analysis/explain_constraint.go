package analysis

import "github.com/guidonhq/guidon"

// ExplainedConstraint is a constraint of a segment, compared with the entity.
type ExplainedConstraint struct {
	Constraint *guidon.Constraint
	Actual     string // the property, or the entity's id
	Present    bool   // the context has the property; an absent one is the same as an empty one
	Matched    bool
	Problem    ConstraintProblem
}

// ConstraintProblem is why a constraint could not compare its values, in words. It did not match
// then, unless it is negated (contract 7.2).
type ConstraintProblem string

// Problems of constraints.
const (
	NoProblem            ConstraintProblem = ""
	NoValue              ConstraintProblem = "there is no value"
	ValueNotNumber       ConstraintProblem = "the value is not a number"
	ValueNotBoolean      ConstraintProblem = "the value is not a boolean"
	ValueNotDateTime     ConstraintProblem = "the value is not an RFC 3339 time or a date"
	ValueNotVersion      ConstraintProblem = "the value is not a version"
	ValueNotAddress      ConstraintProblem = "the value is not an address"
	ValueTooLong         ConstraintProblem = "the value is longer than 4 KiB" // for a pattern
	ExpectedNotNumber    ConstraintProblem = "the value of the constraint is not a number"
	ExpectedNotDateTime  ConstraintProblem = "the value of the constraint is not an RFC 3339 time or a date"
	ExpectedNotStrings   ConstraintProblem = "the value of the constraint is not a JSON list of strings"
	ExpectedNotNumbers   ConstraintProblem = "the value of the constraint is not a JSON list of numbers"
	ExpectedNotVersion   ConstraintProblem = "the value of the constraint is not a version"
	ExpectedNotPattern   ConstraintProblem = "the value of the constraint is not a pattern of RE2 within the limits"
	ExpectedNotList      ConstraintProblem = "the value of the constraint is not a JSON list of texts, numbers and booleans"
	ExpectedNotAddresses ConstraintProblem = "the value of the constraint is not a JSON list of addresses and CIDR blocks"
	OperatorUnsupported  ConstraintProblem = "the operator never matches values of this type" // or of any
)

func explainConstraint(
	c *guidon.Constraint, compiled *guidon.CompiledConstraint, entityID string, context map[string]string,
) ExplainedConstraint {
	e := ExplainedConstraint{Constraint: c, Actual: entityID, Present: true}
	if c.Type != guidon.EntityIDComparison {
		e.Actual, e.Present = context[c.Property]
	}
	e.Matched = compiled.Accepts(e.Actual)
	if e.Matched == c.Negate {
		e.Problem = problemOf(c, e.Actual)
	}
	return e
}

// ProblemOf returns why the constraint cannot compare its value with any other, or NoProblem.
func ProblemOf(c *guidon.Constraint) ConstraintProblem { return operandOf(c).problem }

// problemOf returns why a constraint whose comparison fails could not compare the value.
func problemOf(c *guidon.Constraint, actual string) ConstraintProblem {
	problem := operandOf(c).problem
	switch {
	case problem != NoProblem:
		return problem
	case operatorOf(c).presence:
		return NoProblem
	case actual == "":
		return NoValue
	}
	return actualProblem(c.Type, actual)
}
