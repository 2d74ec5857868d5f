package segment

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/internal/lists"
)

// Limits of a constraint on the page: values at first, of a long list and of others, values in
// all, and bytes of each text.
const (
	fewShown    = 5
	maxShown    = 20
	maxUnfolded = 100
	maxSaid     = 2 << 10
)

// short returns the text as pages show it: its beginning, if it is long.
func short(text string) string { return guidon.Shorten(text, maxSaid) }

// notMeans says what a negated constraint is.
const notMeans = "holds if the comparison does not, also for a missing value"

// subject returns the value that the constraint compares, for people.
func (c *constraint) subject() string {
	switch {
	case c.Type == typeEntity:
		return "entity id"
	case c.Property == "":
		return "…"
	}
	return short(c.Property)
}

// values returns the values of the constraint, for people.
func (c *constraint) values(zone *time.Location) []string {
	switch entryOf(c.Type, c.Operator) {
	case entryNone:
		return nil
	case entryList:
		items, ok := itemsOf(c.Value, c.Type)
		if !ok {
			return []string{short(c.Value)}
		}
		for i, item := range items[:min(len(items), maxUnfolded)] {
			items[i] = short(item)
		}
		return items
	case entryDate:
		if text := shownDate(c.Value, zone); text != "" && text != c.Value {
			return []string{c.Value, text}
		}
	}
	return []string{short(c.Value)}
}

// fold returns the values that are shown immediately, those that are shown on request, and how
// many more there are.
func (c *constraint) fold(zone *time.Location) (shown, more []string, rest int) {
	values := c.values(zone)
	first := maxShown
	if len(values) > maxUnfolded {
		first = fewShown
	}
	first, last := min(len(values), first), min(len(values), maxUnfolded)
	return values[:first], values[first:last], len(values) - last
}

// rows returns the height of the field of a list, in lines.
func (c *constraint) rows() int { return min(max(strings.Count(c.Text, "\n")+2, 4), 12) }

// cutShort reports whether a value is not shown as a whole.
func (c *constraint) cutShort() bool {
	return entryOf(c.Type, c.Operator) != entryList && len(c.Value) > maxSaid
}

// types returns the types that the constraint can have.
func (c *constraint) types() []part.Option {
	return lists.Map(withOwn(everyType, c.Type), func(t flipt.ComparisonType) part.Option {
		return part.Option{Value: strconv.Itoa(int(t)), Text: typeName(t)}
	})
}

// operators returns the operators that the constraint can have.
func (c *constraint) operators() []part.Option {
	return lists.Map(withOwn(operators[c.Type], c.Operator), func(o string) part.Option {
		return part.Option{Value: o, Text: operatorName(c.Type, o)}
	})
}

// withOwn returns the values that can be chosen, among which is the own one.
func withOwn[T comparable](all []T, own T) []T {
	if slices.Contains(all, own) {
		return all
	}
	return append([]T{own}, all...)
}

// zones returns the time zones in which a date can be entered.
func zones(visitor *time.Location) []part.Option {
	if visitor.String() == utc {
		return part.Options(utc, utc)
	}
	return part.Options(visitor.String(), visitor.String(), utc, utc)
}

// valueHint returns the hint of the value of a constraint of the type, or "".
func valueHint(t flipt.ComparisonType) string {
	switch t {
	case typeVersion:
		return "Such as 2.4.1, 2.4 or 2.4.1-beta, by the order of Semantic Versioning."
	case typePattern:
		return "A regular expression (RE2). It matches anywhere in the text, unless it begins with ^ and ends with $. (?i) ignores case."
	case typeList:
		return "The property is a list, or one value."
	case typeAddress:
		return "IP addresses and blocks, such as 192.0.2.7, 192.0.2.0/24 or 2001:db8::/32."
	}
	return ""
}
