package handler

import (
	"io"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/service"
)

// maxPage limits a page of a list, in bytes: gRPC clients accept 4 MiB by default. A
// page with a single object may be larger.
const maxPage = 3 << 20

// fitting returns how many of the items fit into one page, and their total weight. It is
// at least one item, so that clients always make progress.
func fitting[T any](items []T, weigh func(T) int) (n, weight int) {
	for _, item := range items {
		more := weigh(item)
		if n > 0 && weight+more > maxPage {
			break
		}
		n, weight = n+1, weight+more
	}
	return n, weight
}

// listing is the response to a list operation.
type listing[T any, M proto.Message] struct {
	field   string // name of the message field with the items
	items   []T
	page    service.Page
	weight  int
	convert func(T) M
}

// cut ends the page before it becomes too large, and sets the token of the next one.
// name returns the key or id of an item.
func (l *listing[T, M]) cut(request service.PageRequest, name func(T) string, weigh func(T) int) {
	var n int
	if n, l.weight = fitting(l.items, weigh); n < len(l.items) {
		l.page.NextToken = request.After(n, name(l.items[n]))
		l.items = l.items[:n]
	}
}

// answer returns the page as the message that whole builds from the items. If the page
// is long and the transport supports it, the page is written in pieces instead. Each
// item is then converted only after the client has read the preceding ones.
func (l *listing[T, M]) answer(request *Request, whole func(items []M) proto.Message) Response {
	if !request.pieces || l.weight <= writePiece {
		return Response{Message: whole(convert.All(l.items, l.convert))}
	}
	return Response{write: func(x *exchange) {
		pretty := x.pretty()
		x.replyPieces(func(out io.Writer) error { return l.write(out, pretty) })
	}}
}

func (l *listing[T, M]) write(out io.Writer, pretty bool) error {
	w := newObjectWriter(out, pretty)
	writeList(w, l.field, slices.Values(l.items), l.convert)
	w.text("nextPageToken", l.page.NextToken)
	w.count("totalCount", l.page.Total)
	return w.end()
}
