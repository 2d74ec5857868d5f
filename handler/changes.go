package handler

import (
	"context"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

func (h *Handler) listChanges(ctx context.Context, c *call, m *guidonv1.ListChangesRequest, request *Request) (Response, error) {
	since, err := convert.Instant("since", m.GetSince())
	if err != nil {
		return Response{}, err
	}
	until, err := convert.Instant("until", m.GetUntil())
	if err != nil {
		return Response{}, err
	}
	if request.pieces { // the size of the records is unknown until they are read
		if err := request.reserve(ctx, maxPage); err != nil {
			return Response{}, err
		}
	}
	changes, next, state, err := h.service.ListChanges(ctx, c.demand, m.GetNamespaceKey(), service.ChangeFilter{
		Kind: change.Kind(m.GetKind()), Key: m.GetKey(), Actor: m.GetActor(), Since: since, Until: until,
		Limit: m.GetLimit(), PageToken: m.GetPageToken(),
	})
	if err != nil {
		return Response{State: state}, err
	}
	n, weight := fitting(changes, changeWeight)
	if n < len(changes) {
		changes, next = changes[:n], service.ChangesPageToken(changes[n-1].Cursor())
	}
	if request.pieces {
		if err := request.reserve(ctx, int64(weight)); err != nil {
			return Response{State: state}, err
		}
	}
	return Response{State: state, Message: &guidonv1.ListChangesResponse{Changes: convert.All(changes, wireChange), NextPageToken: next}}, nil
}

func wireChange(c *change.Record) *guidonv1.Change {
	return &guidonv1.Change{
		NamespaceKey: c.Namespace, Revision: c.Revision, Sequence: c.Sequence,
		Kind: string(c.Kind), Key: c.Key, Action: string(c.Action),
		Actor: &guidonv1.Actor{Id: c.Actor.ID, Name: c.Actor.Name, Method: c.Actor.Method},
		At:    convert.Timestamp(c.At), RequestId: c.RequestID,
		Before: convert.Object(c.Before), After: convert.Object(c.After),
	}
}
