package part

// Problem is a problem of a field of a form.
type Problem struct {
	Field   string // the id of the element
	Message string // what is wrong, and what to do
	Brief   string // the same in a few words, for the summary; "" means Message
}

// Problems are the problems of a form, in the order of its fields.
type Problems []Problem

// Add adds a problem of a field.
func (p *Problems) Add(field, message string) {
	*p = append(*p, Problem{Field: field, Message: message})
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

// summary returns the problem for the summary.
func (p Problem) summary() string {
	if p.Brief != "" {
		return p.Brief
	}
	return p.Message
}
