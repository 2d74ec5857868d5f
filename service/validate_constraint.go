package service

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
)

// maxConstraintValues limits the list of isoneof and isnotoneof (contract 4.3).
const maxConstraintValues = 100

// comparisonRules holds the name of each comparison type in error messages and the
// operators that it accepts (contract 4.3).
var comparisonRules = map[guidon.ComparisonType]struct {
	name      string
	operators []string
}{
	guidon.StringComparison:   {"string", []string{guidon.OpEQ, guidon.OpNEQ, guidon.OpEmpty, guidon.OpNotEmpty, guidon.OpPrefix, guidon.OpSuffix, guidon.OpContains, guidon.OpNotContains, guidon.OpIsOneOf, guidon.OpIsNotOneOf}},
	guidon.NumberComparison:   {"number", []string{guidon.OpEQ, guidon.OpNEQ, guidon.OpLT, guidon.OpLTE, guidon.OpGT, guidon.OpGTE, guidon.OpIsOneOf, guidon.OpIsNotOneOf, guidon.OpPresent, guidon.OpNotPresent}},
	guidon.BooleanComparison:  {"boolean", []string{guidon.OpPresent, guidon.OpNotPresent, guidon.OpTrue, guidon.OpFalse}},
	guidon.DateTimeComparison: {"datetime", []string{guidon.OpEQ, guidon.OpNEQ, guidon.OpLT, guidon.OpLTE, guidon.OpGT, guidon.OpGTE, guidon.OpIsOneOf, guidon.OpIsNotOneOf, guidon.OpPresent, guidon.OpNotPresent}},
	guidon.EntityIDComparison: {"entityId",
		[]string{guidon.OpEQ, guidon.OpNEQ, guidon.OpContains, guidon.OpNotContains, guidon.OpIsOneOf, guidon.OpIsNotOneOf}},
}

// KnownOperator reports whether any comparison type has the operator, in its stored form.
func KnownOperator(operator string) bool {
	for _, rules := range comparisonRules {
		if slices.Contains(rules.operators, operator) {
			return true
		}
	}
	return false
}

// valueless are the operators that take no value.
var valueless = []string{guidon.OpEmpty, guidon.OpNotEmpty, guidon.OpPresent, guidon.OpNotPresent, guidon.OpTrue, guidon.OpFalse}

// check validates the input and returns the constraint in its stored form, without
// id and times.
func (in ConstraintInput) check() (guidon.Constraint, error) {
	if err := requireAll(field{"segmentKey", in.SegmentKey}, field{"property", in.Property}, field{"operator", in.Operator}); err != nil {
		return guidon.Constraint{}, err
	}
	rules, known := comparisonRules[in.Type]
	if !known {
		return guidon.Constraint{}, guidon.Errorf(guidon.InvalidArgument, "invalid constraint type: %q", in.Type)
	}
	if in.Type == guidon.EntityIDComparison && in.Property != guidon.EntityProperty {
		return guidon.Constraint{}, guidon.Errorf(guidon.InvalidArgument, "property is %s instead of %q", in.Property, guidon.EntityProperty)
	}
	operator := strings.ToLower(in.Operator)
	if !slices.Contains(rules.operators, operator) {
		return guidon.Constraint{}, guidon.Errorf(guidon.InvalidArgument, "constraint operator %q is not valid for type %s; it must be one of %s",
			in.Operator, rules.name, strings.Join(rules.operators, ", "))
	}
	value, err := in.checkValue(operator)
	if err != nil {
		return guidon.Constraint{}, err
	}
	return guidon.Constraint{
		Type: in.Type, Property: in.Property, Operator: operator,
		Value: value, Description: in.Description,
	}, nil
}

// checkValue validates the value for the operator and returns its stored form.
func (in ConstraintInput) checkValue(operator string) (string, error) {
	value := in.Value
	if in.Type == guidon.DateTimeComparison && value != "" {
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
	case in.Type == guidon.DateTimeComparison:
		// Quirk (contract 4.3): isoneof and isnotoneof take a single instant as well,
		// and never match.
		return value, nil
	case operator == guidon.OpIsOneOf || operator == guidon.OpIsNotOneOf:
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
		return "", guidon.Errorf(guidon.InvalidArgument, "parsing datetime from %q; it must be like 2026-01-31T15:04:05Z or 2026-01-31", value)
	}
	return t.Format(time.RFC3339), nil
}

// checkList checks the JSON array of isoneof and isnotoneof.
func (in ConstraintInput) checkList() error {
	name := comparisonRules[in.Type].name
	count, err := countList(in.Type, in.Value)
	if err != nil {
		form := `["a","b"]`
		if in.Type == guidon.NumberComparison {
			form = "[1,2]"
		}
		return guidon.Errorf(guidon.InvalidArgument, "invalid value provided for property %q of type %s; it must be a JSON list like %s",
			in.Property, name, form)
	}
	if count > maxConstraintValues {
		return guidon.Errorf(guidon.InvalidArgument, "too many values provided for property %q of type %s (maximum %d)",
			in.Property, name, maxConstraintValues)
	}
	return nil
}

// countList returns the number of items of a JSON array of numbers or strings.
func countList(t guidon.ComparisonType, value string) (int, error) {
	var err error
	if t == guidon.NumberComparison {
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
