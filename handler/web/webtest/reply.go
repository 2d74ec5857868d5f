package webtest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// Reply is the response to a request for a page.
type Reply struct {
	t      testing.TB
	Status int
	Header http.Header
	Body   string
	Result *http.Response
	root   *html.Node
}

// Check checks the status and the frame of a page, and returns the reply. Without a frame,
// as that of a redirect, only the status counts.
func (r *Reply) Check(status int) *Reply {
	r.t.Helper()
	if r.Status != status {
		r.t.Fatalf("got status %d, want %d: %s", r.Status, status, r.Text())
	}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") && strings.HasPrefix(r.Body, "<!") {
		r.checkDocument()
	}
	return r
}

// Location checks that the reply leads elsewhere (303), and returns where.
func (r *Reply) Location() string {
	r.t.Helper()
	if r.Status != http.StatusSeeOther {
		r.t.Fatalf("got status %d, want 303: %s", r.Status, r.Text())
	}
	return r.Header.Get("Location")
}

// Root returns the document as a browser reads it.
func (r *Reply) Root() *html.Node {
	r.t.Helper()
	if r.root == nil {
		root, err := html.Parse(strings.NewReader(r.Body))
		if err != nil {
			r.t.Fatal(err)
		}
		r.root = root
	}
	return r.root
}

// Text returns the visible text of the main part of the page, or of all of it if there is
// none, with single spaces.
func (r *Reply) Text() string {
	r.t.Helper()
	if main := r.All("main"); len(main) > 0 {
		return TextOf(main[0])
	}
	return TextOf(r.Root())
}

// Contains checks that the page says each of the texts.
func (r *Reply) Contains(texts ...string) *Reply {
	r.t.Helper()
	visible := r.Text()
	for _, text := range texts {
		if !strings.Contains(visible, text) {
			r.t.Errorf("the page does not say %q: %s", text, visible)
		}
	}
	return r
}

// Says checks that the page has each of the texts anywhere, also outside of its main part.
func (r *Reply) Says(texts ...string) *Reply {
	r.t.Helper()
	all := TextOf(r.Root())
	for _, text := range texts {
		if !strings.Contains(all, text) {
			r.t.Errorf("the page does not say %q: %s", text, all)
		}
	}
	return r
}

// Lacks checks that the page says none of the texts.
func (r *Reply) Lacks(texts ...string) *Reply {
	r.t.Helper()
	visible := r.Text()
	for _, text := range texts {
		if strings.Contains(visible, text) {
			r.t.Errorf("the page says %q: %s", text, visible)
		}
	}
	return r
}

// All returns the elements with the tag, or all elements for "".
func (r *Reply) All(tag string) (found []*html.Node) {
	r.t.Helper()
	for n := range r.Root().Descendants() {
		if n.Type == html.ElementNode && (tag == "" || n.Data == tag) {
			found = append(found, n)
		}
	}
	return found
}

// Elements returns the elements of the page with the names of their attributes, a line each.
// Texts that are nothing but texts don't change it.
func (r *Reply) Elements() string {
	r.t.Helper()
	var b strings.Builder
	for _, n := range r.All("") {
		b.WriteString(n.Data)
		for _, a := range n.Attr {
			b.WriteString(" " + a.Key)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// inMain returns the elements with the tag in the main part of the page, in order.
func (r *Reply) inMain(tag string) []*html.Node {
	r.t.Helper()
	return slices.DeleteFunc(r.All(tag), func(n *html.Node) bool { return !within(n, "main") })
}

// Links returns the addresses of the links in the main part of the page, in order.
func (r *Reply) Links() (addresses []string) {
	r.t.Helper()
	for _, n := range r.inMain("a") {
		addresses = append(addresses, Attribute(n, "href"))
	}
	return addresses
}

// Forms returns the fields of all forms of the main part of the page, as [Reply.Form] does.
func (r *Reply) Forms() (all []url.Values) {
	r.t.Helper()
	for _, n := range r.inMain("form") {
		all = append(all, fieldsOf(n))
	}
	return all
}

// Form returns the fields that a browser would send for the form with the id, or for the
// only form of the main part of the page if the id is "": without its buttons.
func (r *Reply) Form(id string) (action string, fields url.Values) {
	r.t.Helper()
	forms := slices.DeleteFunc(r.inMain("form"), func(n *html.Node) bool { return id != "" && Attribute(n, "id") != id })
	if len(forms) != 1 {
		r.t.Fatalf("%d forms %q: %s", len(forms), id, r.Text())
	}
	return Attribute(forms[0], "action"), fieldsOf(forms[0])
}

// CheckEnter checks which button Enter presses in a field of the form with the id: the first one
// of the form, which may be outside of it.
func (r *Reply) CheckEnter(id, want string) *Reply {
	r.t.Helper()
	for _, n := range r.inMain("button") {
		owner := Attribute(n, "form")
		for form := range n.Ancestors() {
			if form.Data == "form" && owner == "" {
				owner = Attribute(form, "id")
			}
		}
		if owner != id || Attribute(n, "type") == "button" {
			continue
		}
		if got := Attribute(n, "value"); got != want {
			r.t.Errorf("Enter presses %q in the form %q, want %q", got, id, want)
		}
		return r
	}
	r.t.Errorf("the form %q has no button", id)
	return r
}

// fieldsOf returns the fields of a form that are not buttons (HTML 4.10.21.4).
func fieldsOf(form *html.Node) url.Values {
	fields := make(url.Values)
	for n := range form.Descendants() {
		if n.Type != html.ElementNode || Attribute(n, "name") == "" || Has(n, "disabled") {
			continue
		}
		switch n.Data {
		case "input":
			kind := Attribute(n, "type")
			if kind == "submit" || (kind == "checkbox" || kind == "radio") && !Has(n, "checked") {
				continue
			}
			value := Attribute(n, "value")
			if (kind == "checkbox" || kind == "radio") && !Has(n, "value") {
				value = "on"
			}
			fields.Add(Attribute(n, "name"), value)
		case "textarea":
			fields.Add(Attribute(n, "name"), strings.TrimPrefix(textWithin(n), "\n"))
		case "select":
			fields.Add(Attribute(n, "name"), selected(n))
		}
	}
	return fields
}

// selected returns the value of a select element.
func selected(s *html.Node) string {
	first := ""
	for n := range s.Descendants() {
		if n.Type != html.ElementNode || n.Data != "option" {
			continue
		}
		value := textWithin(n)
		if Has(n, "value") {
			value = Attribute(n, "value")
		}
		if Has(n, "selected") {
			return value
		}
		if first == "" {
			first = value
		}
	}
	return first
}

// Attribute returns the value of an attribute, or "".
func Attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// Has reports whether the element has the attribute.
func Has(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

// TextOf returns the text of an element, with single spaces.
func TextOf(n *html.Node) string { return strings.Join(strings.Fields(textWithin(n)), " ") }

func textWithin(n *html.Node) string {
	var b strings.Builder
	for n := range n.Descendants() {
		if n.Type == html.TextNode && (n.Parent == nil || n.Parent.Data != "title" && n.Parent.Data != "noscript") {
			b.WriteString(n.Data)
			if n.Parent != nil && n.Parent.Data != "textarea" {
				b.WriteByte(' ')
			}
		}
	}
	return b.String()
}
