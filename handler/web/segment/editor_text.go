package segment

import (
	"cmp"
	"strings"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// maxRailUses is how many flags the page of the segment names.
const maxRailUses = 8

// name returns the name of the segment, or its key if it has none.
func (s *subject) name() string { return cmp.Or(short(s.Saved.GetName()), s.Key) }

// when returns of which moment an earlier state is.
func (s *subject) when() string {
	if strings.Trim(s.At, "0123456789") == "" {
		return " at revision " + s.At
	}
	return " at " + page.Printable(s.At, 64)
}

// action returns the address that the form is sent to.
func (s *subject) action() string { return s.address() + s.atQuery() }

// tabAddress returns the address of a page of the segment, of the same state.
func (s *subject) tabAddress(at string) string {
	if at == "" {
		return s.action()
	}
	return s.address(at) + s.atQuery()
}

// tabs returns the links to the tabs of the segment, of which the one with the name is current.
func (s *subject) tabs(current string) []part.Link {
	return []part.Link{
		{Text: "Constraints", Address: s.tabAddress(""), Current: current == "", Count: page.Number(len(s.Saved.GetConstraints()))},
		{Text: "Used by", Address: s.tabAddress("used-by"), Current: current == "used-by", Count: page.Number(int(s.Usage.GetTotalCount()))},
		{Text: "History", Address: s.address("history"), Current: current == "history"},
	}
}

func (s *subject) atQuery() string { return page.Query("at", s.At) }

// heading returns how the constraints combine, in words.
func (d *draft) heading() string {
	switch {
	case len(d.Constraints) == 0:
		return "Everyone is in it"
	case len(d.Constraints) == 1:
		return "In, when this matches"
	case d.Any:
		return "In, when any of these match"
	}
	return "In, when all of these match"
}

func (d *draft) matchName() string {
	if d.Any {
		return "any"
	}
	return "all"
}

// typesOf returns the types of a known property in words.
func typesOf(p *guidonv1.Property) string {
	names := make([]string, 0, len(p.GetTypes()))
	for _, t := range p.GetTypes() {
		names = append(names, typeName(t.GetType()))
	}
	return strings.Join(names, ", ")
}

// where says which segment the answer is about.
func (a *answer) where() string {
	text := "As the segment is saved."
	if a.Drafted {
		text = "With your unsaved changes."
	}
	if len(a.Segment.GetConstraints()) == 0 {
		return "Everyone is. " + text
	}
	return text
}

// answerSubject returns the value that a constraint compared.
func answerSubject(c *guidonv1.ExplainedConstraint) string {
	if c.GetType() == typeEntity {
		return "entity id"
	}
	return c.GetProperty()
}

// answerExpected returns the value of a constraint in words.
func answerExpected(c *guidonv1.ExplainedConstraint) string {
	if entryOf(c.GetType(), c.GetOperator()) == entryList {
		if items, ok := itemsOf(c.GetExpected(), c.GetType()); ok {
			return short(page.Listed(items, maxShown))
		}
	}
	return short(c.GetExpected())
}

// answerActual returns the value that was compared, or why there was nothing to compare.
func answerActual(c *guidonv1.ExplainedConstraint) string {
	switch {
	case !c.GetPresent():
		return "It is missing."
	case c.GetActual() == "":
		return "It is empty."
	case c.GetProblem() != "":
		return "It is " + c.GetActual() + ": " + c.GetProblem() + "."
	}
	return "It is " + c.GetActual() + "."
}

// shownName returns the name of a segment, or its key if it has none.
func shownName(g *guidonv1.SegmentSummary) string { return cmp.Or(g.GetName(), g.GetKey()) }

// referencesOf returns the rules and rollouts of a flag that use the segment.
func referencesOf(u *guidonv1.SegmentUse) []*guidonv1.SegmentReference {
	return append(u.GetRules()[:len(u.GetRules()):len(u.GetRules())], u.GetRollouts()...)
}
