package guidon

// operand is the operand of a constraint, with what makes it useless.
type operand struct {
	Operand
	problem ConstraintProblem // the constraint holds for no value because of it

	content string // of the constraint, if it is one of a predicate
}

func operandOf(c *Constraint) (o operand) {
	o.parse(c)
	return o
}

func (o *operand) parse(c *Constraint) {
	*o = operand{Operand: c.Operand()}
	switch {
	case !o.Supported:
		o.problem = OperatorUnsupported
	case !o.Valid:
		o.problem = expectedProblem(c)
	}
}

// expectedProblem returns the problem of a constraint whose value does not parse.
func expectedProblem(c *Constraint) ConstraintProblem {
	list := c.Operator == OpIsOneOf || c.Operator == OpIsNotOneOf
	switch {
	case c.Type == DateTimeComparison:
		return ExpectedNotDateTime
	case c.Type == NumberComparison && !list:
		return ExpectedNotNumber
	case c.Type == NumberComparison:
		return ExpectedNotNumbers
	}
	return ExpectedNotStrings
}

// testsPresence reports whether the operator does not compare the value.
func testsPresence(operator string) bool {
	switch operator {
	case OpEmpty, OpNotEmpty, OpPresent, OpNotPresent:
		return true
	}
	return false
}
