package flag

import (
	"cmp"
	"net/http"
	"net/url"

	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

const fieldPage = "page" // the token of a page of namespaces

// namespacesPage is the tab that shows the flag in all namespaces.
type namespacesPage struct {
	*subject
	list *guidonv1.FlagNamespaceList
}

// getNamespaces shows the flag in all namespaces that the visitor may see.
func getNamespaces(v *page.Visit, s *subject) error {
	if _, err := s.remarks(); err != nil {
		return err
	}
	list, err := page.ListFlagNamespaces.Run(v, &guidonv1.ListFlagNamespacesRequest{
		Key: s.key, Reference: v.Key(), Limit: maxUses, PageToken: v.Query().Get(fieldPage),
	})
	if err != nil {
		return err
	}
	return v.Reply(http.StatusOK, s.page(namespacesMain(&namespacesPage{s, list})))
}

// words returns what the flag does in a namespace.
func (*namespacesPage) words(f *guidonv1.FlagSummary) string {
	return page.Capital(page.Printable(convert.FlagWords(f), maxWhy))
}

// compared returns how the flag in a namespace compares with that of the page.
func (n *namespacesPage) compared(in *guidonv1.FlagNamespace) string {
	switch {
	case in.GetNamespaceKey() == n.v.Key():
		return "This namespace"
	case in.GetSame():
		return "Same as here"
	case in.GetFlag() != nil:
		return "Differs"
	}
	return ""
}

// comparison returns the address of the comparison by which a namespace gets the flag of another
// one.
func (n *namespacesPage) comparison(to, from string) string {
	return n.v.To("namespaces", to, "compare") + "?" + url.Values{"from": {from}, "flag": {n.key}}.Encode()
}

// keepers returns the names of the other namespaces that have a flag with the key, as far as they
// can be read.
func (s *subject) keepers() (names []string) {
	list, err := page.ListFlagNamespaces.Run(s.v, &guidonv1.ListFlagNamespacesRequest{Key: s.key})
	if err != nil {
		return nil
	}
	for _, in := range list.GetNamespaces() {
		if in.GetFlag() != nil && in.GetNamespaceKey() != s.v.Key() {
			names = append(names, cmp.Or(in.GetNamespaceName(), in.GetNamespaceKey()))
		}
	}
	return names
}
