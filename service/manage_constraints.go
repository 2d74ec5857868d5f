package service

import (
	"context"
	"slices"

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
}

// CreateConstraint adds a constraint to a segment (contract 4.3). It returns NotFound
// if the segment does not exist.
func (s *Service) CreateConstraint(ctx context.Context, w Write, namespace string, in ConstraintInput) (*guidon.Constraint, int64, error) {
	namespace = guidon.NamespaceKey(namespace)
	checked, err := in.check()
	if err != nil {
		return nil, 0, err
	}
	var created *guidon.Constraint
	revision, err := s.updateSegment(ctx, w, namespace, in.SegmentKey, segmentNotFound(namespace, in.SegmentKey),
		func(tx Tx, g *guidon.Segment) error {
			c := checked
			c.ID, c.CreatedAt, c.UpdatedAt = NewID(), tx.Now(), tx.Now()
			created = &c
			g.Constraints = append(g.Constraints, created)
			return nil
		})
	return orNil(created, revision, err)
}

// UpdateConstraint replaces all fields of a constraint. It returns NotFound if the
// constraint or its segment does not exist.
func (s *Service) UpdateConstraint(ctx context.Context, w Write, namespace string, in ConstraintInput) (*guidon.Constraint, int64, error) {
	if in.ID == "" {
		return nil, 0, emptyField("id")
	}
	checked, err := in.check()
	if err != nil {
		return nil, 0, err
	}
	missing := guidon.Errorf(guidon.NotFound, "constraint %q not found", in.ID)
	var updated *guidon.Constraint
	revision, err := s.updateSegment(ctx, w, guidon.NamespaceKey(namespace), in.SegmentKey, missing, func(tx Tx, g *guidon.Segment) error {
		stored := g.Constraint(in.ID)
		if stored == nil {
			return missing
		}
		c := checked
		c.ID, c.CreatedAt, c.UpdatedAt = stored.ID, stored.CreatedAt, tx.Now()
		*stored = c
		updated = stored
		return nil
	})
	return orNil(updated, revision, err)
}

// DeleteConstraint deletes a constraint. It is not an error if it does not exist.
func (s *Service) DeleteConstraint(ctx context.Context, w Write, namespace, segmentKey, id string) (int64, error) {
	if err := requireAll(field{"id", id}, field{"segmentKey", segmentKey}); err != nil {
		return 0, err
	}
	return ignoreUnchanged(s.updateSegment(ctx, w, guidon.NamespaceKey(namespace), segmentKey, errUnchanged,
		func(_ Tx, g *guidon.Segment) error {
			if g.Constraint(id) == nil {
				return errUnchanged
			}
			g.Constraints = slices.DeleteFunc(g.Constraints, func(c *guidon.Constraint) bool { return c.ID == id })
			return nil
		}))
}
