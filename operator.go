package guidon

import (
	"slices"
	"strings"
)

// Operator is how constraints compare a value with their operand. [Operators] has all of
// them. Whatever treats them alike ranges over it.
type Operator struct {
	Name    string           // as stored, and on the wire
	Takes   OperandKind      // what the value of a constraint is
	Types   []ComparisonType // whose constraints may have it (contract 4.3)
	Missing bool             // it holds for a missing or empty value

	// How it matches: each kind of value needs one of these, see matcher.
	plain  matcher                   // without an operand
	text   func(want string) matcher // of texts
	orders order                     // of numbers, instants and versions
	within bool                      // of lists: the value must be in them, or must not
	every  bool                      // of lists that are compared with lists: the value has all of the items, not just one
}

// OperandKind is what an operator compares a value with.
type OperandKind uint8

// Kinds of operands.
const (
	NoOperand   OperandKind = iota // the value of the constraint is empty
	OneValue                       // a value of the constraint's type
	ListOfItems                    // a JSON array of such values
)

// Operators of constraints (contract 4.3).
const (
	OpEQ          = "eq"
	OpNEQ         = "neq"
	OpLT          = "lt"
	OpLTE         = "lte"
	OpGT          = "gt"
	OpGTE         = "gte"
	OpEmpty       = "empty"
	OpNotEmpty    = "notempty"
	OpPrefix      = "prefix"
	OpSuffix      = "suffix"
	OpContains    = "contains"
	OpNotContains = "notcontains"
	OpIsOneOf     = "isoneof"
	OpIsNotOneOf  = "isnotoneof"
	OpPresent     = "present"
	OpNotPresent  = "notpresent"
	OpTrue        = "true"
	OpFalse       = "false"
	OpAnyOf       = "anyof"
	OpAllOf       = "allof"
)

// Types that several operators have in common.
var (
	equatable = []ComparisonType{StringComparison, NumberComparison, DateTimeComparison, EntityIDComparison, VersionComparison}
	ordered   = []ComparisonType{NumberComparison, DateTimeComparison, VersionComparison}
	onlyText  = []ComparisonType{StringComparison}
	textOrID  = []ComparisonType{StringComparison, EntityIDComparison}
	listable  = []ComparisonType{StringComparison, NumberComparison, DateTimeComparison, EntityIDComparison}
	notText   = []ComparisonType{NumberComparison, BooleanComparison, DateTimeComparison, VersionComparison, ListComparison}
	onlyTruth = []ComparisonType{BooleanComparison}
	onlyList  = []ComparisonType{ListComparison}
)

var operators = []Operator{
	{Name: OpEQ, Takes: OneValue, Types: append(slices.Clip(equatable), PatternComparison), text: equals, orders: equal},
	{Name: OpNEQ, Takes: OneValue, Types: equatable, text: differs, orders: less | greater | unordered},
	{Name: OpLT, Takes: OneValue, Types: ordered, orders: less},
	{Name: OpLTE, Takes: OneValue, Types: ordered, orders: less | equal},
	{Name: OpGT, Takes: OneValue, Types: ordered, orders: greater},
	{Name: OpGTE, Takes: OneValue, Types: ordered, orders: greater | equal},
	{Name: OpEmpty, Types: onlyText, plain: blank, Missing: true},
	{Name: OpNotEmpty, Types: onlyText, plain: notBlank},
	{Name: OpPrefix, Takes: OneValue, Types: onlyText, text: beginsWith},
	{Name: OpSuffix, Takes: OneValue, Types: onlyText, text: endsWith},
	{Name: OpContains, Takes: OneValue, Types: textOrID, text: contains},
	{Name: OpNotContains, Takes: OneValue, Types: textOrID, text: lacks},
	{Name: OpIsOneOf, Takes: ListOfItems, Types: append(slices.Clip(listable), AddressComparison), within: true},
	{Name: OpIsNotOneOf, Takes: ListOfItems, Types: listable},
	{Name: OpPresent, Types: notText, plain: notBlank},
	{Name: OpNotPresent, Types: notText, plain: blank, Missing: true},
	{Name: OpTrue, Types: onlyTruth, plain: isTrue},
	{Name: OpFalse, Types: onlyTruth, plain: isFalse},
	{Name: OpAnyOf, Takes: ListOfItems, Types: onlyList},
	{Name: OpAllOf, Takes: ListOfItems, Types: onlyList, every: true},
}

// Operators returns all operators, in the order in which texts list them. The caller must
// not modify them.
func Operators() []Operator { return operators }

// OperatorNamed returns the operator with the name, or nil.
func OperatorNamed(name string) *Operator {
	for i := range operators {
		if operators[i].Name == name {
			return &operators[i]
		}
	}
	return nil
}

// compares reports whether the operator compares values of the type. Entity ids are
// evaluated like strings, also by operators that cannot be written for them. Lists of dates
// can be written, but are not compared (contract 4.3, 7.2).
func (o *Operator) compares(t ComparisonType) bool {
	if t == EntityIDComparison {
		t = StringComparison
	}
	return slices.Contains(o.Types, t) && (t != DateTimeComparison || o.Takes != ListOfItems)
}

// matcher reports whether a constraint holds for a nonempty value. A value that does
// not parse gives false for every operator.
type matcher func(value string) bool

func never(string) bool { return false }

// blank reports whether the value consists of Unicode white space only.
func blank(value string) bool    { return strings.TrimSpace(value) == "" }
func notBlank(value string) bool { return !blank(value) }

func equals(want string) matcher  { return func(value string) bool { return value == want } }
func differs(want string) matcher { return func(value string) bool { return value != want } }

// beginsWith and endsWith trim the value, and not the operand.

func beginsWith(want string) matcher {
	return func(value string) bool { return strings.HasPrefix(strings.TrimSpace(value), want) }
}

func endsWith(want string) matcher {
	return func(value string) bool { return strings.HasSuffix(strings.TrimSpace(value), want) }
}

func contains(want string) matcher {
	return func(value string) bool { return strings.Contains(value, want) }
}

func lacks(want string) matcher {
	return func(value string) bool { return !strings.Contains(value, want) }
}

// isTrue and isFalse accept the spellings of strconv.ParseBool, which would allocate an
// error for every other value.

func isTrue(value string) bool {
	switch value {
	case "1", "t", "T", "TRUE", "true", "True":
		return true
	}
	return false
}

func isFalse(value string) bool {
	switch value {
	case "0", "f", "F", "FALSE", "false", "False":
		return true
	}
	return false
}

// order is how a value compares with an operand, as one bit, or a set of such.
type order uint8

const (
	less order = 1 << iota
	equal
	greater
	unordered // one of them is not a number
)
