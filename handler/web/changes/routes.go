package changes

import (
	"github.com/a-h/templ"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/flipt"
)

// Heads has the functions that return the head above the history of an object: its name
// and the tabs of its page. A nil function, or one that returns nil, means a plain head.
type Heads struct {
	Flag    func(v *page.Visit, key, tab string) templ.Component
	Segment func(v *page.Visit, segment *flipt.Segment, tab string) templ.Component
}

// pages are the pages with the heads.
type pages struct{ heads Heads }

// Routes returns the pages of changes and histories.
func Routes(heads Heads) []page.Route {
	p := pages{heads}
	if p.heads.Flag == nil {
		p.heads.Flag = func(*page.Visit, string, string) templ.Component { return nil }
	}
	if p.heads.Segment == nil {
		p.heads.Segment = segmentHead
	}
	routes := []page.Route{
		{Pattern: "/changes", Get: listEverywhere},
		{Pattern: "/namespaces/{namespace}/changes", Get: list, Unchanging: true},
		{Pattern: "/namespaces/{namespace}/changes/{revision}", Get: one, Unchanging: true},
		{Pattern: "/namespaces/{namespace}/changes/{revision}/undo", Get: reviewUndo, Post: undo},
	}
	for _, k := range []kind{flagKind, segmentKind} {
		at := "/namespaces/{namespace}/" + k.folder + "/{" + k.name + "}/history"
		routes = append(routes,
			page.Route{Pattern: at, Get: p.history(k), Unchanging: true},
			page.Route{Pattern: at + "/{revision}", Get: p.history(k), Unchanging: true},
			page.Route{Pattern: at + "/{revision}/restore", Get: reviewRestore(k), Post: restore(k)},
		)
	}
	return routes
}

// kind is a kind of objects with a history.
type kind struct {
	name   string // in requests, in addresses, and in sentences
	folder string // of its objects in addresses
	title  string
}

var (
	flagKind    = kind{"flag", "flags", "Flags"}
	segmentKind = kind{"segment", "segments", "Segments"}
)

// kinds are the kinds with a history, by their names.
var kinds = map[string]kind{flagKind.name: flagKind, segmentKind.name: segmentKind}
