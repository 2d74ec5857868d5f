package guidon

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// maxConstraintValues limits the list of isoneof and isnotoneof (contract 4.3).
const maxConstraintValues = 100

// comparisonRules holds the name of each comparison type in error messages and the
// operators that it accepts (contract 4.3).
var comparisonRules = map[ComparisonType]struct {
	name      string
	operators []string
}{
	StringComparison:   {"string", []string{OpEQ, OpNEQ, OpEmpty, OpNotEmpty, OpPrefix, OpSuffix, OpContains, OpNotContains, OpIsOneOf, OpIsNotOneOf}},
	NumberComparison:   {"number", []string{OpEQ, OpNEQ, OpLT, OpLTE, OpGT, OpGTE, OpIsOneOf, OpIsNotOneOf, OpPresent, OpNotPresent}},
	BooleanComparison:  {"boolean", []string{OpPresent, OpNotPresent, OpTrue, OpFalse}},
	DateTimeComparison: {"datetime", []string{OpEQ, OpNEQ, OpLT, OpLTE, OpGT, OpGTE, OpIsOneOf, OpIsNotOneOf, OpPresent, OpNotPresent}},
	EntityIDComparison: {"entityId", []string{OpEQ, OpNEQ, OpContains, OpNotContains, OpIsOneOf, OpIsNotOneOf}},
}

// valueless are the operators that take no value.
var valueless = []string{OpEmpty, OpNotEmpty, OpPresent, OpNotPresent, OpTrue, OpFalse}

// check validates the input and returns the constraint in its stored form, without
// id and times.
func (in ConstraintInput) check() (Constraint, error) {
	if err := requireAll(field{"segmentKey", in.SegmentKey}, field{"property", in.Property}, field{"operator", in.Operator}); err != nil {
		return Constraint{}, err
	}
	rules, known := comparisonRules[in.Type]
	if !known {
		return Constraint{}, Errorf(InvalidArgument, "invalid constraint type: %q", in.Type)
	}
	if in.Type == EntityIDComparison && in.Property != "entityId" {
		return Constraint{}, Errorf(InvalidArgument, "property is %s instead of %q", in.Property, "entityId")
	}
	operator := strings.ToLower(in.Operator)
	if !slices.Contains(rules.operators, operator) {
		return Constraint{}, Errorf(InvalidArgument, "constraint operator %q is not valid for type %s", in.Operator, rules.name)
	}
	value, err := in.checkValue(operator)
	if err != nil {
		return Constraint{}, err
	}
	return Constraint{
		Type: in.Type, Property: in.Property, Operator: operator,
		Value: value, Description: in.Description,
	}, nil
}

// checkValue validates the value for the operator and returns its stored form.
func (in ConstraintInput) checkValue(operator string) (string, error) {
	value := in.Value
	if in.Type == DateTimeComparison && value != "" {
		normalized, err := normalizeDateTime(value)
		if err != nil {
			return "", err
		}
		value = normalized
	}
	switch {
	case slices.Contains(valueless, operator):
		return "", nil
	case value == "":
		return "", emptyField("value")
	case in.Type == DateTimeComparison:
		// Quirk (contract 4.3): isoneof and isnotoneof take a single instant as well,
		// and never match.
		return value, nil
	case operator == OpIsOneOf || operator == OpIsNotOneOf:
		return value, in.checkList()
	}
	return value, nil
}

// normalizeDateTime returns an instant in UTC with whole seconds. A date without a time
// stays as it is.
func normalizeDateTime(value string) (string, error) {
	if _, err := time.Parse(time.DateOnly, value); err == nil {
		return value, nil
	}
	t, err := time.Parse(time.RFC3339, value)
	t = t.UTC()
	// In UTC the year may no longer fit into four digits.
	if err != nil || t.Year() < 0 || t.Year() > 9999 {
		return "", Errorf(InvalidArgument, "parsing datetime from %q", value)
	}
	return t.Format(time.RFC3339), nil
}

// checkList checks the JSON array of isoneof and isnotoneof.
func (in ConstraintInput) checkList() error {
	name := comparisonRules[in.Type].name
	count, err := countList(in.Type, in.Value)
	if err != nil {
		return Errorf(InvalidArgument, "invalid value provided for property %q of type %s", in.Property, name)
	}
	if count > maxConstraintValues {
		return Errorf(InvalidArgument, "too many values provided for property %q of type %s (maximum %d)", in.Property, name, maxConstraintValues)
	}
	return nil
}

// countList returns the number of items of a JSON array of numbers or strings.
func countList(t ComparisonType, value string) (int, error) {
	var err error
	if t == NumberComparison {
		var numbers []float64
		err = json.Unmarshal([]byte(value), &numbers)
		return len(numbers), err
	}
	var texts []string
	err = json.Unmarshal([]byte(value), &texts)
	if err != nil {
		return 0, fmt.Errorf("list of %s: %w", t, err)
	}
	return len(texts), nil
}
