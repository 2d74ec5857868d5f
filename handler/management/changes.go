package management

import (
	"context"
	"io"
	"slices"

	"google.golang.org/protobuf/proto"

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
	since, err := convert.Instant("since", m.GetSince())
	if err != nil {
		return call.Response{}, err
	}
	until, err := convert.Instant("until", m.GetUntil())
	if err != nil {
		return call.Response{}, err
	}
	if m.GetMaxObjectBytes() < 0 {
		return call.Response{}, guidon.Errorf(guidon.InvalidArgument, "invalid field maxObjectBytes: must not be negative")
	}
	changes, next, state, err := s.ListChanges(ctx, c.Demand, m.GetNamespaceKey(), service.ChangeFilter{
		Kind: change.Kind(m.GetKind()), Key: m.GetKey(), Actor: m.GetActor(), Since: since, Until: until,
		First: m.GetFirstRevision(), Last: m.GetLastRevision(),
		Message: m.GetMessage(), Reason: change.ReasonKind(m.GetReason()),
		Limit: m.GetLimit(), PageToken: m.GetPageToken(),
	})
	if err != nil {
		return call.Response{State: state}, err
	}
	list := &changeList{changes, next, m}
	list.cut()
	if request.Pieces {
		return call.Response{State: state, Answer: call.Whole{InPieces: list}}, nil
	}
	return call.Response{
		State:   state,
		Message: &guidonv1.ListChangesResponse{Changes: lists.Map(list.records, list.convert), NextPageToken: list.next},
	}, nil
}

// changeList is a page of changes whose objects become messages one by one: they take many
// times as much memory as their JSON.
type changeList struct {
	records []*change.Record
	next    string // the token of the next page
	request *guidonv1.ListChangesRequest
}

// cut ends the page before it becomes too large.
func (l *changeList) cut() {
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
		l.records, l.next = l.records[:n], service.ChangesPageToken(l.records[n-1].Cursor())
	}
}

// leavesOut reports whether the objects of the record are left out.
func (l *changeList) leavesOut(r *change.Record) bool {
	largest := int(l.request.GetMaxObjectBytes())
	return largest > 0 && len(r.Before)+len(r.After) > largest
}

func (l *changeList) convert(r *change.Record) *guidonv1.Change {
	if l.leavesOut(r) {
		return convert.NamedChange(r)
	}
	return convert.Change(r)
}

// WriteJSON implements [call.InPieces].
func (l *changeList) WriteJSON(out io.Writer, pretty bool) error {
	w := codec.NewObjectWriter(out, pretty)
	codec.WriteList(w, "changes", slices.Values(l.records), l.convert)
	w.Text("nextPageToken", l.next)
	return w.End()
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
