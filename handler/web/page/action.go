package page

import (
	"net/url"
	"strconv"
	"strings"
)

// Action is the action of a button on the draft in its form. Its field is called "do", and
// its value is a verb, possibly with arguments: "save", "up:2", "add:segment:0".
type Action struct {
	Verb      string
	Arguments []string
}

// ActionOf returns the action of the button that sent the form; the zero Action if none did.
func ActionOf(form url.Values) Action {
	verb, rest, some := strings.Cut(form.Get("do"), ":")
	a := Action{Verb: verb}
	if some {
		a.Arguments = strings.Split(rest, ":")
	}
	return a
}

// Index returns an argument that is the index of one of n items, and whether it is one.
func (a Action) Index(argument, n int) (int, bool) {
	if argument >= len(a.Arguments) {
		return 0, false
	}
	i, err := strconv.Atoi(a.Arguments[argument])
	return i, err == nil && i >= 0 && i < n
}

// Text returns an argument, or "" if there are fewer.
func (a Action) Text(argument int) string {
	if argument >= len(a.Arguments) {
		return ""
	}
	return a.Arguments[argument]
}
