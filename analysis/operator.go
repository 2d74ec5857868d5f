package analysis

import "github.com/guidonhq/guidon"

// operator is what analyses know about an operator of package guidon. [satisfy] decides
// nothing about one that is not in the table.
type operator struct {
	words    string
	ofDates  string      // words for dates, if they are others
	demands  [2]string   // words for a change to values for which it would hold, and would not
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
	guidon.OpEQ:          {words: "is", part: comparesWhole, demands: [2]string{"were", "were anything but"}},
	guidon.OpNEQ:         {words: "is not", part: comparesWhole, negated: true, demands: [2]string{"were anything but", "were"}},
	guidon.OpLT:          {words: "is less than", ofDates: "is before", demands: [2]string{"were less than", "were not less than"}},
	guidon.OpLTE:         {words: "is at most", ofDates: "is at or before", demands: [2]string{"were at most", "were not at most"}},
	guidon.OpGT:          {words: "is greater than", ofDates: "is after", demands: [2]string{"were greater than", "were not greater than"}},
	guidon.OpGTE:         {words: "is at least", ofDates: "is at or after", demands: [2]string{"were at least", "were not at least"}},
	guidon.OpEmpty:       {words: "is empty", presence: true, demands: [2]string{"were empty", "were not empty"}},
	guidon.OpNotEmpty:    {words: "is not empty", presence: true, demands: [2]string{"were not empty", "were empty"}},
	guidon.OpPrefix:      {words: "begins with", part: comparesPrefix, demands: [2]string{"began with", "did not begin with"}},
	guidon.OpSuffix:      {words: "ends with", part: comparesSuffix, demands: [2]string{"ended with", "did not end with"}},
	guidon.OpContains:    {words: "contains", part: comparesPart, demands: [2]string{"contained", "did not contain"}},
	guidon.OpNotContains: {words: "does not contain", part: comparesPart, negated: true, demands: [2]string{"did not contain", "contained"}},
	guidon.OpIsOneOf:     {words: "is one of", part: comparesWhole, demands: [2]string{"were one of", "were none of"}},
	guidon.OpIsNotOneOf:  {words: "is not one of", part: comparesWhole, negated: true, demands: [2]string{"were none of", "were one of"}},
	guidon.OpPresent:     {words: "is set", presence: true, demands: [2]string{"were set", "were missing"}},
	guidon.OpNotPresent:  {words: "is not set", presence: true, demands: [2]string{"were missing", "were set"}},
	guidon.OpTrue:        {words: "is true", truths: trueTexts, demands: [2]string{"were true", "were not true"}},
	guidon.OpFalse:       {words: "is false", truths: falseTexts, demands: [2]string{"were false", "were not false"}},
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

// DemandWords returns what would be if values changed so that the operator held, or did not,
// such as "were one of" and "were none of".
func DemandWords(name string) (holds, not string) {
	o := operators[name]
	if o == nil {
		return "matched " + said(name), "did not match " + said(name)
	}
	return o.demands[0], o.demands[1]
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

// typeWords are the types of constraints in words.
var typeWords = map[guidon.ComparisonType]string{
	guidon.StringComparison: "text", guidon.NumberComparison: "number", guidon.BooleanComparison: "yes or no",
	guidon.DateTimeComparison: "date", guidon.EntityIDComparison: "entity",
}

// TypeWords returns a type of constraints in words, such as "yes or no". It returns "" for one
// that is not known.
func TypeWords(t guidon.ComparisonType) string { return typeWords[t] }
