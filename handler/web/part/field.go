package part

import "github.com/a-h/templ"

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
