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
