package management

import (
	"context"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// ListChanges lists the changes of a namespace, newest first.
func ListChanges(ctx context.Context, s *service.Service, c *call.Call, m *guidonv1.ListChangesRequest, request *call.Request) (call.Response, error) {
	since, err := convert.Instant("since", m.GetSince())
	if err != nil {
		return call.Response{}, err
	}
	until, err := convert.Instant("until", m.GetUntil())
	if err != nil {
		return call.Response{}, err
	}
	if request.Pieces { // the size of the records is unknown until they are read
		if err := request.Reserve(ctx, convert.MaxPage); err != nil {
			return call.Response{}, err
		}
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
	n, weight := convert.Fitting(changes, convert.Weight[change.Record]())
	if n < len(changes) {
		changes, next = changes[:n], service.ChangesPageToken(changes[n-1].Cursor())
	}
	if request.Pieces {
		if err := request.Reserve(ctx, int64(weight)); err != nil {
			return call.Response{State: state}, err
		}
	}
	changeIn := func(r *change.Record) *guidonv1.Change { return convert.ChangeIn(convert.Words(m), r) }
	return call.Response{State: state, Message: &guidonv1.ListChangesResponse{Changes: convert.All(changes, changeIn), NextPageToken: next}}, nil
}

// LatestChanges returns who last changed each of some flags or segments, and when.
func LatestChanges(ctx context.Context, s *service.Service, c *call.Call, m *guidonv1.LatestChangesRequest, request *call.Request) (call.Response, error) {
	if request.Pieces { // as for ListChanges
		if err := request.Reserve(ctx, convert.MaxPage); err != nil {
			return call.Response{}, err
		}
	}
	latest, convertOne := s.LatestChanges, convert.ChangeWithoutObjects
	if m.GetWithoutSummaries() {
		latest, convertOne = s.LatestChangesWithoutObjects, convert.ChangeWithoutSummary
	}
	changes, state, err := latest(ctx, c.Demand, m.GetNamespaceKey(), change.Kind(m.GetKind()), m.GetKeys())
	if err != nil {
		return call.Response{State: state}, err
	}
	return call.Response{State: state, Message: &guidonv1.LatestChangesResponse{Changes: convert.All(changes, convertOne)}}, nil
}
