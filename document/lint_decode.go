package document

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/suggest"
)

// invalid implements observer.
func (l *linter) invalid(n *node, path []string, text string) {
	l.invalidAt[[2]int{n.line, n.column}] = true
	l.add(Finding{Line: n.line, Column: n.column, Path: strings.Join(path, ": "), Message: text})
}

func (l *linter) warnAt(line, column int, path []string, message string) {
	l.add(Finding{Line: line, Column: column, Path: strings.Join(path, ": "), Message: message, Warning: true})
}

// repeated implements observer.
func (l *linter) repeated(m member, path []string) {
	l.warnAt(int(m.line), int(m.column), path, fmt.Sprintf("duplicate member %q: the last one counts", m.name))
}

// unknown implements observer.
func (l *linter) unknown(m member, path []string, known fields) {
	message := fmt.Sprintf("unknown member %q is ignored", m.name)
	if similar := suggest.Closest(strings.ToLower(m.name), slices.Sorted(maps.Keys(known))); similar != "" {
		message += fmt.Sprintf("; did you mean %s?", similar)
	}
	l.warnAt(int(m.line), int(m.column), path, message)
}

// ignored implements observer.
func (l *linter) ignored(n *node, path []string) {
	l.warnAt(n.line, n.column, path, "this entry is empty and ignored")
}

// misnamed implements observer. A constraint needs a type, while every other name has a
// default.
func (l *linter) misnamed(n *node, path []string, name string, to textValue) {
	names, required := namesOf(to)
	hint := "; it must be " + joinOr(names)
	if similar := similarName(name, names); similar != "" {
		hint = fmt.Sprintf("; did you mean %s?", similar)
	}
	if required {
		l.invalid(n, path, fmt.Sprintf("unknown value %q%s", name, hint))
		return
	}
	l.warnAt(n.line, n.column, path, fmt.Sprintf("unknown value %q is read as %s%s", name, names[0], hint))
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
	return enumNames[guidon.ComparisonType]()[1:], true // without that of an unknown type
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
