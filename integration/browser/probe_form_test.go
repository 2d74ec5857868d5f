package browser

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// probe is a form of a page with what is in its fields.
type probe struct {
	method, action string
	fields         []probeField
	buttons        []probeButton
}

// probeField is a field of a form.
type probeField struct {
	name, value string
	hidden      bool // people do not see it
	set         bool // it has one of a set of values
}

// probeButton is a button that sends a form.
type probeButton struct{ name, value, action string }

// kind is the same for the forms of the rows of a table.
func (f probe) kind() string {
	var b strings.Builder
	b.WriteString(f.method + " " + f.action)
	for _, field := range f.fields {
		b.WriteString(" " + field.name)
	}
	return b.String()
}

// full returns the form with a text in each field, from the text with the index on. A form
// without fields that people see has texts in the others; any has, every eighth time.
func (f probe) full(texts []string, index int) probe {
	hidden := index%8 == 7 || !slices.ContainsFunc(f.fields, func(field probeField) bool { return !field.hidden })
	f.fields = slices.Clone(f.fields)
	for i := range f.fields {
		if hidden || !f.fields[i].hidden {
			f.fields[i].value = texts[(index+i)%len(texts)]
		}
	}
	return f
}

// with returns the form with the text in one of the fields that people type into: they take
// turns. A field for a new key has a key.
func (f probe) with(text string, turn int) probe {
	f.fields = slices.Clone(f.fields)
	var typed []int
	for i, field := range f.fields {
		if field.hidden || field.set {
			continue
		}
		typed = append(typed, i)
		if field.name == "key" && field.value == "" {
			f.fields[i].value = "probe-" + strconv.Itoa(turn)
		}
	}
	if len(typed) > 0 {
		f.fields[typed[turn%len(typed)]].value = text
	}
	return f
}

// pressed returns the form as one of its buttons sends it: they take turns.
func (f probe) pressed(turn int) probe {
	if len(f.buttons) == 0 {
		return f
	}
	button := f.buttons[turn%len(f.buttons)]
	if button.action != "" {
		f.action = button.action
	}
	if button.name != "" {
		f.fields = append(slices.Clip(f.fields), probeField{name: button.name, value: button.value})
	}
	return f
}

// formsOf returns the forms of a document (HTML 4.10.21.4).
func formsOf(root *html.Node) (forms []probe) {
	var nodes []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == "form" {
			nodes = append(nodes, n)
			forms = append(forms, probe{method: strings.ToUpper(attribute(n, "method")), action: attribute(n, "action")})
		}
	}
	for n := range root.Descendants() {
		i := slices.IndexFunc(nodes, func(form *html.Node) bool { return belongs(n, form) })
		if i < 0 || has(n, "disabled") {
			continue
		}
		forms[i].add(n)
	}
	for i := range forms {
		if forms[i].method == "" {
			forms[i].method = http.MethodGet
		}
	}
	return forms
}

// add adds what an element contributes to its form.
func (f *probe) add(n *html.Node) {
	name, value, kind := attribute(n, "name"), attribute(n, "value"), attribute(n, "type")
	switch {
	case n.Data == "button" && kind != "button" && kind != "reset":
		f.buttons = append(f.buttons, probeButton{name, value, attribute(n, "formaction")})
	case name == "":
	case n.Data == "input" && (kind == "checkbox" || kind == "radio"):
		if has(n, "checked") {
			f.fields = append(f.fields, probeField{name: name, value: value, set: true})
		}
	case n.Data == "input":
		f.fields = append(f.fields, probeField{name: name, value: value, hidden: kind == "hidden", set: kind == "number" || kind == "range"})
	case n.Data == "textarea":
		f.fields = append(f.fields, probeField{name: name, value: strings.TrimPrefix(contentOf(n), "\n")})
	case n.Data == "select":
		f.fields = append(f.fields, probeField{name: name, value: selectedIn(n), set: true})
	}
}

// belongs reports whether an element is a control of the form.
func belongs(n, form *html.Node) bool {
	if n.Type != html.ElementNode {
		return false
	}
	if id := attribute(n, "form"); id != "" {
		return id == attribute(form, "id")
	}
	for p := n.Parent; p != nil; p = p.Parent {
		if p == form {
			return true
		}
	}
	return false
}

// selectedIn returns the value of a select element.
func selectedIn(n *html.Node) (value string) {
	found := false
	for option := range n.Descendants() {
		if option.Data == "option" && (!found || has(option, "selected")) {
			found, value = true, attribute(option, "value")
		}
	}
	return value
}

func contentOf(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

func has(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}
