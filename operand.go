package guidon

import (
	"encoding/json"
	"errors"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Operand is the value of a constraint, parsed as its type and operator require: into
// none or one of the fields below. A single text or number is a list of one.
type Operand struct {
	Compared bool // the operator compares values of the type
	Valid    bool // and the value parses; otherwise the comparison fails for every value

	Texts     []string
	Numbers   []float64
	Instant   time.Time
	Version   Version
	Pattern   *regexp.Regexp
	Addresses *AddressSet
}

// Operand returns the operand of the constraint.
func (c *Constraint) Operand() (o Operand) {
	operator := OperatorNamed(c.Operator)
	if operator == nil || !operator.compares(c.Type) {
		return o
	}
	o.Compared = true
	o.Valid = operator.Takes == NoOperand || o.parse(c.Type, operator.Takes == ListOfItems, c.Value) == nil
	return o
}

// Len returns the number of items of a list.
func (o *Operand) Len() int {
	if o.Addresses != nil {
		return o.Addresses.listed
	}
	return len(o.Texts) + len(o.Numbers)
}

// parse sets the field for operands of the type.
func (o *Operand) parse(t ComparisonType, list bool, value string) (err error) {
	switch {
	case t == NumberComparison && list:
		err = json.Unmarshal([]byte(value), &o.Numbers)
	case t == NumberComparison:
		o.Numbers = make([]float64, 1)
		o.Numbers[0], err = strconv.ParseFloat(value, 64)
	case t == DateTimeComparison:
		o.Instant, err = ParseDateTime(value)
	case t == VersionComparison:
		o.Version, err = ParseVersion(value)
	case t == PatternComparison:
		o.Pattern, err = CompilePattern(value)
	case t == ListComparison:
		var others bool
		if o.Texts, others, err = listTexts(value); err == nil && others {
			o.Texts, err = nil, errListItem
		}
	case t == AddressComparison:
		o.Addresses, err = ParseAddresses(value)
	case list:
		err = json.Unmarshal([]byte(value), &o.Texts)
	default:
		o.Texts = []string{value}
	}
	return err
}

var errListItem = errors.New("an item is neither a text nor a number nor a boolean")

// listTexts returns the texts, numbers and booleans of a JSON array, as texts, and whether there are
// others.
func listTexts(list string) (texts []string, others bool, err error) {
	var items []json.RawMessage
	if err = json.Unmarshal([]byte(list), &items); err == nil && items == nil {
		err = errListItem // null
	}
	for _, item := range items {
		if text, scalar := itemText(item); scalar {
			texts = append(texts, text)
		} else {
			others = true
		}
	}
	return texts, others, err
}

// itemText returns an item of a JSON array as text. It reports false for null, an object or an
// array.
func itemText(item json.RawMessage) (text string, scalar bool) {
	switch item[0] {
	case '"':
		return text, json.Unmarshal(item, &text) == nil
	case 'n', '{', '[':
		return "", false
	}
	return string(item), true
}

// list returns the matcher of values that are lists. A value that is not a JSON array counts
// as a list of itself, and items that are not texts, numbers or booleans are ignored.
func (o *Operator) list(want []string) matcher {
	if o.every {
		return func(value string) bool {
			has := setOf(valueTexts(value))
			return !slices.ContainsFunc(want, func(text string) bool { return !has[text] })
		}
	}
	wanted := setOf(want)
	return func(value string) bool {
		return slices.ContainsFunc(valueTexts(value), func(text string) bool { return wanted[text] })
	}
}

func valueTexts(value string) []string {
	if !strings.HasPrefix(strings.TrimLeft(value, " \t\r\n"), "[") {
		return []string{value}
	}
	texts, _, err := listTexts(value)
	if err != nil {
		return []string{value}
	}
	return texts
}

// Limits of patterns. A property that is longer does not match.
const (
	MaxPatternSize         = 512      // bytes
	MaxPatternInstructions = 2000     // of the compiled program
	MaxPatternProperty     = 4 * 1024 // bytes
)

// ErrPatternTooComplex is the error of a pattern that exceeds a limit.
var ErrPatternTooComplex = errors.New("the pattern is too complex")

// CompilePattern compiles a pattern of RE2. It returns ErrPatternTooComplex, or the error of
// package regexp.
func CompilePattern(text string) (*regexp.Regexp, error) {
	if len(text) > MaxPatternSize {
		return nil, ErrPatternTooComplex
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	if len(program.Inst) > MaxPatternInstructions {
		return nil, ErrPatternTooComplex
	}
	return regexp.Compile(text)
}

func matchesPattern(pattern *regexp.Regexp) matcher {
	return func(value string) bool { return len(value) <= MaxPatternProperty && pattern.MatchString(value) }
}
