package guidon

import (
	"fmt"
	"slices"
	"strings"
)

// ComparisonType is the type of the values that a constraint compares. The numbers are
// those of the wire.
type ComparisonType uint16

// Comparison types (contract 4.3). Clients that evaluate by themselves do not know those from
// 1000.
const (
	UnknownComparison  ComparisonType = 0
	StringComparison   ComparisonType = 1
	NumberComparison   ComparisonType = 2
	BooleanComparison  ComparisonType = 3
	DateTimeComparison ComparisonType = 4
	EntityIDComparison ComparisonType = 5
	VersionComparison  ComparisonType = 1000
	PatternComparison  ComparisonType = 1001
	ListComparison     ComparisonType = 1002
	AddressComparison  ComparisonType = 1003
)

// markedComparison is the bit of a type whose name has the mark of [Segment.Stored]. No
// constraint of a snapshot has it.
const markedComparison ComparisonType = 1 << 15

// storedMark ends the name of a type that has the bit. Releases that do not know what else
// the object has do not know that name either.
const storedMark = "+1"

var comparisons = []struct {
	kind       ComparisonType
	wire, name string
}{
	{UnknownComparison, "UNKNOWN_COMPARISON_TYPE", "unknown"},
	{StringComparison, "STRING_COMPARISON_TYPE", "string"},
	{NumberComparison, "NUMBER_COMPARISON_TYPE", "number"},
	{BooleanComparison, "BOOLEAN_COMPARISON_TYPE", "boolean"},
	{DateTimeComparison, "DATETIME_COMPARISON_TYPE", "datetime"},
	{EntityIDComparison, "ENTITY_ID_COMPARISON_TYPE", "entityId"},
	{VersionComparison, "VERSION_COMPARISON_TYPE", "version"},
	{PatternComparison, "PATTERN_COMPARISON_TYPE", "pattern"},
	{ListComparison, "LIST_COMPARISON_TYPE", "list"},
	{AddressComparison, "ADDRESS_COMPARISON_TYPE", "address"},
}

// ComparisonTypes returns the types that constraints may have, in the order in which texts
// list them.
func ComparisonTypes() []ComparisonType {
	var types []ComparisonType
	for _, c := range comparisons[1:] {
		types = append(types, c.kind)
	}
	return types
}

// Known reports whether constraints may have the type.
func (t ComparisonType) Known() bool { return t.index() > 0 }

// Addition reports whether Flipt, its clients that evaluate by themselves, and releases
// without additions do not know the type.
func (t ComparisonType) Addition() bool { return t >= VersionComparison }

// Name returns the name of the type in errors and commands, such as "datetime", or "unknown".
func (t ComparisonType) Name() string { return comparisons[max(t.index(), 0)].name }

// String returns the wire name, or the number if it has none.
func (t ComparisonType) String() string {
	if name, err := t.MarshalText(); err == nil {
		return string(name)
	}
	return fmt.Sprintf("%d", uint16(t))
}

// index returns the index in comparisons, or -1.
func (t ComparisonType) index() int {
	for i := range comparisons {
		if comparisons[i].kind == t {
			return i
		}
	}
	return -1
}

// MarshalText returns the wire name, or an error if it has none.
func (t ComparisonType) MarshalText() ([]byte, error) {
	i, mark := (t &^ markedComparison).index(), ""
	if i < 0 {
		return nil, fmt.Errorf("enum value %d has no name", uint16(t))
	}
	if t&markedComparison != 0 {
		mark = storedMark
	}
	return []byte(comparisons[i].wire + mark), nil
}

// UnmarshalText sets t by its wire name. Anything else is an error.
func (t *ComparisonType) UnmarshalText(text []byte) error {
	name, marked := strings.CutSuffix(string(text), storedMark)
	for i := range comparisons {
		if comparisons[i].wire == name {
			*t = comparisons[i].kind
			if marked {
				*t |= markedComparison
			}
			return nil
		}
	}
	return fmt.Errorf("unknown enum name %q", text)
}

// Operators returns the operators that constraints of the type may have, in the order of the
// other [Operators]. An unknown type has none.
func (t ComparisonType) Operators() (list []*Operator) {
	for i := range operators {
		if slices.Contains(operators[i].Types, t) {
			list = append(list, &operators[i])
		}
	}
	return list
}
