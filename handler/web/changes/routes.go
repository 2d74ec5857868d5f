package changes

import (
	"github.com/a-h/templ"

	"github.com/guidonhq/guidon/handler/web/flag"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/segment"
)

// Routes returns the pages of changes and histories.
func Routes() []page.Route {
	routes := []page.Route{
		{Pattern: "/changes", Get: list},
		{Pattern: "/namespaces/{namespace}/changes", Get: list, Unchanging: true},
		{Pattern: "/namespaces/{namespace}/changes/{revision}", Get: one, Unchanging: true},
		{Pattern: "/namespaces/{namespace}/changes/{revision}/undo", Get: page.With(newUndo, askReview), Post: page.With(newUndo, submitReview)},
	}
	for _, k := range []*kind{flagKind, segmentKind} {
		at := "/namespaces/{namespace}/" + k.folder + "/{" + k.name + "}/history"
		read := func(v *page.Visit) (*undoReview, error) { return newRestore(v, k) }
		routes = append(routes,
			page.Route{Pattern: at, Get: history(k), Unchanging: true},
			page.Route{Pattern: at + "/{revision}", Get: history(k), Unchanging: true},
			page.Route{Pattern: at + "/{revision}/restore", Get: page.With(read, askReview), Post: page.With(read, submitReview)},
		)
	}
	return routes
}

// kind is a kind of objects with a history.
type kind struct {
	name   string // in requests, in addresses, and in sentences
	folder string // of its objects in addresses
	title  string
	head   func(v *page.Visit, key, tab string) (name string, head templ.Component, err error)
}

var (
	flagKind    = &kind{"flag", "flags", "Flags", flag.Head}
	segmentKind = &kind{"segment", "segments", "Segments", segment.Head}
)

// kinds are the kinds with a history, by their names.
var kinds = map[string]*kind{flagKind.name: flagKind, segmentKind.name: segmentKind}
