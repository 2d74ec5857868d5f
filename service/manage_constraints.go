package service

import (
	"context"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
)

// ConstraintInput holds the arguments to create or update a constraint.
type ConstraintInput struct {
	ID          string // on update only
	SegmentKey  string
	Type        guidon.ComparisonType
	Property    string
	Operator    string // case-insensitive
	Value       string
	Description string
	Negate      *bool // nil if the request does not state it
}

// errNegateNotStated is the error of an update by a client that does not know negation: it would
// turn the constraint into its opposite.
var errNegateNotStated = guidon.Errorf(guidon.FailedPrecondition, "the constraint is negated, which this request does not state; set negate")

// CreateConstraint adds a constraint to a segment (contract 4.3). It returns NotFound
// if the segment does not exist.
func (s *Service) CreateConstraint(ctx context.Context, w Write, namespace string, in ConstraintInput) (*guidon.Constraint, int64, error) {
	namespace = guidon.NamespaceKey(namespace)
	checked, err := in.check()
	if err != nil {
		return nil, 0, err
	}
	return updateObject(ctx, s, w, namespace, segmentObjects, in.SegmentKey, segmentNotFound(namespace, in.SegmentKey),
		func(_ context.Context, tx Tx, g *guidon.Segment) (*guidon.Constraint, error) {
			c := checked
			c.ID, c.CreatedAt, c.UpdatedAt = NewID(), tx.Now(), tx.Now()
			g.Constraints = append(g.Constraints, &c)
			return &c, nil
		})
}

// UpdateConstraint replaces all fields of a constraint. It returns NotFound if the
// constraint or its segment does not exist, and FailedPrecondition if the constraint is
// negated and the input does not state Negate.
func (s *Service) UpdateConstraint(ctx context.Context, w Write, namespace string, in ConstraintInput) (*guidon.Constraint, int64, error) {
	if in.ID == "" {
		return nil, 0, emptyField("id")
	}
	checked, err := in.check()
	if err != nil {
		return nil, 0, err
	}
	missing := guidon.Errorf(guidon.NotFound, "constraint %q not found", in.ID)
	return updateObject(ctx, s, w, guidon.NamespaceKey(namespace), segmentObjects, in.SegmentKey, missing,
		func(_ context.Context, tx Tx, g *guidon.Segment) (*guidon.Constraint, error) {
			stored := g.Constraint(in.ID)
			if stored == nil {
				return nil, missing
			}
			if stored.Negate && in.Negate == nil {
				return nil, errNegateNotStated
			}
			c := checked
			c.ID, c.CreatedAt, c.UpdatedAt = stored.ID, stored.CreatedAt, tx.Now()
			*stored = c
			return stored, nil
		})
}

// DeleteConstraint deletes a constraint. It is not an error if it does not exist.
func (s *Service) DeleteConstraint(ctx context.Context, w Write, namespace, segmentKey, id string) (int64, error) {
	if err := requireAll(field{"id", id}, field{"segmentKey", segmentKey}); err != nil {
		return 0, err
	}
	return changeParts(ctx, s, w, namespace, segmentObjects, segmentKey, func(g *guidon.Segment, _ time.Time) bool {
		before := len(g.Constraints)
		g.Constraints = slices.DeleteFunc(g.Constraints, func(c *guidon.Constraint) bool { return c.ID == id })
		return len(g.Constraints) < before
	})
}
