package settings

import (
	"net/http"

	"github.com/a-h/templ"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

// namespacesPage is the model of the list of namespaces.
type namespacesPage struct {
	Namespaces  []*flipt.Namespace // of this page
	Query       string
	Page, Total int // the total of those that match
	Deleted     bool
}

// showNamespaces lists the namespaces that the visitor may see.
func showNamespaces(v *page.Visit) error {
	p := namespacesPage{Query: v.Query().Get("q"), Deleted: v.Query().Get("deleted") != ""}
	matching := v.MatchingNamespaces(p.Query)
	p.Total = len(matching)
	p.Page, p.Namespaces = pageOf(v, matching)
	shown := sectionPage(v, namespacesSection, "", p.main(v))
	shown.Regions = map[string]templ.Component{page.RegionNamespaces: v.NamespaceLinks(matching, page.SpotOf(v.Query()))}
	return v.Reply(http.StatusOK, shown)
}

// filters reports whether the list can be filtered.
func (p namespacesPage) filters(v *page.Visit) bool {
	return p.Query != "" || len(v.Namespaces) >= page.ManyNamespaces
}

// mayCreate reports whether the visitor may create a namespace with some key.
func mayCreate(v *page.Visit) bool {
	a := v.Visitor.Authentication
	return !v.Site.ReadOnly && (a == nil || a.MayAnywhere(service.RoleAdmin))
}

// mayManage reports whether the visitor may change the namespace with the key.
func mayManage(v *page.Visit, key string) bool {
	return !v.Site.ReadOnly && v.MayIn(service.RoleAdmin, key)
}
