package guidon

import (
	"fmt"
	"strconv"
	"strings"
)

// Describe returns the constraints in words, such as "any of 3: fraud_score is greater than
// 0.87, …", in at most limit bytes.
func (s *Segment) Describe(limit int) string {
	const more = ", …"
	var out strings.Builder
	switch n := len(s.Constraints); {
	case n == 0:
		return "everyone"
	case n == 1:
	case s.MatchType == MatchAny:
		fmt.Fprintf(&out, "any of %d: ", n)
	default:
		fmt.Fprintf(&out, "all of %d: ", n)
	}
	for i, c := range s.Constraints {
		text := c.Describe()
		if i > 0 {
			text = ", " + text
		}
		space := limit - out.Len()
		if i < len(s.Constraints)-1 {
			space -= len(more)
		}
		if i > 0 && len(text) > space {
			return out.String() + more
		}
		out.WriteString(Shorten(text, max(space, len(more))))
	}
	return Shorten(out.String(), limit)
}

// maxSaid limits how much of a property or a value the words of a constraint have, in
// bytes.
const maxSaid = 60

// Describe returns the constraint in words, such as "country is one of AT, DE".
func (c *Constraint) Describe() string {
	subject, operator, operand := c.Words()
	if operand == "" {
		return subject + " " + operator
	}
	return subject + " " + operator + " " + operand
}

// Words returns the parts of the constraint in words, such as "country", "is one of" and "AT,
// DE". The operand is empty if the operator has none.
func (c *Constraint) Words() (subject, operator, operand string) {
	subject = said(c.Property)
	if c.Type == EntityIDComparison {
		subject = "entity"
	}
	if c.hasOperand() {
		operand = c.operandWords()
	}
	return subject, OperatorWords(c.Type, c.Operator), operand
}

// Operators in words: for most types, and for dates.
var (
	operatorWords = map[string]string{
		OpEQ: "is", OpNEQ: "is not", OpIsOneOf: "is one of", OpIsNotOneOf: "is not one of",
		OpContains: "contains", OpNotContains: "does not contain", OpPrefix: "begins with", OpSuffix: "ends with",
		OpEmpty: "is empty", OpNotEmpty: "is not empty", OpPresent: "is set", OpNotPresent: "is not set",
		OpLT: "is less than", OpLTE: "is at most", OpGT: "is greater than", OpGTE: "is at least",
		OpTrue: "is true", OpFalse: "is false",
	}
	dateOperatorWords = map[string]string{
		OpLT: "is before", OpLTE: "is at or before", OpGT: "is after", OpGTE: "is at or after",
	}
)

// OperatorWords returns an operator of constraints of the type in words, such as "is one of".
// One that is not known is returned as it is.
func OperatorWords(t ComparisonType, operator string) string {
	if words := dateOperatorWords[operator]; t == DateTimeComparison && words != "" {
		return words
	}
	if words := operatorWords[operator]; words != "" {
		return words
	}
	return said(operator)
}

// typeWords are the types of constraints in words.
var typeWords = map[ComparisonType]string{
	StringComparison: "text", NumberComparison: "number", BooleanComparison: "yes or no", DateTimeComparison: "date",
	EntityIDComparison: "entity",
}

// TypeWords returns a type of constraints in words, such as "yes or no". It returns "" for one
// that is not known.
func TypeWords(t ComparisonType) string { return typeWords[t] }

// hasOperand reports whether the constraint compares with its value.
func (c *Constraint) hasOperand() bool {
	switch c.Operator {
	case OpEmpty, OpNotEmpty, OpPresent, OpNotPresent, OpTrue, OpFalse:
		return false
	}
	return true
}

func (c *Constraint) operandWords() string {
	values, list := c.listed()
	if !list {
		return said(c.Value)
	}
	if len(values) == 0 {
		return "nothing"
	}
	var out strings.Builder
	for i, v := range values {
		if i > 0 {
			out.WriteString(", ")
		}
		if out.Len() > maxSaid {
			out.WriteString("…")
			break
		}
		out.WriteString(said(v))
	}
	return out.String()
}

// listed returns the values of a constraint whose operator takes a list, as texts. It
// reports whether there is one.
func (c *Constraint) listed() ([]string, bool) {
	if c.Operator != OpIsOneOf && c.Operator != OpIsNotOneOf {
		return nil, false
	}
	if c.Type == NumberComparison {
		numbers, err := parseList[float64](c.Value)
		texts := make([]string, len(numbers))
		for i, n := range numbers {
			texts[i] = strconv.FormatFloat(n, 'f', -1, 64)
		}
		return texts, err == nil
	}
	texts, err := parseList[string](c.Value)
	return texts, err == nil
}

// Values returns the values that the constraint compares with for equality: that of an
// equality or inequality, or those of a list.
func (c *Constraint) Values() []string {
	if values, list := c.listed(); list {
		return values
	}
	if c.Operator == OpEQ || c.Operator == OpNEQ {
		return []string{c.Value}
	}
	return nil
}

// said returns the text as a sentence has it: cut if it is long, in quotes if it could be
// misread.
func said(text string) string {
	text = Shorten(text, maxSaid)
	misread := text == "" || text[0] == '"' || strings.TrimSpace(text) != text || strings.Contains(text, ", ") ||
		strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) })
	if misread {
		return strconv.Quote(text)
	}
	return text
}
