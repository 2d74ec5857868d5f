package openapi

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// object is a mapping whose members keep their order.
type object []member

type member struct {
	name  string
	value any // object, []any, string, bool, int, json.Number or nil
}

// with returns the object with another member.
func (o object) with(name string, value any) object {
	return append(o, member{name, value})
}

func (o object) encode() []byte {
	var w strings.Builder
	writeObject(&w, o, "")
	return []byte(w.String())
}

func writeObject(w *strings.Builder, o object, indent string) {
	for i, m := range o {
		if i > 0 {
			w.WriteString(indent)
		}
		w.WriteString(text(m.name) + ":")
		writeMember(w, m.value, indent+"  ")
	}
}

// writeMember writes the value after a colon, and the end of the line.
func writeMember(w *strings.Builder, value any, indent string) {
	switch v := value.(type) {
	case object:
		if len(v) > 0 {
			w.WriteString("\n" + indent)
			writeObject(w, v, indent)
			return
		}
	case []any:
		if len(v) > 0 {
			w.WriteString("\n")
			writeList(w, v, indent)
			return
		}
	}
	w.WriteString(" " + scalar(value) + "\n")
}

func writeList(w *strings.Builder, list []any, indent string) {
	for _, item := range list {
		w.WriteString(indent + "- ")
		if o, ok := item.(object); ok && len(o) > 0 {
			writeObject(w, o, indent+"  ")
		} else if inner, ok := item.([]any); ok && len(inner) > 0 {
			w.WriteString("\n")
			writeList(w, inner, indent+"  ")
		} else {
			w.WriteString(scalar(item) + "\n")
		}
	}
}

func scalar(value any) string {
	switch v := value.(type) {
	case object:
		return "{}"
	case []any:
		if len(v) == 0 {
			return "[]"
		}
	case string:
		return text(v)
	case bool, int:
		return fmt.Sprint(v)
	case json.Number:
		return v.String()
	case nil:
		return "null"
	}
	panic(fmt.Sprintf("openapi: cannot write a %T here", value))
}

// plain matches strings that need no quotes in YAML. It is stricter than necessary.
var plain = regexp.MustCompile(`^[A-Za-z/$][A-Za-z0-9_./$(){},;' -]*[A-Za-z0-9_./)}]$`)

// reserved matches strings that some YAML parsers do not read as strings.
var reserved = regexp.MustCompile(`(?i)^(true|false|null|yes|no|on|off|y|n)$`)

// text returns a string unquoted or, if YAML might misread it, as JSON, which YAML
// accepts too.
func text(s string) string {
	if plain.MatchString(s) && !reserved.MatchString(s) {
		return s
	}
	quoted, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string can always be encoded
	}
	return string(quoted)
}
