package guidon

import (
	"encoding/json"
	"strconv"
	"time"
)

// Operand is the value of a constraint, parsed as its type and operator require: into
// none or one of the fields below. A single text or number is a list of one.
type Operand struct {
	Compared bool // the operator compares values of the type
	Valid    bool // and the value parses; otherwise the constraint never matches

	Texts   []string
	Numbers []float64
	Instant time.Time
}

// Operand returns the operand of the constraint.
func (c *Constraint) Operand() (o Operand) {
	operator := OperatorNamed(c.Operator)
	if operator == nil || !operator.compares(c.Type) {
		return o
	}
	var err error
	switch list := operator.Takes == ListOfItems; {
	case operator.Takes == NoOperand:
	case c.Type == NumberComparison && list:
		err = json.Unmarshal([]byte(c.Value), &o.Numbers)
	case c.Type == NumberComparison:
		o.Numbers = make([]float64, 1)
		o.Numbers[0], err = strconv.ParseFloat(c.Value, 64)
	case c.Type == DateTimeComparison:
		o.Instant, err = ParseDateTime(c.Value)
	case list:
		err = json.Unmarshal([]byte(c.Value), &o.Texts)
	default:
		o.Texts = []string{c.Value}
	}
	o.Compared, o.Valid = true, err == nil
	return o
}
