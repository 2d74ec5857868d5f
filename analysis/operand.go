package analysis

import "github.com/guidonhq/guidon"

// operand is the operand of a constraint, with what makes it useless.
type operand struct {
	guidon.Operand
	problem ConstraintProblem // the comparison fails for every value because of it

	content string // of the constraint, if it is one of a predicate
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

// expectedProblem returns the problem of a constraint whose value does not parse.
func expectedProblem(c *guidon.Constraint) ConstraintProblem {
	switch list := takesList(c); {
	case c.Type == guidon.DateTimeComparison:
		return ExpectedNotDateTime
	case c.Type == guidon.VersionComparison:
		return ExpectedNotVersion
	case c.Type == guidon.PatternComparison:
		return ExpectedNotPattern
	case c.Type == guidon.ListComparison:
		return ExpectedNotList
	case c.Type == guidon.AddressComparison:
		return ExpectedNotAddresses
	case c.Type == guidon.NumberComparison && !list:
		return ExpectedNotNumber
	case c.Type == guidon.NumberComparison:
		return ExpectedNotNumbers
	}
	return ExpectedNotStrings
}
