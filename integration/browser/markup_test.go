package browser

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// markup returns what is wrong with the elements of a page as the server sent it. A full
// page has the frame with the navigation, so that it needs a way past it.
func markup(text string, full bool) (found []finding) {
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return []finding{{"markup", err.Error()}}
	}
	report := func(format string, args ...any) {
		found = append(found, finding{"markup", fmt.Sprintf(format, args...)})
	}
	count, ids := make(map[string]int), make(map[string]int)
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		count[n.Data]++
		ids[attribute(n, "id")]++
		for _, a := range n.Attr {
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
				report("<%s> has the attribute %s", n.Data, a.Key)
			}
		}
		if n.Data == "style" || n.Data == "script" && attribute(n, "src") == "" {
			report("<%s> is inline", n.Data)
		}
	}
	for _, tag := range []string{"title", "main", "h1"} {
		if count[tag] != 1 {
			report("%d elements <%s>, want 1", count[tag], tag)
		}
	}
	delete(ids, "")
	for id, n := range ids {
		if n > 1 {
			report("%d elements have the id %q", n, id)
		}
	}
	if !strings.HasPrefix(strings.ToLower(text), "<!doctype html>") {
		report("there is no document type")
	}
	if lang := attribute(root.LastChild, "lang"); lang == "" {
		report("the page does not state its language")
	}
	if full && !hasSkipLink(root) {
		report("the first link does not lead to <main>")
	}
	return found
}

// hasSkipLink reports whether the first element that can have the focus targets <main>.
func hasSkipLink(root *html.Node) bool {
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || !slices.Contains([]string{"a", "button", "input", "select", "textarea", "summary"}, n.Data) {
			continue
		}
		target, isFragment := strings.CutPrefix(attribute(n, "href"), "#")
		for m := range root.Descendants() {
			if m.Data == "main" && isFragment && attribute(m, "id") == target && target != "" {
				return true
			}
		}
		return false
	}
	return false
}

func attribute(n *html.Node, name string) string {
	if n == nil {
		return ""
	}
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
