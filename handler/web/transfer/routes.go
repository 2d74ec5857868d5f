package transfer

import (
	"github.com/guidonhq/guidon/handler/web/page"
)

// Routes returns the pages.
func Routes() []page.Route {
	return []page.Route{
		{Pattern: "/namespaces/{namespace}/import", Get: showImport, Post: page.WithForm(postImport)},
		{Pattern: "/namespaces/{namespace}/export", Get: showExport},
		{Pattern: "/namespaces/{namespace}/compare", Get: showComparison, Post: page.WithForm(postComparison)},
		{Pattern: "/settings/transfer", Get: showTransfer, Post: page.WithForm(postTransfer)},
	}
}
