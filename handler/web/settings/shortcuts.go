package settings

import (
	"net/http"

	"github.com/guidonhq/guidon/handler/web/page"
)

// shortcut is a key, and what it does.
type shortcut struct {
	Keys []string // pressed one after the other
	Text string
}

// shortcutGroup is a part of the list of keys.
type shortcutGroup struct {
	Title string
	Keys  []shortcut
}

// shortcuts are all keys.
var shortcuts = []shortcutGroup{
	{"Everywhere", []shortcut{
		{[]string{"⌘K"}, "Search or jump to"}, {[]string{"⌘S"}, "Save"}, {[]string{"⌘Enter"}, "Evaluate, or send the form"},
		{[]string{"⌘Z"}, "Undo the last step of a draft"}, {[]string{"Shift ⌘Z"}, "Do it again"},
		{[]string{"Esc"}, "Close what is open, or ask whether to discard a draft"},
	}},
	{"Go to", []shortcut{
		{[]string{"g", "f"}, "Flags"}, {[]string{"g", "s"}, "Segments"}, {[]string{"g", "p"}, "Playground"}, {[]string{"g", "h"}, "Changes"},
		{[]string{"g", "c"}, "Compare"}, {[]string{"n"}, "Menu of namespaces"}, {[]string{"?"}, "This list"},
	}},
	{"Lists", []shortcut{
		{[]string{"/"}, "Filter"}, {[]string{"j"}, "Next row"}, {[]string{"k"}, "Previous row"}, {[]string{"Enter"}, "Open"},
		{[]string{"x"}, "Select"}, {[]string{"."}, "Menu of the row"}, {[]string{"c"}, "Create"}, {[]string{"e"}, "Edit"},
		{[]string{"t"}, "Turn on or off, after a question"},
	}},
	{"Flags and segments", []shortcut{
		{[]string{"e"}, "Edit the rule or constraint with the focus, or the first"}, {[]string{"t"}, "Turn on or off, after a question"},
		{[]string{"r"}, "Review"},
	}},
}

// showShortcuts lists the keys.
func showShortcuts(v *page.Visit) error {
	return v.Reply(http.StatusOK, page.Page{
		Title: "Keys", Place: page.PlaceSettings,
		Crumbs: []page.Crumb{{Text: "Settings", Address: v.To("settings", "profile")}, {Text: "Keys"}},
		Main:   shortcutsMain(v),
	})
}
