package object

import (
	"maps"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/suggest"
)

// comparisons are the types of constraints, by the word for each.
var comparisons = map[string]flipt.ComparisonType{
	"string":   flipt.ComparisonType_STRING_COMPARISON_TYPE,
	"number":   flipt.ComparisonType_NUMBER_COMPARISON_TYPE,
	"boolean":  flipt.ComparisonType_BOOLEAN_COMPARISON_TYPE,
	"datetime": flipt.ComparisonType_DATETIME_COMPARISON_TYPE,
	"entity":   flipt.ComparisonType_ENTITY_ID_COMPARISON_TYPE,
}

// comparisonWord returns the word for the type of a constraint.
func comparisonWord(comparison flipt.ComparisonType) string {
	for word, c := range comparisons {
		if c == comparison {
			return word
		}
	}
	return "unknown"
}

// parseConstraint returns the constraint that the text has. The service checks its operator
// and its value.
func parseConstraint(text string) (*guidonv1.DocumentConstraint, error) {
	constraint := &guidonv1.DocumentConstraint{Type: flipt.ComparisonType_STRING_COMPARISON_TYPE}
	rest := strings.TrimSpace(text)
	word, after, typed := strings.Cut(rest, ":")
	if typed = typed && comparisons[word] != flipt.ComparisonType_UNKNOWN_COMPARISON_TYPE; typed {
		constraint.Type, rest = comparisons[word], after
	}
	property, rest, _ := strings.Cut(rest, " ")
	operator, value, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if property == "" || operator == "" {
		return nil, cli.UsageError(
			"invalid --constraint %s: must be a property, an operator and a value, such as 'country eq PT'",
			guidon.Quote(text))
	}
	if meant := meantBy(property); !typed && meant != "" {
		return nil, cli.UsageError("invalid --constraint %s: did you mean %s? For a property of that name, write string:%s",
			guidon.Quote(text), meant, guidon.Shorten(property, maxMeant))
	}
	constraint.Property, constraint.Operator, constraint.Value = property, operator, strings.TrimSpace(value)
	return constraint, nil
}

// meantBy returns the probable meaning of a property without a type that is not meant as a
// string: the entity id, or a type that is misspelled. It returns "" for any other.
func meantBy(property string) string {
	if guidon.MeansEntity(property) {
		return "entity:" + guidon.EntityProperty
	}
	word, rest, _ := strings.Cut(property, ":")
	if word == property || rest == "" {
		return ""
	}
	similar := suggest.Closest(strings.ToLower(word), slices.Sorted(maps.Keys(comparisons)))
	if similar == "" {
		return ""
	}
	return guidon.Shorten(similar+":"+rest, maxMeant)
}

// maxMeant is how much of a suggested constraint an error has, in bytes.
const maxMeant = 100

// constraintLine returns a constraint as --constraint takes it.
func constraintLine(c *guidonv1.DocumentConstraint) string {
	line := ""
	if c.GetType() != flipt.ComparisonType_STRING_COMPARISON_TYPE {
		line = comparisonWord(c.GetType()) + ":"
	}
	line += strings.TrimSpace(strings.Join([]string{c.GetProperty(), c.GetOperator(), c.GetValue()}, " "))
	if c.GetDescription() != "" {
		line += " (" + c.GetDescription() + ")"
	}
	return cli.Printable(line)
}
