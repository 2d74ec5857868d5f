package segment

import (
	"slices"
	"strconv"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/flipt"
)

// The types of constraints.
const (
	typeText   = flipt.ComparisonType_STRING_COMPARISON_TYPE
	typeNumber = flipt.ComparisonType_NUMBER_COMPARISON_TYPE
	typeYesNo  = flipt.ComparisonType_BOOLEAN_COMPARISON_TYPE
	typeDate   = flipt.ComparisonType_DATETIME_COMPARISON_TYPE
	typeEntity = flipt.ComparisonType_ENTITY_ID_COMPARISON_TYPE
)

// typeName returns the type in words.
func typeName(t flipt.ComparisonType) string {
	if words := guidon.TypeWords(guidon.ComparisonType(t)); words != "" { // #nosec G115 -- the enums are the same
		return page.Capital(words)
	}
	return "Unknown type " + strconv.Itoa(int(t))
}

// operators are those of each type (contract 4.3), in the order in which they are offered.
// Lists of dates are left out: they never match.
var operators = map[flipt.ComparisonType][]string{
	typeText: {
		guidon.OpEQ, guidon.OpNEQ, guidon.OpIsOneOf, guidon.OpIsNotOneOf, guidon.OpContains, guidon.OpNotContains, guidon.OpPrefix,
		guidon.OpSuffix, guidon.OpEmpty, guidon.OpNotEmpty,
	},
	typeNumber: {
		guidon.OpEQ, guidon.OpNEQ, guidon.OpGT, guidon.OpGTE, guidon.OpLT, guidon.OpLTE, guidon.OpIsOneOf, guidon.OpIsNotOneOf,
		guidon.OpPresent, guidon.OpNotPresent,
	},
	typeYesNo:  {guidon.OpTrue, guidon.OpFalse, guidon.OpPresent, guidon.OpNotPresent},
	typeDate:   {guidon.OpGT, guidon.OpGTE, guidon.OpLT, guidon.OpLTE, guidon.OpEQ, guidon.OpNEQ, guidon.OpPresent, guidon.OpNotPresent},
	typeEntity: {guidon.OpEQ, guidon.OpNEQ, guidon.OpIsOneOf, guidon.OpIsNotOneOf, guidon.OpContains, guidon.OpNotContains},
}

// operatorName returns the operator in words.
func operatorName(t flipt.ComparisonType, operator string) string {
	return guidon.OperatorWords(guidon.ComparisonType(t), operator) // #nosec G115 -- the enums are the same
}

// counterparts are operators of one type that become another one of another type.
var counterparts = map[string]string{
	guidon.OpEmpty: guidon.OpNotPresent, guidon.OpNotPresent: guidon.OpEmpty,
	guidon.OpNotEmpty: guidon.OpPresent, guidon.OpPresent: guidon.OpNotEmpty,
}

// operatorFor returns the operator if the type has it, else one with nearly its meaning, else
// the first one of the type.
func operatorFor(t flipt.ComparisonType, operator string) string {
	of := operators[t]
	switch {
	case len(of) == 0 || slices.Contains(of, operator):
		return operator
	case slices.Contains(of, counterparts[operator]):
		return counterparts[operator]
	}
	return of[0]
}

// entryKind is a kind of form control for values.
type entryKind int

// The kinds of entries.
const (
	entryNone entryKind = iota
	entryText
	entryNumber
	entryDate
	entryList
)

// entryOf returns the kind of form control for the value of a constraint.
func entryOf(t flipt.ComparisonType, operator string) entryKind {
	switch operator {
	case guidon.OpEmpty, guidon.OpNotEmpty, guidon.OpPresent, guidon.OpNotPresent, guidon.OpTrue, guidon.OpFalse:
		return entryNone
	case guidon.OpIsOneOf, guidon.OpIsNotOneOf:
		if t != typeDate {
			return entryList
		}
	}
	switch t {
	case typeNumber:
		return entryNumber
	case typeDate:
		return entryDate
	case typeYesNo:
		return entryNone
	}
	return entryText
}

// failsWhenMissing reports whether the operator sounds as if it held for a missing property,
// and does not.
func failsWhenMissing(operator string) bool {
	return operator == guidon.OpNEQ || operator == guidon.OpIsNotOneOf || operator == guidon.OpNotContains
}

// whenMissing returns the operator of the type that holds for a missing property.
func whenMissing(t flipt.ComparisonType) string {
	if t == typeText {
		return guidon.OpEmpty
	}
	return guidon.OpNotPresent
}
