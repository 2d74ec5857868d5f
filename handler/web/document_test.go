package web_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// document is a page as a browser reads it.
type document struct{ root *html.Node }

func parse(t testing.TB, body string) document {
	t.Helper()
	root, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return document{root}
}

// all returns the elements with the tag, or all elements for "".
func (d document) all(tag string) (found []*html.Node) {
	for n := range d.root.Descendants() {
		if n.Type == html.ElementNode && (tag == "" || n.Data == tag) {
			found = append(found, n)
		}
	}
	return found
}

// text returns the visible text of the page, with single spaces.
func (d document) text() string { return textOf(d.root) }

func textOf(n *html.Node) string {
	var b strings.Builder
	for n := range n.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "title" {
			b.WriteString(n.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// links returns the addresses of the links, in order.
func (d document) links() (addresses []string) {
	for _, a := range d.all("a") {
		addresses = append(addresses, attribute(a, "href"))
	}
	return addresses
}

// form returns the fields of the only form, without those of buttons.
func (d document) form(t testing.TB) (action string, fields url.Values) {
	t.Helper()
	forms := d.all("form")
	if len(forms) != 1 {
		t.Fatalf("%d forms", len(forms))
	}
	fields = url.Values{}
	for _, input := range d.all("input") {
		fields.Add(attribute(input, "name"), attribute(input, "value"))
	}
	return attribute(forms[0], "action"), fields
}

// skeleton returns all elements and the names of their attributes.
func (d document) skeleton() string {
	var b strings.Builder
	for _, n := range d.all("") {
		b.WriteString(n.Data)
		for _, a := range n.Attr {
			b.WriteString(" " + a.Key)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// elements and attributes are all that pages are made of.
var (
	elements   = strings.Fields("html head meta title link body main img h1 div p a span b bdi form input label button ul li code")
	attributes = strings.Fields("lang charset name content rel href blocking type class src alt width height aria-hidden method action value for id required autocomplete autocapitalize spellcheck aria-invalid aria-describedby autofocus role hidden data-ways data-signed-in")
)

// check reports what every page must not have, and what it lacks. Links and forms must
// lead to paths below public.
func (d document) check(t testing.TB, public string, elsewhere ...string) {
	t.Helper()
	ids := make(map[string]bool)
	for _, n := range d.all("") {
		if !slices.Contains(elements, n.Data) {
			t.Errorf("the page has the element %s", n.Data)
		}
		for _, a := range n.Attr {
			switch {
			case !slices.Contains(attributes, a.Key):
				t.Errorf("%s has the attribute %s", n.Data, a.Key)
			case n.Data == "link" && a.Key == "href" && attribute(n, "rel") == "expect": // of the page itself
				if a.Val != "#end" {
					t.Errorf("the page is drawn when %q is there", a.Val)
				}
			case a.Key == "href" || a.Key == "src" || a.Key == "action":
				if !strings.HasPrefix(a.Val, public+"/") || strings.HasPrefix(a.Val, "//") || strings.ContainsAny(a.Val, "\\\r\n\t ") {
					if !slices.Contains(elsewhere, a.Val) {
						t.Errorf("%s leads to %q", n.Data, a.Val)
					}
				}
			case a.Key == "id":
				ids[a.Val] = true
			}
		}
		if n.Data == "meta" && attribute(n, "http-equiv") != "" {
			t.Error("the page has a meta element that acts like a header")
		}
	}
	for tag, want := range map[string]int{"html": 1, "title": 1, "h1": 1, "main": 1} {
		if got := len(d.all(tag)); got != want {
			t.Errorf("%d elements %s, want %d", got, tag, want)
		}
	}
	if len(d.all("html")) == 1 && attribute(d.all("html")[0], "lang") != "en" {
		t.Error("the page does not state its language")
	}
	if title := d.all("title"); len(title) == 1 && !strings.HasSuffix(textContent(title[0]), " · Guidon") {
		t.Errorf("the title is %q", textContent(title[0]))
	}
	d.checkForms(t, ids)
}

// checkForms checks that each field has a label, and that references lead somewhere.
func (d document) checkForms(t testing.TB, ids map[string]bool) {
	t.Helper()
	labeled := make(map[string]bool)
	for _, l := range d.all("label") {
		labeled[attribute(l, "for")] = true
	}
	for _, input := range d.all("input") {
		if attribute(input, "type") != "hidden" && attribute(input, "name") != "username" && !labeled[attribute(input, "id")] {
			t.Errorf("the field %s has no label", attribute(input, "name"))
		}
		for id := range strings.FieldsSeq(attribute(input, "aria-describedby")) {
			if !ids[id] {
				t.Errorf("there is no element %s", id)
			}
		}
	}
	for _, f := range d.all("form") {
		if attribute(f, "method") != "post" {
			t.Error("a form is not posted")
		}
	}
}

func textContent(n *html.Node) string {
	if n.FirstChild == nil {
		return ""
	}
	return n.FirstChild.Data
}
