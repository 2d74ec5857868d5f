package guidon

import (
	"encoding/json"
	"regexp"
	"strconv"
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
		o.Texts, err = parseList(value)
	case t == AddressComparison:
		o.Addresses, err = ParseAddresses(value)
	case list:
		err = json.Unmarshal([]byte(value), &o.Texts)
	default:
		o.Texts = []string{value}
	}
	return err
}
