package analysis

import (
	"strconv"

	"github.com/guidonhq/guidon"
)

// ExplainedConstraint is a constraint of a segment, compared with the entity.
type ExplainedConstraint struct {
	Constraint *guidon.Constraint
	Actual     string // the property, or the entity's id
	Present    bool   // the context has the property; an absent one is the same as an empty one
	Matched    bool
	Problem    ConstraintProblem
}

// ConstraintProblem is why a constraint could not compare its values. It did not match
// then, unless it is negated (contract 7.2).
type ConstraintProblem uint8

// Problems of constraints.
const (
	NoProblem            ConstraintProblem = iota
	NoValue                                // the actual value is missing or empty
	ValueNotNumber                         // the actual value does not parse
	ValueNotBoolean                        // the actual value does not parse
	ValueNotDateTime                       // the actual value does not parse
	ValueNotVersion                        // the actual value does not parse
	ValueNotAddress                        // the actual value does not parse
	ValueTooLong                           // the actual value is too long for a pattern
	ExpectedNotNumber                      // the value of the constraint does not parse
	ExpectedNotDateTime                    // the value of the constraint does not parse
	ExpectedNotStrings                     // the value of the constraint is not a list of strings
	ExpectedNotNumbers                     // the value of the constraint is not a list of numbers
	ExpectedNotVersion                     // the value of the constraint does not parse
	ExpectedNotPattern                     // the value of the constraint does not compile
	ExpectedNotList                        // the value of the constraint is not a list of texts, numbers and booleans
	ExpectedNotAddresses                   // the value of the constraint is not a list of addresses and CIDR blocks
	OperatorUnsupported                    // the type has no such operator, or it never matches
)

var problemTexts = [...]string{
	NoProblem:            "",
	NoValue:              "there is no value",
	ValueNotNumber:       "the value is not a number",
	ValueNotBoolean:      "the value is not a boolean",
	ValueNotDateTime:     "the value is not an RFC 3339 time or a date",
	ValueNotVersion:      "the value is not a version",
	ValueNotAddress:      "the value is not an address",
	ValueTooLong:         "the value is longer than 4 KiB",
	ExpectedNotNumber:    "the value of the constraint is not a number",
	ExpectedNotDateTime:  "the value of the constraint is not an RFC 3339 time or a date",
	ExpectedNotStrings:   "the value of the constraint is not a JSON list of strings",
	ExpectedNotNumbers:   "the value of the constraint is not a JSON list of numbers",
	ExpectedNotVersion:   "the value of the constraint is not a version",
	ExpectedNotPattern:   "the value of the constraint is not a pattern of RE2 within the limits",
	ExpectedNotList:      "the value of the constraint is not a JSON list of texts, numbers and booleans",
	ExpectedNotAddresses: "the value of the constraint is not a JSON list of addresses and CIDR blocks",
	OperatorUnsupported:  "the operator never matches values of this type",
}

// String returns the problem in words, or "" for none.
func (p ConstraintProblem) String() string {
	if int(p) < len(problemTexts) {
		return problemTexts[p]
	}
	return strconv.Itoa(int(p))
}

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
