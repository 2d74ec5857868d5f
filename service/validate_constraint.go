package service

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
)

// maxConstraintValues limits the list of an operator that takes one (contract 4.3).
const maxConstraintValues = 10_000

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
		names := lists.Map(operators, func(o *guidon.Operator) string { return o.Name })
		return guidon.Constraint{}, guidon.Errorf(guidon.InvalidArgument, "constraint operator %q is not valid for type %s; it must be one of %s",
			in.Operator, in.Type.Name(), strings.Join(names, ", "))
	}
	value, err := in.checkValue(operator)
	if err != nil {
		return guidon.Constraint{}, err
	}
	return guidon.Constraint{
		Type: in.Type, Property: in.Property, Operator: operator.Name,
		Value: value, Description: in.Description, Negate: in.Negate != nil && *in.Negate,
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
	case operator.Takes == guidon.ListOfItems || in.Type.Addition():
		return value, in.checkOperand(operator)
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

// operandForms are the forms of operands in errors.
var operandForms = map[guidon.ComparisonType]string{
	guidon.NumberComparison:  "a JSON list like [1,2]",
	guidon.VersionComparison: "like 2.4.1",
	guidon.AddressComparison: `a JSON list like ["192.0.2.0/24","2001:db8::1"]`,
}

// checkOperand checks the operand of a constraint, which must be a valid one of its type.
func (in ConstraintInput) checkOperand(operator *guidon.Operator) error {
	if in.Type == guidon.PatternComparison {
		return in.checkPattern()
	}
	o := (&guidon.Constraint{Type: in.Type, Operator: operator.Name, Value: in.Value}).Operand()
	switch {
	case !o.Valid:
		return guidon.Errorf(guidon.InvalidArgument, "invalid value provided for property %q of type %s; it must be %s",
			in.Property, in.Type.Name(), cmp.Or(operandForms[in.Type], `a JSON list like ["a","b"]`))
	case o.Len() > maxConstraintValues:
		return guidon.Errorf(guidon.InvalidArgument, "too many values provided for property %q of type %s (maximum %d)",
			in.Property, in.Type.Name(), maxConstraintValues)
	}
	return nil
}

func (in ConstraintInput) checkPattern() error {
	switch _, err := guidon.CompilePattern(in.Value); {
	case errors.Is(err, guidon.ErrPatternTooComplex):
		return guidon.Errorf(guidon.InvalidArgument, "pattern of property %q is too complex", in.Property)
	case err != nil:
		return guidon.Errorf(guidon.InvalidArgument, "invalid value provided for property %q of type %s; it must be a pattern of RE2: %v",
			in.Property, in.Type.Name(), err)
	}
	return nil
}
