package service

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
)

// maxConstraintValues limits the list of an operator that takes one (contract 4.3).
const maxConstraintValues = 100

// comparisonNames are the names of comparison types in error messages (contract 4.3).
var comparisonNames = map[guidon.ComparisonType]string{
	guidon.StringComparison:   "string",
	guidon.NumberComparison:   "number",
	guidon.BooleanComparison:  "boolean",
	guidon.DateTimeComparison: "datetime",
	guidon.EntityIDComparison: "entityId",
}

// check validates the input and returns the constraint in its stored form, without
// id and times.
func (in ConstraintInput) check() (guidon.Constraint, error) {
	if err := requireAll(field{"segmentKey", in.SegmentKey}, field{"property", in.Property}, field{"operator", in.Operator}); err != nil {
		return guidon.Constraint{}, err
	}
	operators := in.Type.Operators()
	if len(operators) == 0 {
		return guidon.Constraint{}, guidon.Errorf(guidon.InvalidArgument, "invalid constraint type: %q", in.Type)
	}
	if in.Type == guidon.EntityIDComparison && in.Property != guidon.EntityProperty {
		return guidon.Constraint{}, guidon.Errorf(guidon.InvalidArgument, "property is %s instead of %q", in.Property, guidon.EntityProperty)
	}
	operator := guidon.OperatorNamed(strings.ToLower(in.Operator))
	if !slices.Contains(operators, operator) {
		names := make([]string, len(operators))
		for i, o := range operators {
			names[i] = o.Name
		}
		return guidon.Constraint{}, guidon.Errorf(guidon.InvalidArgument, "constraint operator %q is not valid for type %s; it must be one of %s",
			in.Operator, comparisonNames[in.Type], strings.Join(names, ", "))
	}
	value, err := in.checkValue(operator)
	if err != nil {
		return guidon.Constraint{}, err
	}
	return guidon.Constraint{
		Type: in.Type, Property: in.Property, Operator: operator.Name,
		Value: value, Description: in.Description,
	}, nil
}

// checkValue validates the value for the operator and returns its stored form.
func (in ConstraintInput) checkValue(operator *guidon.Operator) (string, error) {
	value := in.Value
	if in.Type == guidon.DateTimeComparison && value != "" {
		normalized, err := normalizeDateTime(value)
		if err != nil {
			return "", err
		}
		value = normalized
	}
	switch {
	case operator.Takes == guidon.NoOperand:
		return "", nil
	case value == "":
		return "", emptyField("value")
	case in.Type == guidon.DateTimeComparison:
		// Quirk (contract 4.3): isoneof and isnotoneof take a single instant as well,
		// and never match.
		return value, nil
	case operator.Takes == guidon.ListOfItems:
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

// checkList checks the JSON array of an operator that takes a list.
func (in ConstraintInput) checkList() error {
	name := comparisonNames[in.Type]
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
