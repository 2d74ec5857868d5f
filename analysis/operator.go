package analysis

import "github.com/guidonhq/guidon"

// operator is what analyses know about an operator of package guidon. [satisfy] decides
// nothing about one that is not in the table.
type operator struct {
	words    string
	ofDates  string      // words for dates, if they are others
	presence bool        // it tests whether there is a value, and does not compare it
	truths   []string    // the values for which it holds, if they are few
	part     comparisons // what it compares of a text
	negated  bool        // it holds for the other texts
}

var (
	trueTexts  = []string{"1", "t", "T", "TRUE", "true", "True"}
	falseTexts = []string{"0", "f", "F", "FALSE", "false", "False"}
)

var operators = map[string]*operator{
	guidon.OpEQ:          {words: "is", part: comparesWhole},
	guidon.OpNEQ:         {words: "is not", part: comparesWhole, negated: true},
	guidon.OpLT:          {words: "is less than", ofDates: "is before"},
	guidon.OpLTE:         {words: "is at most", ofDates: "is at or before"},
	guidon.OpGT:          {words: "is greater than", ofDates: "is after"},
	guidon.OpGTE:         {words: "is at least", ofDates: "is at or after"},
	guidon.OpEmpty:       {words: "is empty", presence: true},
	guidon.OpNotEmpty:    {words: "is not empty", presence: true},
	guidon.OpPrefix:      {words: "begins with", part: comparesPrefix},
	guidon.OpSuffix:      {words: "ends with", part: comparesSuffix},
	guidon.OpContains:    {words: "contains", part: comparesPart},
	guidon.OpNotContains: {words: "does not contain", part: comparesPart, negated: true},
	guidon.OpIsOneOf:     {words: "is one of", part: comparesWhole},
	guidon.OpIsNotOneOf:  {words: "is not one of", part: comparesWhole, negated: true},
	guidon.OpPresent:     {words: "is set", presence: true},
	guidon.OpNotPresent:  {words: "is not set", presence: true},
	guidon.OpTrue:        {words: "is true", truths: trueTexts},
	guidon.OpFalse:       {words: "is false", truths: falseTexts},
}

// operatorOf returns what is known about the operator of the constraint.
func operatorOf(c *guidon.Constraint) *operator {
	if known := operators[c.Operator]; known != nil {
		return known
	}
	return &operator{}
}

// OperatorWords returns an operator of constraints of the type in words, such as "is one of".
// One that is not known is returned as it is.
func OperatorWords(t guidon.ComparisonType, name string) string {
	o := operators[name]
	switch {
	case o == nil:
		return said(name)
	case t == guidon.DateTimeComparison && o.ofDates != "":
		return o.ofDates
	}
	return o.words
}

// Negates reports whether the operator holds for all values but some, such as "is not", and
// yet not for a missing one.
func Negates(name string) bool {
	o := operators[name]
	return o != nil && o.negated
}

// takesList reports whether the operand of the constraint is a list.
func takesList(c *guidon.Constraint) bool {
	o := guidon.OperatorNamed(c.Operator)
	return o != nil && o.Takes == guidon.ListOfItems
}

// hasOperand reports whether the constraint compares with its value.
func hasOperand(c *guidon.Constraint) bool {
	o := guidon.OperatorNamed(c.Operator)
	return o == nil || o.Takes != guidon.NoOperand
}
