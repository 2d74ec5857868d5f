package guidon

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// CompiledConstraint is a constraint prepared for evaluation. A missing value is the same
// as an empty one (contract 7.2). It is safe for concurrent use.
type CompiledConstraint struct {
	property string // of the context
	entity   bool   // the entity's id is compared instead of a property
	missing  bool   // the result for an empty value
	matches  matcher
}

// matcher reports whether a constraint holds for a nonempty value. A value that does
// not parse gives false for every operator.
type matcher func(value string) bool

// Holds reports whether the constraint holds for the entity.
func (c *CompiledConstraint) Holds(entityID string, context map[string]string) bool {
	value := entityID
	if !c.entity {
		value = context[c.property]
	}
	return c.Accepts(value)
}

// Accepts reports whether the constraint holds for a value of its property, or for an
// entity's id.
func (c *CompiledConstraint) Accepts(value string) bool {
	if value == "" {
		return c.missing
	}
	return c.matches(value)
}

// CompileConstraint returns the compiled form of the constraint, and whether its type is
// known. An operator that the type does not support never matches.
func CompileConstraint(c *Constraint) (compiled CompiledConstraint, known bool) {
	compiled = CompiledConstraint{property: c.Property, entity: c.Type == EntityIDComparison, matches: never}
	known = true
	switch c.Type {
	case StringComparison, EntityIDComparison:
		compiled.missing = c.Operator == OpEmpty
		compiled.matches = stringMatcher(c.Operator, c.Value)
	case NumberComparison:
		compiled.missing = c.Operator == OpNotPresent
		compiled.matches = numberMatcher(c.Operator, c.Value)
	case BooleanComparison:
		compiled.missing = c.Operator == OpNotPresent
		compiled.matches = booleanMatcher(c.Operator)
	case DateTimeComparison:
		compiled.missing = c.Operator == OpNotPresent
		compiled.matches = dateTimeMatcher(c.Operator, c.Value)
	default:
		known = false
	}
	return compiled, known
}

func never(string) bool { return false }

// blank reports whether the value consists of Unicode white space only.
func blank(value string) bool    { return strings.TrimSpace(value) == "" }
func notBlank(value string) bool { return !blank(value) }

func stringMatcher(operator, want string) matcher {
	switch operator {
	case OpEmpty:
		return blank
	case OpNotEmpty:
		return notBlank
	case OpEQ:
		return func(value string) bool { return value == want }
	case OpNEQ:
		return func(value string) bool { return value != want }
	case OpPrefix: // the value is trimmed, the constraint is not
		return func(value string) bool { return strings.HasPrefix(strings.TrimSpace(value), want) }
	case OpSuffix:
		return func(value string) bool { return strings.HasSuffix(strings.TrimSpace(value), want) }
	case OpContains:
		return func(value string) bool { return strings.Contains(value, want) }
	case OpNotContains:
		return func(value string) bool { return !strings.Contains(value, want) }
	case OpIsOneOf, OpIsNotOneOf:
		set, ok := parseSet[string](want)
		if !ok {
			return never // isnotoneof too: the list is invalid
		}
		in := operator == OpIsOneOf
		return func(value string) bool { return set[value] == in }
	}
	return never
}

// parseSet returns the items of a JSON array.
func parseSet[T comparable](list string) (set map[T]bool, ok bool) {
	var items []T
	if err := json.Unmarshal([]byte(list), &items); err != nil {
		return nil, false
	}
	set = make(map[T]bool, len(items))
	for _, item := range items {
		set[item] = true
	}
	return set, true
}

var numberOperators = map[string]func(value, want float64) bool{
	OpEQ:  func(value, want float64) bool { return value == want },
	OpNEQ: func(value, want float64) bool { return value != want }, // true for NaN
	OpLT:  func(value, want float64) bool { return value < want },
	OpLTE: func(value, want float64) bool { return value <= want },
	OpGT:  func(value, want float64) bool { return value > want },
	OpGTE: func(value, want float64) bool { return value >= want },
}

func numberMatcher(operator, value string) matcher {
	switch operator {
	case OpPresent: // the value need not be a number
		return notBlank
	case OpNotPresent:
		return blank
	case OpIsOneOf, OpIsNotOneOf:
		set, ok := parseSet[float64](value)
		if !ok {
			return never
		}
		in := operator == OpIsOneOf
		return func(value string) bool {
			number, err := strconv.ParseFloat(value, 64)
			return err == nil && set[number] == in
		}
	}
	compare := numberOperators[operator]
	want, err := strconv.ParseFloat(value, 64)
	if compare == nil || err != nil {
		return never
	}
	return func(value string) bool {
		number, err := strconv.ParseFloat(value, 64)
		return err == nil && compare(number, want)
	}
}

func booleanMatcher(operator string) matcher {
	switch operator {
	case OpPresent:
		return notBlank
	case OpNotPresent:
		return blank
	case OpTrue:
		return isTrue
	case OpFalse:
		return isFalse
	}
	return never
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

var timeOperators = map[string]func(order int) bool{
	OpEQ:  func(order int) bool { return order == 0 },
	OpNEQ: func(order int) bool { return order != 0 },
	OpLT:  func(order int) bool { return order < 0 },
	OpLTE: func(order int) bool { return order <= 0 },
	OpGT:  func(order int) bool { return order > 0 },
	OpGTE: func(order int) bool { return order >= 0 },
}

// dateTimeMatcher does not support lists: isoneof and isnotoneof are accepted when a
// constraint is written, but never match (contract 4.3, 7.2).
func dateTimeMatcher(operator, value string) matcher {
	switch operator {
	case OpPresent:
		return notBlank
	case OpNotPresent:
		return blank
	}
	fits := timeOperators[operator]
	want, err := ParseDateTime(value)
	if fits == nil || err != nil {
		return never
	}
	return func(value string) bool {
		instant, err := ParseDateTime(value)
		return err == nil && fits(instant.Compare(want))
	}
}

// ParseDateTime parses an RFC 3339 instant or a date, which means midnight UTC. The
// length distinguishes them, so that no failed attempt allocates an error.
func ParseDateTime(value string) (time.Time, error) {
	if len(value) == len(time.DateOnly) {
		return time.Parse(time.DateOnly, value)
	}
	return time.Parse(time.RFC3339, value)
}
