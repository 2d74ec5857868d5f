package document

import (
	"fmt"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
)

// unknownMember handles a member that an object with the known ones does not have.
func (d *decoder) unknownMember(m member, known []field) {
	if d.unknown == IgnoreUnknown && d.linter == nil {
		return
	}
	names := lists.Map(known, func(f field) string { return f.name })
	slices.Sort(names)
	hint := lists.DidYouMean(strings.ToLower(m.name), names)
	if d.unknown == IgnoreUnknown {
		d.forgive(m.spot(), fmt.Sprintf("unknown member %s is ignored%s", guidon.Quote(m.name), hint))
		return
	}
	d.failAt(m.spot(), fmt.Sprintf("unknown member %s%s", guidon.Quote(m.name), hint))
}

// unknownValue handles a name that is none of those of an enum. A constraint needs a type, while
// every other enum has a default: the first one.
func (d *decoder) unknownValue(n *node, name string, names []string, required bool) {
	hint := "; it must be " + lists.Join(names, "or")
	if similar := similarName(name, names); similar != "" {
		hint = fmt.Sprintf("; did you mean %s?", similar)
	}
	if d.unknown == IgnoreUnknown && !required {
		d.forgive(n.spot(), fmt.Sprintf("unknown value %s is read as %s%s", guidon.Quote(name), names[0], hint))
		return
	}
	d.fail(n, "unknown value %s%s", guidon.Quote(name), hint)
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
	return lists.Closest(text, names)
}
