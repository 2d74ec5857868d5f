package segment

import (
	"slices"
	"strconv"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/internal/lists"
)

// The types of constraints.
const (
	typeText   = flipt.ComparisonType_STRING_COMPARISON_TYPE
	typeNumber = flipt.ComparisonType_NUMBER_COMPARISON_TYPE
	typeYesNo  = flipt.ComparisonType_BOOLEAN_COMPARISON_TYPE
	typeDate   = flipt.ComparisonType_DATETIME_COMPARISON_TYPE
	typeEntity = flipt.ComparisonType_ENTITY_ID_COMPARISON_TYPE

	typeVersion = flipt.ComparisonType_VERSION_COMPARISON_TYPE
	typePattern = flipt.ComparisonType_PATTERN_COMPARISON_TYPE
	typeList    = flipt.ComparisonType_LIST_COMPARISON_TYPE
	typeAddress = flipt.ComparisonType_ADDRESS_COMPARISON_TYPE
)

// everyType has the types in the order in which they are offered.
var everyType = lists.Map(guidon.ComparisonTypes(), func(t guidon.ComparisonType) flipt.ComparisonType { return flipt.ComparisonType(t) })

// typeName returns the type in words.
func typeName(t flipt.ComparisonType) string {
	if words := analysis.TypeWords(guidon.ComparisonType(t)); words != "" { // #nosec G115 -- the enums are the same
		return page.Capital(words)
	}
	return "Unknown type " + strconv.Itoa(int(t))
}

// menu is the order in which operators are offered. Dates have those that compare for
// equality after the others.
var menu = []string{
	guidon.OpEQ, guidon.OpNEQ, guidon.OpGT, guidon.OpGTE, guidon.OpLT, guidon.OpLTE, guidon.OpIsOneOf, guidon.OpIsNotOneOf,
	guidon.OpAnyOf, guidon.OpAllOf,
	guidon.OpContains, guidon.OpNotContains, guidon.OpPrefix, guidon.OpSuffix, guidon.OpTrue, guidon.OpFalse,
	guidon.OpEmpty, guidon.OpNotEmpty, guidon.OpPresent, guidon.OpNotPresent,
}

// operators are those of each type, in the order of the menu.
var operators = func() map[flipt.ComparisonType][]string {
	all := make(map[flipt.ComparisonType][]string)
	for _, t := range everyType {
		all[t] = offered(t)
	}
	return all
}()

// offered returns the operators of the type. Lists of dates are left out: they never match.
func offered(t flipt.ComparisonType) (names []string) {
	order := menu
	if t == typeDate {
		order = slices.Concat(menu[2:6], menu[:2], menu[6:])
	}
	for _, name := range order {
		o := guidon.OperatorNamed(name)
		// #nosec G115 -- the enums are the same
		if slices.Contains(o.Types, guidon.ComparisonType(t)) && (t != typeDate || !takesList(name)) {
			names = append(names, name)
		}
	}
	return names
}

// operatorName returns the operator in words.
func operatorName(t flipt.ComparisonType, operator string) string {
	return analysis.OperatorWords(guidon.ComparisonType(t), operator) // #nosec G115 -- the enums are the same
}

// counterparts are operators of one type that become another one of another type.
var counterparts = map[string]string{
	guidon.OpEmpty: guidon.OpNotPresent, guidon.OpNotPresent: guidon.OpEmpty,
	guidon.OpNotEmpty: guidon.OpPresent, guidon.OpPresent: guidon.OpNotEmpty,
	guidon.OpIsOneOf: guidon.OpAnyOf, guidon.OpAnyOf: guidon.OpIsOneOf,
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
	o := guidon.OperatorNamed(operator)
	switch {
	case o != nil && o.Takes == guidon.NoOperand:
		return entryNone
	case takesList(operator) && t != typeDate:
		return entryList
	case t == typeNumber:
		return entryNumber
	case t == typeDate:
		return entryDate
	case t == typeYesNo:
		return entryNone
	}
	return entryText
}

// takesList reports whether the operator compares with a list.
func takesList(operator string) bool {
	o := guidon.OperatorNamed(operator)
	return o != nil && o.Takes == guidon.ListOfItems
}

// whenMissing returns the operator of the type that holds for a missing property.
func whenMissing(t flipt.ComparisonType) string {
	for _, o := range guidon.ComparisonType(t).Operators() { // #nosec G115 -- the enums are the same
		if o.Missing {
			return o.Name
		}
	}
	return ""
}
