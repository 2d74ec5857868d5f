package segment

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// constant returns why a constraint always gives the same result, or fails, or "".
func (c *constraint) constant() string {
	if !slices.Contains(everyType, c.Type) {
		return "Constraints of this type are not known: every evaluation that gets here fails."
	}
	switch why := c.neverHolds(); {
	case why == "":
		return ""
	case c.Negate:
		return "This always matches: " + why
	default:
		return "This never matches: " + why
	}
}

// neverHolds returns why the comparison never holds, or "".
func (c *constraint) neverHolds() string {
	switch {
	case c.Type == typeDate && takesList(c.Operator):
		return "dates cannot be compared with a list."
	case entryOf(c.Type, c.Operator) == entryList:
		items, ok := itemsOf(c.Value, c.Type)
		if !ok || len(items) == 0 && (c.Operator == guidon.OpIsOneOf || c.Operator == guidon.OpAnyOf) {
			return "the list has no values that can be compared."
		}
	case entryOf(c.Type, c.Operator) == entryNumber:
		if _, err := strconv.ParseFloat(c.Value, 64); err != nil {
			return "the value is not a number."
		}
	}
	return ""
}

// excludesMissing reports whether the constraint looks as if it held for a missing property, and
// does not.
func (c *constraint) excludesMissing() bool {
	return !c.Negate && analysis.Negates(c.Operator) && c.comparesProperty()
}

// includesMissing reports whether the constraint holds for a missing property because it is
// negated.
func (c *constraint) includesMissing() bool {
	o := guidon.OperatorNamed(c.Operator)
	return c.Negate && o != nil && !o.Missing && c.comparesProperty()
}

func (c *constraint) comparesProperty() bool {
	return c.Type != typeEntity && c.Property != "" && c.constant() == ""
}

// addsMissing reports whether another constraint could take the missing properties in.
func (g *Group) addsMissing(i int) bool {
	c := &g.Constraints[i]
	if !c.excludesMissing() {
		return false
	}
	for j := range g.Constraints {
		if o := &g.Constraints[j]; o.Type == c.Type && o.Property == c.Property && o.Operator == whenMissing(c.Type) && !o.Negate {
			return false
		}
	}
	return true
}

// Known are the properties of the constraints of a namespace.
type Known []*guidonv1.Property

// maxKnown limits the properties that are offered.
const maxKnown = 200

// ReadKnown returns the properties of the namespace.
func ReadKnown(v *page.Visit) (Known, error) {
	list, err := page.ListProperties.Run(v, &guidonv1.ListPropertiesRequest{NamespaceKey: v.Key(), Limit: maxKnown})
	return list.GetProperties(), err
}

// of returns the property with the name, or nil.
func (k Known) of(property string) *guidonv1.Property {
	for _, p := range k {
		if p.GetName() == property {
			return p
		}
	}
	return nil
}

// values returns the values that constraints on the property compare with.
func (k Known) values(c *constraint) []string { return k.of(c.Property).GetValues() }

// conflict returns that constraints of other segments compare the property as another type, or
// "".
func (k Known) conflict(c *constraint, saved []*guidonv1.DocumentConstraint) string {
	if c.Type == typeEntity || c.Property == "" {
		return ""
	}
	own := make(map[flipt.ComparisonType]int32)
	for _, s := range saved {
		if s.GetProperty() == c.Property {
			own[s.GetType()]++
		}
	}
	var others []string
	count := 0
	for _, t := range k.of(c.Property).GetTypes() {
		if n := t.GetCount() - own[t.GetType()]; t.GetType() != c.Type && n > 0 {
			others = append(others, typeName(t.GetType()))
			count += int(n)
		}
	}
	if count == 0 {
		return ""
	}
	verb := "compares"
	if count > 1 {
		verb = "compare"
	}
	return fmt.Sprintf("%s of other segments %s this property as %s.", page.Count(count, "constraint"), verb, strings.Join(others, " and "))
}
