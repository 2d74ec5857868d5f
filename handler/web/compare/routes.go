package compare

import (
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// compareStates compares two namespaces.
const compareStates page.Operation[*guidonv1.CompareRequest, *guidonv1.CompareResponse] = "/guidon.v1.CompareService/Compare"

// Routes returns the pages.
func Routes(_ *page.Site) []page.Route {
	return []page.Route{{Pattern: "/namespaces/{namespace}/compare", Get: show, Post: submit}}
}
