package part

import (
	"slices"

	"github.com/a-h/templ"
)

// Described returns the attributes of the input element of a [Field] that name its hint and
// its problem.
func Described(id, hint string, problems Problems) templ.Attributes {
	attributes := templ.Attributes{}
	by := ""
	if hint != "" {
		by = id + "-hint"
	}
	if problems.Of(id) != "" {
		if by != "" {
			by += " "
		}
		by += id + "-error"
		attributes["aria-invalid"] = "true"
	}
	if by != "" {
		attributes["aria-describedby"] = by
	}
	return attributes
}

// Option is a value that can be chosen.
type Option struct{ Value, Text string }

// TextOf returns the text of the option with the value, or "".
func TextOf(options []Option, value string) string {
	for _, o := range options {
		if o.Value == value {
			return o.Text
		}
	}
	return ""
}

// Options returns options, whose values and texts are given in turn.
func Options(texts ...string) (all []Option) {
	for pair := range slices.Chunk(texts, 2) {
		all = append(all, Option{pair[0], pair[1]})
	}
	return all
}
