package guidon

import (
	"encoding/json"
	"strconv"
	"time"
)

// Operand is the value of a constraint, parsed as its type and operator require.
type Operand struct {
	Supported bool // the type has the operator
	Valid     bool // the value parses, so some values may match
	Number    float64
	Instant   time.Time
	Texts     []string  // of a list
	Numbers   []float64 // of a list
}

// Operand returns the operand of the constraint.
func (c *Constraint) Operand() (o Operand) {
	switch c.Type {
	case StringComparison, EntityIDComparison:
		o.parseString(c)
	case NumberComparison:
		o.parseNumber(c)
	case BooleanComparison:
		switch c.Operator {
		case OpPresent, OpNotPresent, OpTrue, OpFalse:
			o.Supported, o.Valid = true, true
		}
	case DateTimeComparison:
		o.parseDateTime(c)
	}
	return o
}

func (o *Operand) parseString(c *Constraint) {
	switch c.Operator {
	case OpEmpty, OpNotEmpty, OpEQ, OpNEQ, OpPrefix, OpSuffix, OpContains, OpNotContains:
		o.Supported, o.Valid = true, true
	case OpIsOneOf, OpIsNotOneOf:
		var err error
		o.Texts, err = parseList[string](c.Value)
		o.Supported, o.Valid = true, err == nil
	}
}

func (o *Operand) parseNumber(c *Constraint) {
	var err error
	switch c.Operator {
	case OpPresent, OpNotPresent:
	case OpIsOneOf, OpIsNotOneOf:
		o.Numbers, err = parseList[float64](c.Value)
	default:
		if numberOperators[c.Operator] == nil {
			return
		}
		o.Number, err = strconv.ParseFloat(c.Value, 64)
	}
	o.Supported, o.Valid = true, err == nil
}

func (o *Operand) parseDateTime(c *Constraint) {
	var err error
	switch c.Operator {
	case OpPresent, OpNotPresent:
	default:
		if timeOperators[c.Operator] == nil {
			return
		}
		o.Instant, err = ParseDateTime(c.Value)
	}
	o.Supported, o.Valid = true, err == nil
}

// parseList returns the items of a JSON array.
func parseList[T any](list string) (items []T, err error) {
	err = json.Unmarshal([]byte(list), &items)
	return items, err
}
