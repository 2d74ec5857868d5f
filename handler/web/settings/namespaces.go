package settings

import (
	"net/http"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

// namespacesPage is the model of the list of namespaces.
type namespacesPage struct {
	Namespaces         []*flipt.Namespace // of this page
	Page, First, Total int
	Deleted            bool
}

// showNamespaces lists the namespaces that the visitor may see.
func showNamespaces(v *page.Visit) error {
	p := namespacesPage{Total: len(v.Namespaces), Deleted: v.Query().Get("deleted") != ""}
	p.Page, p.First, p.Namespaces = pageOf(v, v.Namespaces)
	show(v, http.StatusOK, namespacesSection, "", p.main(v))
	return nil
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
