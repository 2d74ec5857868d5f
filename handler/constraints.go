package handler

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

func (h *Handler) createConstraint(ctx context.Context, m *flipt.CreateConstraintRequest) (*flipt.Constraint, error) {
	c, err := h.service.CreateConstraint(ctx, m.GetNamespaceKey(), constraintOf(m))
	return answer(c, err, wireConstraint(namespaceOf(m), m.GetSegmentKey()))
}

func (h *Handler) updateConstraint(ctx context.Context, m *flipt.UpdateConstraintRequest) (*flipt.Constraint, error) {
	in := constraintOf(m)
	in.ID = m.GetId()
	c, err := h.service.UpdateConstraint(ctx, m.GetNamespaceKey(), in)
	return answer(c, err, wireConstraint(namespaceOf(m), m.GetSegmentKey()))
}

func (h *Handler) deleteConstraint(ctx context.Context, m *flipt.DeleteConstraintRequest) (*emptypb.Empty, error) {
	return done(h.service.DeleteConstraint(ctx, m.GetNamespaceKey(), m.GetSegmentKey(), m.GetId()))
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
		SegmentKey: m.GetSegmentKey(), Type: enum[guidon.ComparisonType](m.GetType()),
		Property: m.GetProperty(), Operator: m.GetOperator(), Value: m.GetValue(), Description: m.GetDescription(),
	}
}

func wireConstraint(namespace, segmentKey string) func(*guidon.Constraint) *flipt.Constraint {
	return func(c *guidon.Constraint) *flipt.Constraint {
		return &flipt.Constraint{
			Id: c.ID, SegmentKey: segmentKey, Type: flipt.ComparisonType(c.Type),
			Property: c.Property, Operator: c.Operator, Value: c.Value,
			CreatedAt: timestamp(c.CreatedAt), UpdatedAt: timestamp(c.UpdatedAt),
			NamespaceKey: namespace, Description: c.Description,
		}
	}
}
