package part

import (
	"cmp"
	"slices"
	"strings"
)

// Problem is a problem of a field of a form.
type Problem struct {
	Field   string // the id of the element
	Message string // what is wrong, and what to do
	Brief   string // the same in a few words, for the summary; "" means Message
}

// Problems are the problems of a form, in the order of its fields.
type Problems []Problem

// Add adds a problem of a field, unless the message is "".
func (p *Problems) Add(field, message string) {
	if message != "" {
		*p = append(*p, Problem{Field: field, Message: message})
	}
}

// Of returns the message about the field, or "".
func (p Problems) Of(field string) string {
	for _, problem := range p {
		if problem.Field == field {
			return problem.Message
		}
	}
	return ""
}

// Within reports whether a field with a name that begins with the prefix has a problem.
func (p Problems) Within(prefix string) bool {
	return slices.ContainsFunc(p, func(problem Problem) bool { return strings.HasPrefix(problem.Field, prefix) })
}

// summary returns the problem for the summary.
func (p Problem) summary() string {
	return cmp.Or(p.Brief, p.Message)
}
