package guidon

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A claim is a constraint, prepared for comparisons with others.
type claim struct {
	*Constraint
	condition condition
	subject   string // the property, or the entity id, that it compares
	content   string // equal for constraints that hold for the same entities
	value     operand
}

// operand is the value of the constraint as the engine parses it.
type operand struct {
	valid   bool // it parses, so that the constraint can hold
	texts   []string
	numbers []float64
	instant time.Time
}

func newClaim(c *Constraint, compiled condition) *claim {
	subject := "property " + c.Property
	if compiled.entity {
		subject = "entity"
	}
	x := &claim{Constraint: c, condition: compiled, subject: subject}
	x.content = fmt.Sprintf("(%q %d %q %q)", subject, c.Type, c.Operator, c.Value)
	x.value = parseOperand(c)
	return x
}

func (c *claim) isText() bool { return c.Type == StringComparison || c.Type == EntityIDComparison }

func (c *claim) isOne(operators ...string) bool { return slices.Contains(operators, c.Operator) }

// parseOperand parses the value in the same way as compileConstraint.
func parseOperand(c *Constraint) operand {
	switch {
	case c.Operator == OpPresent || c.Operator == OpNotPresent:
		return operand{valid: c.Type == NumberComparison || c.Type == BooleanComparison || c.Type == DateTimeComparison}
	case c.Type == StringComparison || c.Type == EntityIDComparison:
		return parseText(c)
	case c.Type == NumberComparison:
		return parseNumber(c)
	case c.Type == BooleanComparison:
		return operand{valid: c.Operator == OpTrue || c.Operator == OpFalse}
	case c.Type == DateTimeComparison:
		instant, err := parseDateTime(c.Value)
		return operand{valid: err == nil && timeOperators[c.Operator] != nil, instant: instant}
	}
	return operand{}
}

func parseText(c *Constraint) operand {
	switch c.Operator {
	case OpIsOneOf, OpIsNotOneOf:
		set, ok := parseSet[string](c.Value)
		x := operand{valid: ok}
		for text := range set {
			x.texts = append(x.texts, text)
		}
		return x
	case OpPrefix: // of a text without white space around it
		first, _ := utf8.DecodeRuneInString(c.Value)
		return operand{valid: c.Value == "" || !unicode.IsSpace(first), texts: []string{c.Value}}
	case OpSuffix:
		last, _ := utf8.DecodeLastRuneInString(c.Value)
		return operand{valid: c.Value == "" || !unicode.IsSpace(last), texts: []string{c.Value}}
	case OpEQ, OpNEQ, OpEmpty, OpNotEmpty, OpContains, OpNotContains:
		return operand{valid: true, texts: []string{c.Value}}
	}
	return operand{}
}

func parseNumber(c *Constraint) operand {
	if c.Operator == OpIsOneOf || c.Operator == OpIsNotOneOf {
		set, ok := parseSet[float64](c.Value)
		x := operand{valid: ok}
		for number := range set {
			x.numbers = append(x.numbers, number)
		}
		return x
	}
	number, err := strconv.ParseFloat(c.Value, 64)
	// Nothing is equal to NaN, less or greater.
	valid := err == nil && numberOperators[c.Operator] != nil && (number == number || c.Operator == OpNEQ)
	return operand{valid: valid, numbers: []float64{number}}
}

// candidates returns all values for which the constraint can hold, if they are few.
func (c *claim) candidates() (values []string, finite bool) {
	switch {
	case !c.value.valid:
		return nil, true
	case c.isText() && c.isOne(OpEQ, OpIsOneOf):
		return c.value.texts, true
	case c.Type == BooleanComparison && c.Operator == OpTrue:
		return []string{"1", "t", "T", "TRUE", "true", "True"}, true
	case c.Type == BooleanComparison && c.Operator == OpFalse:
		return []string{"0", "f", "F", "FALSE", "false", "False"}, true
	}
	return nil, false
}

// holdsFor reports whether the constraint holds for a value of its subject.
func (c *claim) holdsFor(value string) bool {
	if value == "" {
		return c.condition.missing
	}
	return c.condition.matches(value)
}

// wantsBlank reports whether the constraint holds exactly for values without content.
func (c *claim) wantsBlank() bool {
	return c.isText() && c.Operator == OpEmpty || !c.isText() && c.Operator == OpNotPresent && c.value.valid
}

// wantsContent reports whether the constraint holds exactly for values with content.
func (c *claim) wantsContent() bool {
	return c.isText() && c.Operator == OpNotEmpty || !c.isText() && c.Operator == OpPresent && c.value.valid
}

// needsContent reports whether the constraint cannot hold for a value without content.
func (c *claim) needsContent() bool {
	switch {
	case c.wantsContent():
		return true
	case c.wantsBlank():
		return false
	case c.isText():
		return c.isOne(OpPrefix, OpSuffix, OpContains) && !blank(c.Value)
	}
	return true // nothing else than a text is parsed from white space
}

// needsPart returns a text that every value contains for which the constraint holds.
func (c *claim) needsPart() string {
	if c.isText() && c.isOne(OpPrefix, OpSuffix, OpContains) {
		return c.Value
	}
	return ""
}

// excludesPart reports whether the constraint fails for all values that contain part.
func (c *claim) excludesPart(part string) bool {
	return c.isText() && c.Operator == OpNotContains && strings.Contains(part, c.Value)
}
