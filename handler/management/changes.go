package management

import (
	"context"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// ListChanges lists the changes of a namespace, newest first.
func ListChanges(
	ctx context.Context, s *service.Service, c *call.Call, m *guidonv1.ListChangesRequest, request *call.Request,
) (call.Response, error) {
	since, until, err := timesOf(m)
	if err != nil {
		return call.Response{}, err
	}
	changes, next, state, err := s.ListChanges(ctx, c.Demand, change.Search{
		Query: change.Query{
			Namespace: m.GetNamespaceKey(), Kind: change.Kind(m.GetKind()), Key: m.GetKey(), Actor: m.GetActor(), Since: since, Until: until,
			First: m.GetFirstRevision(), Last: m.GetLastRevision(), Limit: int(m.GetLimit()),
		},
		Message: m.GetMessage(), Reason: change.ReasonKind(m.GetReason()),
	}, m.GetPageToken())
	if err != nil {
		return call.Response{State: state}, err
	}
	list := &changeList{changes, next, int(m.GetMaxObjectBytes())}
	list.cut(func(r *change.Record) string { return service.ChangesPageToken(r.Cursor()) })
	response := list.answer(request)
	response.State = state
	return response, nil
}

// ListAllChanges lists the changes of all namespaces that the caller may view, newest first.
func ListAllChanges(
	ctx context.Context, s *service.Service, c *call.Call, m *guidonv1.ListAllChangesRequest, request *call.Request,
) (call.Response, error) {
	since, until, err := timesOf(m)
	if err != nil {
		return call.Response{}, err
	}
	changes, next, err := s.AllChanges(ctx, c.Caller, change.Feed{
		In: m.GetNamespaceKey(), Actor: m.GetActor(), Since: since, Until: until, Limit: int(m.GetLimit()),
		Events: lists.Map(m.GetEvents(), func(text string) change.Event { return change.Event(text) }),
	}, m.GetPageToken())
	if err != nil {
		return call.Response{}, err
	}
	list := &changeList{changes, next, int(m.GetMaxObjectBytes())}
	list.cut(func(r *change.Record) string { return service.FeedPageToken(r.Place()) })
	return list.answer(request), nil
}

// timesOf returns the times of a request for changes, and checks its limit of objects.
func timesOf(m interface {
	GetSince() *timestamppb.Timestamp
	GetUntil() *timestamppb.Timestamp
	GetMaxObjectBytes() int32
}) (since, until *time.Time, err error) {
	if since, err = convert.Instant("since", m.GetSince()); err != nil {
		return nil, nil, err
	}
	if until, err = convert.Instant("until", m.GetUntil()); err == nil && m.GetMaxObjectBytes() < 0 {
		err = guidon.Errorf(guidon.InvalidArgument, "invalid field maxObjectBytes: must not be negative")
	}
	return since, until, err
}

// changeList is a page of changes whose objects become messages one by one: they take many
// times as much memory as their JSON.
type changeList struct {
	records []*change.Record
	next    string // the token of the next page
	largest int    // objects that take more bytes are left out; 0 means no limit
}

// cut ends the page before it becomes too large. after returns the token of the page that starts
// after a record.
func (l *changeList) cut(after func(*change.Record) string) {
	weigh := convert.Weight[change.Record]()
	n, _ := convert.Fitting(l.records, func(r *change.Record) int {
		if l.leavesOut(r) {
			without := *r
			without.Before, without.After = nil, nil
			r = &without
		}
		return weigh(r)
	})
	if n < len(l.records) {
		l.records, l.next = l.records[:n], after(l.records[n-1])
	}
}

// leavesOut reports whether the objects of the record are left out.
func (l *changeList) leavesOut(r *change.Record) bool {
	return l.largest > 0 && len(r.Before)+len(r.After) > l.largest
}

func (l *changeList) answer(request *call.Request) call.Response {
	if request.Pieces {
		return call.Response{Answer: call.Whole{InPieces: codec.LongMessage{
			Message: &guidonv1.ListChangesResponse{NextPageToken: l.next},
			Lists:   []codec.LongList{codec.NewLongList("changes", slices.Values(l.records), l.convert)},
		}}}
	}
	return call.Response{Message: &guidonv1.ListChangesResponse{Changes: lists.Map(l.records, l.convert), NextPageToken: l.next}}
}

func (l *changeList) convert(r *change.Record) *guidonv1.Change {
	if l.leavesOut(r) {
		return convert.NamedChange(r)
	}
	return convert.Change(r)
}

// FewLatestChanges reports whether the request for the latest changes needs no objects, or
// those of one record. They are left out of large records.
func FewLatestChanges(m proto.Message) bool {
	request := m.(*guidonv1.LatestChangesRequest)
	return request.GetWithoutSummaries() || len(request.GetKeys()) == 1
}

// LatestChanges returns who last changed each of some flags or segments, and when.
func LatestChanges(
	ctx context.Context, s *service.Service, c *call.Call, m *guidonv1.LatestChangesRequest, _ *call.Request,
) (call.Response, error) {
	latest, convertOne := s.LatestChanges, convert.ChangeWithoutObjects
	if m.GetWithoutSummaries() {
		latest, convertOne = s.LatestChangesWithoutObjects, convert.ChangeWithoutSummary
	}
	changes, state, err := latest(ctx, c.Demand, m.GetNamespaceKey(), change.Kind(m.GetKind()), m.GetKeys())
	if err != nil {
		return call.Response{State: state}, err
	}
	return call.Response{State: state, Message: &guidonv1.LatestChangesResponse{Changes: lists.Map(changes, convertOne)}}, nil
}
