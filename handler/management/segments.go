package management

import (
	"context"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// ListSegments lists the segments of a namespace.
func ListSegments(_ context.Context, v service.View, m *flipt.ListSegmentRequest, request *call.Request) (call.Response, error) {
	requested := convert.Page(m)
	segments, page, err := v.Segments(requested)
	if err != nil {
		return call.Response{}, err
	}
	list := listing[*guidon.Segment, *flipt.Segment]{field: "segments", items: segments, page: page, convert: wireSegment(m)}
	_, unreadable := v.Unreadable()
	list.cut(requested, func(g *guidon.Segment) string { return g.Key }, convert.Weight[guidon.Segment](convert.NamespaceOf(m)))
	return list.answer(request, func(segments []*flipt.Segment) proto.Message {
		return &flipt.SegmentList{
			Segments: segments, NextPageToken: list.page.NextToken, TotalCount: convert.Count(page.Total), UnreadableKeys: unreadable,
		}
	}), nil
}

// CreateSegment creates a segment.
func CreateSegment(ctx context.Context, s *service.Service, w service.Write, m *flipt.CreateSegmentRequest) (*flipt.Segment, int64, error) {
	g, revision, err := s.CreateSegment(ctx, w, m.GetNamespaceKey(), segmentOf(m))
	return convert.Changed(g, revision, err, wireSegment(m))
}

// GetSegment returns a segment.
func GetSegment(_ context.Context, v service.View, m *flipt.GetSegmentRequest) (*flipt.Segment, error) {
	g, err := v.Segment(m.GetKey())
	return convert.Result(g, err, wireSegment(m))
}

// UpdateSegment updates a segment.
func UpdateSegment(ctx context.Context, s *service.Service, w service.Write, m *flipt.UpdateSegmentRequest) (*flipt.Segment, int64, error) {
	g, revision, err := s.UpdateSegment(ctx, w, m.GetNamespaceKey(), segmentOf(m))
	return convert.Changed(g, revision, err, wireSegment(m))
}

// DeleteSegment deletes a segment.
func DeleteSegment(ctx context.Context, s *service.Service, w service.Write, m *flipt.DeleteSegmentRequest) (*emptypb.Empty, int64, error) {
	return convert.Done(s.DeleteSegment(ctx, w, m.GetNamespaceKey(), m.GetKey()))
}

// segmentOf converts a request that creates or updates a segment.
func segmentOf(m interface {
	GetKey() string
	GetName() string
	GetDescription() string
	GetMatchType() flipt.MatchType
}) guidon.Segment {
	return guidon.Segment{
		Key: m.GetKey(), Name: m.GetName(), Description: m.GetDescription(),
		MatchType: convert.Enum[guidon.MatchType](m.GetMatchType()),
	}
}

// wireSegment returns a function that converts segments of the request's namespace.
func wireSegment(m convert.InNamespace) func(*guidon.Segment) *flipt.Segment {
	namespace := convert.NamespaceOf(m)
	return func(g *guidon.Segment) *flipt.Segment {
		return &flipt.Segment{
			Key: g.Key, Name: g.Name, Description: g.Description,
			CreatedAt: convert.Timestamp(g.CreatedAt), UpdatedAt: convert.Timestamp(g.UpdatedAt),
			Constraints: lists.Map(g.Constraints, wireConstraint(namespace, g.Key)),
			MatchType:   flipt.MatchType(g.MatchType), NamespaceKey: namespace,
		}
	}
}

// CreateConstraint creates a constraint.
func CreateConstraint(
	ctx context.Context, s *service.Service, w service.Write, m *flipt.CreateConstraintRequest,
) (*flipt.Constraint, int64, error) {
	in := constraintOf(m)
	in.Negate = &m.Negate
	c, revision, err := s.CreateConstraint(ctx, w, m.GetNamespaceKey(), in)
	return convert.Changed(c, revision, err, wireConstraint(convert.NamespaceOf(m), m.GetSegmentKey()))
}

// UpdateConstraint updates a constraint.
func UpdateConstraint(
	ctx context.Context, s *service.Service, w service.Write, m *flipt.UpdateConstraintRequest,
) (*flipt.Constraint, int64, error) {
	in := constraintOf(m)
	in.ID, in.Negate = m.GetId(), m.Negate
	c, revision, err := s.UpdateConstraint(ctx, w, m.GetNamespaceKey(), in)
	return convert.Changed(c, revision, err, wireConstraint(convert.NamespaceOf(m), m.GetSegmentKey()))
}

// DeleteConstraint deletes a constraint.
func DeleteConstraint(
	ctx context.Context, s *service.Service, w service.Write, m *flipt.DeleteConstraintRequest,
) (*emptypb.Empty, int64, error) {
	return convert.Done(s.DeleteConstraint(ctx, w, m.GetNamespaceKey(), m.GetSegmentKey(), m.GetId()))
}

// constraintOf returns the input that requests to create and to update have in common.
func constraintOf(m interface {
	GetSegmentKey() string
	GetType() flipt.ComparisonType
	GetProperty() string
	GetOperator() string
	GetValue() string
	GetDescription() string
}) service.ConstraintInput {
	return service.ConstraintInput{
		SegmentKey: m.GetSegmentKey(), Type: convert.Enum[guidon.ComparisonType](m.GetType()),
		Property: m.GetProperty(), Operator: m.GetOperator(), Value: m.GetValue(), Description: m.GetDescription(),
	}
}

func wireConstraint(namespace, segmentKey string) func(*guidon.Constraint) *flipt.Constraint {
	return func(c *guidon.Constraint) *flipt.Constraint {
		return &flipt.Constraint{
			Id: c.ID, SegmentKey: segmentKey, Type: flipt.ComparisonType(c.Type),
			Property: c.Property, Operator: c.Operator, Value: c.Value,
			CreatedAt: convert.Timestamp(c.CreatedAt), UpdatedAt: convert.Timestamp(c.UpdatedAt),
			NamespaceKey: namespace, Description: c.Description, Negate: c.Negate,
		}
	}
}
