package analysis

import "github.com/guidonhq/guidon"

// operator is what analyses know about an operator of package guidon. [satisfy] decides
// nothing about one that is not in the table.
type operator struct {
	words    words
	byType   map[guidon.ComparisonType]words // those for types that have others
	presence bool                            // it tests whether there is a value, and does not compare it
	truths   []string                        // the values for which it holds, if they are few
	part     comparisons                     // what it compares of a text
	negated  bool                            // it holds for the other texts
}

// words are an operator in words, such as "is one of", and what would be if values changed so
// that it held, or did not, such as "were one of" and "were none of".
type words struct{ is, were, wereNot string }

var (
	trueTexts  = []string{"1", "t", "T", "TRUE", "true", "True"}
	falseTexts = []string{"0", "f", "F", "FALSE", "false", "False"}
)

var operators = map[string]*operator{
	guidon.OpEQ:          {words: words{"is", "were", "were anything but"}, byType: ofPatterns, part: comparesWhole},
	guidon.OpNEQ:         {words: words{"is not", "were anything but", "were"}, part: comparesWhole, negated: true},
	guidon.OpLT:          {words: words{"is less than", "were less than", "were not less than"}, byType: ofDates("before")},
	guidon.OpLTE:         {words: words{"is at most", "were at most", "were not at most"}, byType: ofDates("at or before")},
	guidon.OpGT:          {words: words{"is greater than", "were greater than", "were not greater than"}, byType: ofDates("after")},
	guidon.OpGTE:         {words: words{"is at least", "were at least", "were not at least"}, byType: ofDates("at or after")},
	guidon.OpEmpty:       {words: words{"is empty", "were empty", "were not empty"}, presence: true},
	guidon.OpNotEmpty:    {words: words{"is not empty", "were not empty", "were empty"}, presence: true},
	guidon.OpPrefix:      {words: words{"begins with", "began with", "did not begin with"}, part: comparesPrefix},
	guidon.OpSuffix:      {words: words{"ends with", "ended with", "did not end with"}, part: comparesSuffix},
	guidon.OpContains:    {words: words{"contains", "contained", "did not contain"}, part: comparesPart},
	guidon.OpNotContains: {words: words{"does not contain", "did not contain", "contained"}, part: comparesPart, negated: true},
	guidon.OpIsOneOf:     {words: words{"is one of", "were one of", "were none of"}, byType: ofAddresses, part: comparesWhole},
	guidon.OpIsNotOneOf:  {words: words{"is not one of", "were none of", "were one of"}, part: comparesWhole, negated: true},
	guidon.OpPresent:     {words: words{"is set", "were set", "were missing"}, presence: true},
	guidon.OpNotPresent:  {words: words{"is not set", "were missing", "were set"}, presence: true},
	guidon.OpTrue:        {words: words{"is true", "were true", "were not true"}, truths: trueTexts},
	guidon.OpFalse:       {words: words{"is false", "were false", "were not false"}, truths: falseTexts},
	guidon.OpAnyOf:       {words: words{"has any of", "had any of", "had none of"}},
	guidon.OpAllOf:       {words: words{"has all of", "had all of", "did not have all of"}},
}

var (
	ofPatterns = map[guidon.ComparisonType]words{
		guidon.PatternComparison: {"matches", "matched the pattern", "did not match the pattern"},
	}
	ofAddresses = map[guidon.ComparisonType]words{
		guidon.AddressComparison: {"is in one of", "were in one of", "were in none of"},
	}
)

// ofDates returns the words for dates of an operator that says when they are.
func ofDates(when string) map[guidon.ComparisonType]words {
	return map[guidon.ComparisonType]words{guidon.DateTimeComparison: {"is " + when, "were " + when, "were not " + when}}
}

// operatorOf returns what is known about the operator of the constraint.
func operatorOf(c *guidon.Constraint) *operator {
	if known := operators[c.Operator]; known != nil {
		return known
	}
	return &operator{}
}

// wordsOf returns the words of an operator of constraints of the type.
func wordsOf(t guidon.ComparisonType, name string) words {
	o := operators[name]
	if o == nil {
		return words{said(name), "matched " + said(name), "did not match " + said(name)}
	}
	if others, ok := o.byType[t]; ok {
		return others
	}
	return o.words
}

// OperatorWords returns an operator of constraints of the type in words, such as "is one of".
// One that is not known is returned as it is.
func OperatorWords(t guidon.ComparisonType, name string) string { return wordsOf(t, name).is }

// DemandWords returns what would be if the value changed so that the constraint held, or did
// not, such as "were one of AT, DE" and "were none of AT, DE".
func DemandWords(c *guidon.Constraint, holds bool) string {
	w := wordsOf(c.Type, c.Operator)
	text := w.were
	if holds == c.Negate {
		text = w.wereNot
	}
	if hasOperand(c) {
		text += " " + operandWords(c)
	}
	return text
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
