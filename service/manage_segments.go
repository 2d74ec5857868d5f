package service

import (
	"context"
	"slices"

	"github.com/guidonhq/guidon"
)

// SegmentInput holds the arguments to create or update a segment.
type SegmentInput struct {
	Key         string
	Name        string
	Description string
	MatchType   guidon.MatchType
}

// ListSegments returns a page of the namespace's segments, in creation order. A
// namespace that does not exist has none.
func (s *Service) ListSegments(ctx context.Context, namespace string, request PageRequest) ([]*guidon.Segment, Page, error) {
	if err := request.validate(); err != nil {
		return nil, Page{}, err
	}
	snapshot, err := s.viewOrEmpty(ctx, guidon.NamespaceKey(namespace))
	if err != nil {
		return nil, Page{}, err
	}
	return paginate(snapshot.Segments(), request, func(g *guidon.Segment) string { return g.Key })
}

// GetSegment returns the segment. It returns NotFound if it does not exist.
func (s *Service) GetSegment(ctx context.Context, namespace, key string) (*guidon.Segment, error) {
	namespace = guidon.NamespaceKey(namespace)
	if key == "" {
		return nil, emptyField("key")
	}
	snapshot, err := s.viewOrEmpty(ctx, namespace)
	if err != nil {
		return nil, err
	}
	if g := snapshot.Segment(key); g != nil {
		return g, nil
	}
	return nil, segmentNotFound(namespace, key)
}

// CreateSegment creates a segment. It returns NotFound if the namespace does not exist
// and InvalidArgument if the key exists already.
func (s *Service) CreateSegment(ctx context.Context, namespace string, in SegmentInput) (*guidon.Segment, error) {
	namespace = guidon.NamespaceKey(namespace)
	if err := checkNewKey(in.Key, in.Name); err != nil {
		return nil, err
	}
	if err := checkEnum("matchType", in.MatchType); err != nil {
		return nil, err
	}
	var created *guidon.Segment
	err := s.update(ctx, namespace, func(ctx context.Context, tx Tx) error {
		if err := mustBeFree(ctx, tx.Segment, "segment", namespace, in.Key); err != nil {
			return err
		}
		if _, err := existingNamespace(ctx, tx, namespace); err != nil {
			return err
		}
		created = &guidon.Segment{
			Key: in.Key, Name: in.Name, Description: in.Description, MatchType: in.MatchType,
			CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
		}
		return tx.PutSegment(ctx, created)
	})
	return orNil(created, err)
}

// UpdateSegment replaces name, description and match type. It returns NotFound if the
// segment does not exist.
func (s *Service) UpdateSegment(ctx context.Context, namespace string, in SegmentInput) (*guidon.Segment, error) {
	namespace = guidon.NamespaceKey(namespace)
	if err := requireAll(field{"key", in.Key}, field{"name", in.Name}); err != nil {
		return nil, err
	}
	if err := checkEnum("matchType", in.MatchType); err != nil {
		return nil, err
	}
	var updated *guidon.Segment
	err := s.updateSegment(ctx, namespace, in.Key, segmentNotFound(namespace, in.Key), func(tx Tx, g *guidon.Segment) error {
		g.Name, g.Description, g.MatchType, g.UpdatedAt = in.Name, in.Description, in.MatchType, tx.Now()
		updated = g
		return nil
	})
	return orNil(updated, err)
}

// DeleteSegment deletes a segment with its constraints. It returns InvalidArgument if a
// rule or rollout refers to it. It is not an error if it does not exist.
func (s *Service) DeleteSegment(ctx context.Context, namespace, key string) error {
	namespace = guidon.NamespaceKey(namespace)
	if key == "" {
		return emptyField("key")
	}
	return s.update(ctx, namespace, func(ctx context.Context, tx Tx) error {
		flags, err := tx.Flags(ctx)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(flags, func(f *guidon.Flag) bool { return f.UsesAny(map[string]bool{key: true}) }) {
			return guidon.Errorf(guidon.InvalidArgument, "segment %q is in use", namespace+"/"+key)
		}
		return tx.DeleteSegment(ctx, key)
	})
}
