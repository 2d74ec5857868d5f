package flags

import (
	"github.com/a-h/templ"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
)

// heading returns the question.
func (s *selection) heading() string {
	flags := page.Count(len(s.rows), "flag")
	if len(s.rows) == 1 {
		flags = "“" + s.rows[0].Name + "”"
	}
	switch s.verb {
	case verbTurnOff:
		return "Turn off " + flags + " for everyone?"
	case verbTurnOn:
		return "Turn on " + flags + "?"
	case verbTag:
		return "Add a tag to " + flags
	case verbPromote:
		return "Promote " + flags
	}
	return "Delete " + flags + "?"
}

// consequence describes the effect of the action.
func (s *selection) consequence() string {
	switch s.verb {
	case verbTurnOff:
		return s.offConsequence() + " You can undo this in Changes."
	case verbTurnOn:
		return "Flags that were turned off get back what they were. Of the others, boolean flags give On to everyone whom no rule matches, " +
			"and the rules of variant flags decide. You can undo this in Changes."
	case verbTag:
		return "Flags that have the tag already stay as they are."
	case verbPromote:
		return "You see what would change there first, and choose what to take along."
	}
	return "Code that still asks for them gets the default in the code, from the next request on. You can undo this in Changes."
}

// offConsequence describes the effect of turning off on the types of flags that are selected.
func (s *selection) offConsequence() string {
	booleans, variants := false, false
	for _, r := range s.rows {
		booleans, variants = booleans || !r.Variant, variants || r.Variant
	}
	text := ""
	if booleans {
		text = "Boolean flags get a first rule that gives Off to everyone. "
	}
	if variants {
		text += "Variant flags give everyone their default variant. "
	}
	return text + "The rules that they have stay as they are."
}

// keep returns the text of the link that changes nothing.
func (s *selection) keep() string {
	switch s.verb {
	case verbTurnOff, verbTurnOn:
		return "Keep them as they are"
	case verbDelete:
		return "Keep them"
	}
	return "Cancel"
}

// submit returns the text of the button.
func (s *selection) submit() string {
	switch s.verb {
	case verbPromote:
		return "Compare"
	case verbDelete:
		return "Delete " + page.Count(len(s.rows), "flag")
	}
	return s.crumb()
}

// dangerous reports whether the button is red.
func (s *selection) dangerous() bool { return s.verb == verbTurnOff || s.verb == verbDelete }

// confirmLabel returns the label of the field for the phrase.
func (s *selection) confirmLabel() string {
	if s.asks() {
		return "Type " + s.phrase() + " to change this namespace"
	}
	return "Type " + s.phrase() + ", the number of flags, to delete them"
}

// address returns where the list is, with its filter.
func (s *selection) address() string { return page.WithQuery(s.v.In("flags"), s.list) }

// reply responds with a page about the selection.
func (s *selection) reply(status int, title string, main templ.Component) error {
	return s.v.Reply(status, page.Page{
		Title: title, Place: page.PlaceFlags, Crumbs: []page.Crumb{{Text: "Flags", Address: s.address()}, {Text: s.crumb()}}, Main: main,
	})
}

func (s *selection) crumb() string {
	return map[string]string{
		verbTurnOff: "Turn off", verbTurnOn: "Turn on", verbTag: "Add tag", verbPromote: "Promote", verbExport: "Export", verbDelete: "Delete",
	}[s.verb]
}

// described returns the attributes of the field.
func (s *selection) described(field, hint string) templ.Attributes {
	return part.Described(field, hint, s.problems)
}
