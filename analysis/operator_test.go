package analysis

import (
	"testing"

	"github.com/guidonhq/guidon"
)

// operandOfType returns an operand that the operator takes of constraints of the type.
func operandOfType(t *testing.T, o *guidon.Operator, kind guidon.ComparisonType) string {
	t.Helper()
	one, known := map[guidon.ComparisonType]string{
		guidon.StringComparison: "a", guidon.NumberComparison: "5", guidon.BooleanComparison: "true",
		guidon.DateTimeComparison: "2026-01-01", guidon.EntityIDComparison: "a",
		guidon.VersionComparison: "2.4", guidon.PatternComparison: "^a", guidon.ListComparison: "a", guidon.AddressComparison: "192.0.2.0/24",
	}[kind]
	if !known {
		t.Fatalf("the test has no example of %s", kind)
	}
	switch {
	case o.Takes == guidon.NoOperand:
		return ""
	case o.Takes == guidon.OneValue:
		return one
	case kind == guidon.NumberComparison:
		return "[" + one + "]"
	}
	return `["` + one + `"]`
}

// TestOperators: the analyses know all operators of the engine. They find a value that
// satisfies each of them, one that does not, and that none does both.
func TestOperators(t *testing.T) {
	if known, all := len(operators), len(guidon.Operators()); known > all {
		t.Errorf("operators of package analysis: %d, more than the %d of package guidon", known, all)
	}
	for _, o := range guidon.Operators() {
		if known := operators[o.Name]; known == nil || known.words.is == "" || known.words.were == "" || known.words.wereNot == "" {
			t.Errorf("operator %s has no words in operator.go", o.Name)
		}
		for _, kind := range o.Types {
			if kind == guidon.DateTimeComparison && o.Takes == guidon.ListOfItems {
				continue // never matches
			}
			c := &guidon.Constraint{Type: kind, Property: "p", Operator: o.Name, Value: operandOfType(t, &o, kind)}
			negated := *c
			negated.Negate = true
			checkOperator(t, c)
			checkOperator(t, &negated)
			checkNegation(t, c, &negated)
		}
	}
}

func checkOperator(t *testing.T, c *guidon.Constraint) {
	t.Helper()
	if problem := ProblemOf(c); problem != NoProblem {
		t.Errorf("operator %s of %s: its operand %q has a problem: %s", c.Operator, c.Type, c.Value, problem)
	}
	compiled, _ := guidon.CompileConstraint(c)
	work := func(int) bool { return true }
	satisfied, violated := newDemand(c, &compiled, true), newDemand(c, &compiled, false)
	for _, d := range []demand{satisfied, violated} {
		value, found := satisfy([]demand{d}, work)
		if c.Type == guidon.PatternComparison && found == unknown {
			continue // no values are made for patterns
		}
		if found != yes || compiled.Accepts(value) != d.match {
			t.Errorf("operator %s of %s: no value is found for which the outcome is %v: got %q, %d", c.Operator, c.Type, d.match, value, found)
		}
	}
	if _, found := satisfy([]demand{satisfied, violated}, work); found != no {
		t.Errorf("operator %s of %s: it is not known to contradict its opposite", c.Operator, c.Type)
	}
	if c.Type != guidon.PatternComparison {
		checkExamples(t, c, &compiled)
	}
}

// checkNegation: the constraint and the negated one have no outcome in common.
func checkNegation(t *testing.T, c, negated *guidon.Constraint) {
	t.Helper()
	plain, _ := guidon.CompileConstraint(c)
	inverse, _ := guidon.CompileConstraint(negated)
	for _, match := range []bool{true, false} {
		both := []demand{newDemand(c, &plain, match), newDemand(negated, &inverse, match)}
		if _, found := satisfy(both, func(int) bool { return true }); found != no {
			t.Errorf("operator %s of %s and its negation: got %d that both are %v, want %d", c.Operator, c.Type, found, match, no)
		}
	}
}

// checkExamples: the examples from which explanations and probes choose have both outcomes.
func checkExamples(t *testing.T, c *guidon.Constraint, compiled *guidon.CompiledConstraint) {
	t.Helper()
	e, o := examples{work: func(int) bool { return true }}, operandOf(c)
	e.add(c, &o)
	outcomes := map[bool]bool{}
	for _, value := range e.values() {
		outcomes[compiled.Accepts(value)] = true
	}
	if len(outcomes) < 2 || !e.complete() {
		t.Errorf("operator %s of %s: its examples do not have both outcomes", c.Operator, c.Type)
	}
}

// TestUnknownOperator: nothing is said about an operator that the table lacks.
func TestUnknownOperator(t *testing.T) {
	known := operators[guidon.OpPrefix]
	delete(operators, guidon.OpPrefix)
	t.Cleanup(func() { operators[guidon.OpPrefix] = known })
	c := &guidon.Constraint{Type: guidon.StringComparison, Property: "p", Operator: guidon.OpPrefix, Value: "a"}
	compiled, _ := guidon.CompileConstraint(c)
	if _, found := satisfy([]demand{newDemand(c, &compiled, true)}, func(int) bool { return true }); found != unknown {
		t.Errorf("satisfied: got %d, want %d", found, unknown)
	}
	if contingent(c) {
		t.Error("it is said to hold for some values and not for others")
	}
	if got := OperatorWords(c.Type, c.Operator); got != "prefix" {
		t.Errorf("got the words %q", got)
	}
}
