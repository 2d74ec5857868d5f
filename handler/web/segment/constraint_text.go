package segment

import (
	"slices"
	"time"
	"unicode/utf8"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/wire/flipt"
)

// Limits of a constraint on the page: values, and bytes of each text.
const (
	maxShown = 20
	maxSaid  = 2 << 10
)

// short returns the text as pages show it: its beginning, if it is long.
func short(text string) string {
	if len(text) <= maxSaid {
		return text
	}
	cut := maxSaid
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

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
		items, ok := itemsOf(c.Value, c.Type == typeNumber)
		if !ok {
			return []string{short(c.Value)}
		}
		shown := make([]string, len(items))
		for i, item := range items {
			shown[i] = short(item)
		}
		return shown
	case entryDate:
		if text := shownDate(c.Value, zone); text != "" && text != c.Value {
			return []string{c.Value, text}
		}
	}
	return []string{short(c.Value)}
}

// shown returns the values that are shown immediately, and more the others.
func (c *constraint) shown(zone *time.Location) []string {
	values := c.values(zone)
	return values[:min(len(values), maxShown)]
}

func (c *constraint) more(zone *time.Location) []string {
	return c.values(zone)[len(c.shown(zone)):]
}

// cutShort reports whether a value is not shown as a whole.
func (c *constraint) cutShort() bool {
	return entryOf(c.Type, c.Operator) != entryList && len(c.Value) > maxSaid
}

// types returns the types that the constraint can have: its own is among them.
func (c *constraint) types() []flipt.ComparisonType {
	if slices.Contains(everyType, c.Type) {
		return everyType
	}
	return append([]flipt.ComparisonType{c.Type}, everyType...)
}

// operators returns the operators that the constraint can have: its own is among them.
func (c *constraint) operators() []string {
	of := operators[c.Type]
	if slices.Contains(of, c.Operator) {
		return of
	}
	return append([]string{c.Operator}, of...)
}

// zones returns the time zones in which a date can be entered.
func zones(visitor *time.Location) []string {
	if visitor.String() == utc {
		return []string{utc}
	}
	return []string{visitor.String(), utc}
}

// warning returns a warning about a comparison that is probably a mistake, or that differs from
// those of other segments, or "".
func (e *editor) warning(c *constraint) string {
	if c.Type != typeEntity && guidon.MeansEntity(c.Property) {
		return "This compares a property of the context, not the id of the entity. For that, choose the type " + typeName(typeEntity) + "."
	}
	return e.known.conflict(c, e.Saved)
}
