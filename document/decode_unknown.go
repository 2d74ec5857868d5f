package document

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/suggest"
)

// unknownMember handles a member that an object with the known ones does not have.
func (d *decoder) unknownMember(m member, known fields) {
	if d.unknown == IgnoreUnknown && d.observer == nil {
		return
	}
	hint := suggest.DidYouMean(strings.ToLower(m.name), slices.Sorted(maps.Keys(known)))
	if d.unknown == IgnoreUnknown {
		d.forgive(m.spot(), fmt.Sprintf("unknown member %s is ignored%s", guidon.Quote(m.name), hint))
		return
	}
	d.failAt(m.spot(), fmt.Sprintf("unknown member %s%s", guidon.Quote(m.name), hint))
}

// unknownValue handles a name that no value of the enum has. A constraint needs a type, while
// every other enum has a default.
func (d *decoder) unknownValue(n *node, name string, enum textValue) {
	names, required := namesOf(enum)
	hint := "; it must be " + joinOr(names)
	if similar := similarName(name, names); similar != "" {
		hint = fmt.Sprintf("; did you mean %s?", similar)
	}
	if d.unknown == IgnoreUnknown && !required {
		d.forgive(n.spot(), fmt.Sprintf("unknown value %s is read as %s%s", guidon.Quote(name), names[0], hint))
		return
	}
	d.fail(n, "unknown value %s%s", guidon.Quote(name), hint)
}

// namesOf returns the names of the values of an enum, and whether a document must state one.
func namesOf(value textValue) (names []string, required bool) {
	switch value.(type) {
	case *guidon.FlagType:
		return enumNames[guidon.FlagType](), false
	case *guidon.MatchType:
		return enumNames[guidon.MatchType](), false
	case *guidon.SegmentOperator:
		return enumNames[guidon.SegmentOperator](), false
	}
	for _, t := range guidon.ComparisonTypes() {
		names = append(names, t.String())
	}
	return names, true
}

func enumNames[E interface {
	~uint8
	MarshalText() ([]byte, error)
}]() (names []string) {
	for value := E(0); ; value++ {
		name, err := value.MarshalText()
		if err != nil {
			return names
		}
		names = append(names, string(name))
	}
}

// similarName returns the name that begins with the text, in upper case, or is similar to it,
// or "".
func similarName(text string, names []string) string {
	text = strings.ToUpper(text)
	for _, name := range names {
		if strings.HasPrefix(name, text+"_") {
			return name
		}
	}
	return suggest.Closest(text, names)
}

func joinOr(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
