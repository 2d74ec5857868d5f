package management

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

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
