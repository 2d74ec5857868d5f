package object

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
)

// negation begins a constraint that is negated.
const negation = "not "

// comparisonWord returns the word for the type of a constraint.
func comparisonWord(t guidon.ComparisonType) string {
	if t == guidon.EntityIDComparison {
		return "entity"
	}
	return t.Name()
}

// comparisonWords returns the words for all types.
func comparisonWords() []string { return lists.Map(guidon.ComparisonTypes(), comparisonWord) }

// cutType returns the type with which the text begins, and what follows it. Without one it is
// a string.
func cutType(text string) (t guidon.ComparisonType, rest string, typed bool) {
	word, rest, _ := strings.Cut(text, ":")
	i := slices.Index(comparisonWords(), word)
	if i < 0 || word == text {
		return guidon.StringComparison, text, false
	}
	return guidon.ComparisonTypes()[i], rest, true
}

// parseConstraint returns the constraint that the text has. The service checks its operator
// and its value.
func parseConstraint(text string) (*guidonv1.DocumentConstraint, error) {
	rest := strings.TrimSpace(text)
	negated, negate := strings.CutPrefix(rest, negation)
	if negate = negate && len(strings.Fields(negated)) > 1; negate {
		rest = strings.TrimSpace(negated)
	}
	t, rest, typed := cutType(rest)
	property, rest, _ := strings.Cut(rest, " ")
	operator, value, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if property == "" || operator == "" {
		return nil, errors.New("must be a property, an operator and a value, such as 'country eq PT'")
	}
	if meant := meantBy(property); !typed && meant != "" {
		return nil, fmt.Errorf("did you mean %s? For a property of that name, write string:%s", meant, guidon.Shorten(property, maxMeant))
	}
	return &guidonv1.DocumentConstraint{
		Type: flipt.ComparisonType(t), Property: property, Operator: operator, Value: strings.TrimSpace(value), Negate: negate,
	}, nil
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
	similar := lists.Closest(strings.ToLower(word), comparisonWords())
	if similar == "" {
		return ""
	}
	return guidon.Shorten(similar+":"+rest, maxMeant)
}

// maxMeant is how much of a suggested constraint an error has, in bytes.
const maxMeant = 100

// maxLine is how much of the value of a constraint a line has, in bytes.
const maxLine = 2000

// constraintLine returns a constraint as --constraint takes it, unless its value is long.
func constraintLine(c *guidonv1.DocumentConstraint) string {
	line := strings.TrimSpace(strings.Join([]string{c.GetProperty(), c.GetOperator(), guidon.Shorten(c.GetValue(), maxLine)}, " "))
	t := guidon.ComparisonType(c.GetType()) // #nosec G115 -- the enums are the same
	if again, err := parseConstraint(line); t != guidon.StringComparison || err != nil || again.GetProperty() != c.GetProperty() {
		line = comparisonWord(t) + ":" + line
	}
	if c.GetNegate() {
		line = negation + line
	}
	if c.GetDescription() != "" {
		line += " (" + c.GetDescription() + ")"
	}
	return cli.Printable(line)
}

// completeConstraint offers types and properties and, after a property, operators.
func completeConstraint(properties cobra.CompletionFunc) cobra.CompletionFunc {
	return func(command *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
		rest := strings.TrimPrefix(text, negation)
		t, rest, typed := cutType(rest)
		property, operator, complete := strings.Cut(rest, " ")
		if complete {
			return completeOperator(t, strings.TrimSuffix(text, operator), operator), cobra.ShellCompDirectiveNoFileComp
		}
		offers, directive := properties(command, args, property)
		if !typed {
			for _, word := range comparisonWords() {
				if strings.HasPrefix(word, property) {
					offers = append(offers, word+":")
				}
			}
		}
		for i := range offers {
			offers[i] = strings.TrimSuffix(text, property) + offers[i]
		}
		return offers, directive
	}
}

// completeOperator offers the operators of the type, after the text before.
func completeOperator(t guidon.ComparisonType, before, word string) (offers []string) {
	for _, o := range t.Operators() {
		if strings.HasPrefix(o.Name, word) {
			offers = append(offers, before+o.Name)
		}
	}
	return offers
}
