package flags

import (
	"fmt"
	"slices"

	"github.com/a-h/templ"

	"github.com/guidonhq/guidon/handler/web/page"
)

// bulkAction is what can be done to several flags. The button of the list has its verb as the value; that of
// the page which asks first has it with the suffix [confirmed].
type bulkAction struct {
	verb, text  string // text is that of the button
	heading     string // of the question, with %s for the flags
	consequence string // the effect
	keep        string // the text of the link that changes nothing
	dangerous   bool   // the button of the question is red
}

// The verbs of the actions.
const (
	verbTurnOff = "turn-off"
	verbTurnOn  = "turn-on"
	verbTag     = "tag"
	verbPromote = "promote"
	verbExport  = "export"
	verbDelete  = "delete"

	confirmed = "-now"
)

// bulkActions are the actions in the order of the buttons.
var bulkActions = []bulkAction{
	{verbTurnOff, "Turn off", "Turn off %s for everyone?", "The rules that they have stay as they are. You can undo this in Changes.",
		"Keep them as they are", true},
	{verbTurnOn, "Turn on", "Turn on %s?",
		"Flags that were turned off get back what they were. Of the others, boolean flags give On to everyone whom no rule matches, " +
			"and the rules of variant flags decide. You can undo this in Changes.", "Keep them as they are", false},
	{verbTag, "Add tag", "Add a tag to %s", "Flags that have the tag already stay as they are.", "Cancel", false},
	{verbPromote, "Promote", "Promote %s", "You see what would change there first, and choose what to take along.", "Cancel", false},
	{verb: verbExport, text: "Export"},
	{verbDelete, "Delete", "Delete %s?",
		"Code that still asks for them gets the default in the code, from the next request on. You can undo this in Changes.",
		"Keep them", true},
}

// question returns the heading of the page that asks.
func (s *selection) question() string {
	if len(s.rows) == 1 {
		return fmt.Sprintf(s.heading, "“"+s.rows[0].Name+"”")
	}
	return fmt.Sprintf(s.heading, page.Count(len(s.rows), "flag"))
}

// effect describes the effect of the action. That of turning off depends on the types of the flags.
func (s *selection) effect() string {
	has := func(variant bool) bool {
		return s.verb == verbTurnOff && slices.ContainsFunc(s.rows, func(r row) bool { return r.Variant == variant })
	}
	text := ""
	if has(false) {
		text = "Boolean flags get a first rule that gives Off to everyone. "
	}
	if has(true) {
		text += "Variant flags give everyone their default variant. "
	}
	return text + s.consequence
}

// submit returns the text of the button.
func (s *selection) submit() string {
	switch s.verb {
	case verbPromote:
		return "Compare"
	case verbDelete:
		return "Delete " + page.Count(len(s.rows), "flag")
	}
	return s.text
}

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
		Title: title, Place: page.PlaceFlags, Crumbs: []page.Crumb{{Text: "Flags", Address: s.address()}, {Text: s.text}}, Main: main,
	})
}
