package analysis

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/guidonhq/guidon"
)

// DescribeSegment returns the constraints of the segment in words, such as "any of 3: fraud_score is greater than
// 0.87, …", in at most limit bytes.
func DescribeSegment(s *guidon.Segment, limit int) string {
	const more = ", …"
	var out strings.Builder
	switch n := len(s.Constraints); {
	case n == 0:
		return "everyone"
	case n == 1:
	case s.MatchType == guidon.MatchAny:
		fmt.Fprintf(&out, "any of %d: ", n)
	default:
		fmt.Fprintf(&out, "all of %d: ", n)
	}
	for i, c := range s.Constraints {
		text := DescribeConstraint(c)
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
		out.WriteString(guidon.Shorten(text, max(space, len(more))))
	}
	return guidon.Shorten(out.String(), limit)
}

// maxSaid limits how much of a property or a value the words of a constraint have, in
// bytes.
const maxSaid = 60

// DescribeConstraint returns the constraint in words, such as "country is one of AT, DE" or, if
// it is negated, "not (country is SE)".
func DescribeConstraint(c *guidon.Constraint) string {
	subject, operator, operand := ComparisonWords(c)
	text := subject + " " + operator
	if operand != "" {
		text += " " + operand
	}
	if c.Negate {
		text = "not (" + text + ")"
	}
	return text
}

// ComparisonWords returns the parts of the comparison of the constraint in words, such as
// "country", "is one of" and "AT, DE". The operand is empty if the operator has none. None of
// them says that the constraint is negated.
func ComparisonWords(c *guidon.Constraint) (subject, operator, operand string) {
	subject = said(c.Property)
	if c.Type == guidon.EntityIDComparison {
		subject = "entity"
	}
	if hasOperand(c) {
		operand = operandWords(c)
	}
	return subject, OperatorWords(c.Type, c.Operator), operand
}

func operandWords(c *guidon.Constraint) string {
	values, list := listed(c)
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
func listed(c *guidon.Constraint) (texts []string, list bool) {
	switch {
	case !takesList(c):
		return nil, false
	case c.Type != guidon.NumberComparison && c.Type != guidon.ListComparison:
		return texts, json.Unmarshal([]byte(c.Value), &texts) == nil
	}
	o := c.Operand()
	texts = o.Texts
	for _, n := range o.Numbers {
		texts = append(texts, strconv.FormatFloat(n, 'f', -1, 64))
	}
	return texts, o.Valid
}

// ComparedValues returns the values that the constraint compares with for equality: that of an
// equality or inequality, or those of a list that are not address blocks.
func ComparedValues(c *guidon.Constraint) []string {
	switch {
	case takesList(c):
		texts, _ := listed(c)
		if c.Type == guidon.AddressComparison {
			texts = slices.DeleteFunc(texts, func(text string) bool { return strings.Contains(text, "/") })
		}
		return texts
	case operatorOf(c).part == comparesWhole && c.Type != guidon.PatternComparison:
		return []string{c.Value}
	}
	return nil
}

// said returns the text as a sentence has it: cut if it is long, in quotes if it could be
// misread.
func said(text string) string {
	text = guidon.Shorten(text, maxSaid)
	misread := text == "" || text[0] == '"' || strings.TrimSpace(text) != text || strings.Contains(text, ", ") ||
		strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) })
	if misread {
		return Quoted(text)
	}
	return text
}

// Quoted returns the text in quotes, which differ from those in the text. Only characters that
// are not printable are escaped.
func Quoted(text string) string {
	escaped := strconv.Quote(text)
	if strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) || !utf8.ValidString(text) {
		text = strings.ReplaceAll(escaped[1:len(escaped)-1], `\"`, `"`)
	}
	if strings.Contains(text, `"`) {
		return "“" + text + "”"
	}
	return `"` + text + `"`
}
