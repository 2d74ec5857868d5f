package webtest

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// checkDocument checks the rules for every page: landmarks, a title, labels, addresses
// below this service, and nothing inline that the policy would refuse.
func (r *Reply) checkDocument() {
	r.t.Helper()
	for tag, want := range map[string]int{"html": 1, "title": 1, "h1": 1, "main": 1} {
		elements := slices.DeleteFunc(r.All(tag), func(n *html.Node) bool { return n.Namespace != "" }) // of pictures
		if got := len(elements); got != want {
			r.t.Errorf("the page has %d elements %s, want %d", got, tag, want)
		}
	}
	if policy := r.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") {
		r.t.Errorf("the page has the policy %q", policy)
	}
	ids, labels := make(map[string]bool), make(map[string]bool)
	for _, n := range r.All("") {
		if id := Attribute(n, "id"); id != "" {
			if ids[id] {
				r.t.Errorf("two elements have the id %s", id)
			}
			ids[id] = true
		}
		if n.Data == "label" {
			labels[Attribute(n, "for")] = true
		}
		r.checkElement(n)
	}
	for _, n := range r.All("") {
		r.checkReferences(n, ids, labels)
	}
}

// checkElement checks that an element runs nothing and links only to places that it may.
func (r *Reply) checkElement(n *html.Node) {
	r.t.Helper()
	if n.Data == "style" || n.Data == "script" && Attribute(n, "src") == "" {
		r.t.Errorf("the page has an inline %s", n.Data)
	}
	for _, a := range n.Attr {
		switch {
		case a.Key == "style" || strings.HasPrefix(a.Key, "on"):
			r.t.Errorf("%s has the attribute %s=%q", n.Data, a.Key, a.Val)
		case a.Key == "href" && !strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "#") && !strings.HasPrefix(a.Val, "?"):
			if Attribute(n, "rel") != "noreferrer" || !strings.HasPrefix(a.Val, "https://") && !strings.HasPrefix(a.Val, "http://") {
				r.t.Errorf("%s leads to %q", n.Data, a.Val)
			}
		case a.Key == "href" && strings.HasPrefix(a.Val, "//"),
			(a.Key == "src" || a.Key == "action" || a.Key == "formaction") &&
				(!strings.HasPrefix(a.Val, "/") || strings.HasPrefix(a.Val, "//")):
			r.t.Errorf("%s has the %s %q", n.Data, a.Key, a.Val)
		}
	}
}

// checkReferences checks that fields have labels, and that references lead somewhere.
func (r *Reply) checkReferences(n *html.Node, ids, labels map[string]bool) {
	r.t.Helper()
	field := n.Data == "select" || n.Data == "textarea" || n.Data == "input" && Attribute(n, "type") != "hidden" && !Has(n, "hidden")
	if field && !labels[Attribute(n, "id")] &&
		Attribute(n, "aria-label") == "" && Attribute(n, "aria-labelledby") == "" && !within(n, "label") {
		r.t.Errorf("the field %s has no label", Attribute(n, "name"))
	}
	for _, name := range []string{"aria-describedby", "aria-labelledby", "aria-controls", "for", "list", "form"} {
		for id := range strings.FieldsSeq(Attribute(n, name)) {
			if !ids[id] {
				r.t.Errorf("%s %s of %s: there is no such element", name, id, n.Data)
			}
		}
	}
}

// within reports whether the element is inside of one with the tag.
func within(n *html.Node, tag string) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.Type == html.ElementNode && p.Data == tag {
			return true
		}
	}
	return false
}
