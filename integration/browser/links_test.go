package browser

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// BrokenLinks requests what the page that is open links to, within its origin, and returns
// the links that do not lead to a page. known holds those that were requested before.
func (v *visitor) BrokenLinks(t testing.TB, known map[string]bool) (found []finding) {
	t.Helper()
	for _, link := range eval[[]string](t, v, "[...document.links].map(a => a.href.split('#')[0])") {
		if known[link] || !strings.HasPrefix(link, v.origin+"/") {
			continue
		}
		known[link] = true
		if status := eval[int](t, v, fmt.Sprintf("fetch(%q, {redirect: 'manual'}).then(r => r.status)", link)); status >= 400 {
			found = append(found, finding{"link", fmt.Sprintf("%s has status %d", link, status)})
		}
	}
	return found
}

// outside returns the links, forms and files of the page that lead out of the site, as they
// do if it is below a path that they do not know.
func (v *visitor) outside(t testing.TB, p *openedPage) (found []finding) {
	t.Helper()
	base, err := url.Parse(p.URL)
	if err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(strings.NewReader(p.HTML))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		for _, name := range []string{"href", "src", "action", "formaction"} {
			address := attribute(n, name)
			if address == "" {
				continue
			}
			to, err := base.Parse(address)
			if err != nil || strings.HasPrefix(to.String(), v.origin) && !strings.HasPrefix(to.String()+"/", v.Base+"/") {
				found = append(found, finding{"outside", fmt.Sprintf("<%s %s=%q>", n.Data, name, address)})
			}
		}
	}
	return found
}
