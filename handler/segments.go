package handler

import (
	"context"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

func (h *Handler) listSegments(ctx context.Context, m *flipt.ListSegmentRequest, request *Request) (Response, error) {
	requested := pageOf(m)
	segments, page, err := h.service.ListSegments(ctx, m.GetNamespaceKey(), requested)
	if err != nil {
		return Response{}, err
	}
	list := listing[*guidon.Segment, *flipt.Segment]{field: "segments", items: segments, page: page, convert: wireSegment(m)}
	list.cut(requested, func(g *guidon.Segment) string { return g.Key }, segmentWeight(namespaceOf(m)))
	return list.answer(h, request, func(segments []*flipt.Segment) proto.Message {
		return &flipt.SegmentList{Segments: segments, NextPageToken: list.page.NextToken, TotalCount: count(page.Total)}
	}), nil
}

func (h *Handler) createSegment(ctx context.Context, m *flipt.CreateSegmentRequest) (*flipt.Segment, error) {
	g, err := h.service.CreateSegment(ctx, m.GetNamespaceKey(), segmentOf(m))
	return answer(g, err, wireSegment(m))
}

func (h *Handler) getSegment(ctx context.Context, m *flipt.GetSegmentRequest) (*flipt.Segment, error) {
	g, err := h.service.GetSegment(ctx, m.GetNamespaceKey(), m.GetKey())
	return answer(g, err, wireSegment(m))
}

func (h *Handler) updateSegment(ctx context.Context, m *flipt.UpdateSegmentRequest) (*flipt.Segment, error) {
	g, err := h.service.UpdateSegment(ctx, m.GetNamespaceKey(), segmentOf(m))
	return answer(g, err, wireSegment(m))
}

func (h *Handler) deleteSegment(ctx context.Context, m *flipt.DeleteSegmentRequest) (*emptypb.Empty, error) {
	return done(h.service.DeleteSegment(ctx, m.GetNamespaceKey(), m.GetKey()))
}

// segmentOf converts a request that creates or updates a segment.
func segmentOf(m interface {
	GetKey() string
	GetName() string
	GetDescription() string
	GetMatchType() flipt.MatchType
}) service.SegmentInput {
	return service.SegmentInput{
		Key: m.GetKey(), Name: m.GetName(), Description: m.GetDescription(),
		MatchType: enum[guidon.MatchType](m.GetMatchType()),
	}
}

// wireSegment returns a function that converts segments of the request's namespace.
func wireSegment(m inNamespace) func(*guidon.Segment) *flipt.Segment {
	namespace := namespaceOf(m)
	return func(g *guidon.Segment) *flipt.Segment {
		return &flipt.Segment{
			Key: g.Key, Name: g.Name, Description: g.Description,
			CreatedAt: timestamp(g.CreatedAt), UpdatedAt: timestamp(g.UpdatedAt),
			Constraints: convertAll(g.Constraints, wireConstraint(namespace, g.Key)),
			MatchType:   flipt.MatchType(g.MatchType), NamespaceKey: namespace,
		}
	}
}
