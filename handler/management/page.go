package management

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

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
	if n, l.weight = convert.Fitting(l.items, weigh); n < len(l.items) {
		l.page.NextToken = request.After(n, name(l.items[n]))
		l.items = l.items[:n]
	}
}

// answer returns the page as the message that whole returns. If the page is long and the
// transport supports it, the page is written in pieces instead. Each item is then converted only
// after the client has read the preceding ones.
func (l *listing[T, M]) answer(request *call.Request, whole func(items []M) proto.Message) call.Response {
	if !request.Pieces || l.weight <= call.MaxWhole {
		return call.Response{Message: whole(lists.Map(l.items, l.convert))}
	}
	return call.Response{Answer: codec.LongMessage{
		Message: whole(nil), Lists: []codec.LongList{codec.NewLongList(l.field, slices.Values(l.items), l.convert)},
	}}
}
