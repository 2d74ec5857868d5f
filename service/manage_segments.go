package service

import (
	"cmp"
	"context"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// CreateSegment creates a segment with the key, name, description and match type of in. It returns
// NotFound if the namespace does not exist and InvalidArgument if the key exists already.
func (s *Service) CreateSegment(ctx context.Context, w Write, namespace string, in guidon.Segment) (*guidon.Segment, int64, error) {
	namespace = guidon.NamespaceKey(namespace)
	if err := cmp.Or(checkNewKey(in.Key, in.Name), checkEnum("matchType", in.MatchType)); err != nil {
		return nil, 0, err
	}
	return createObject(ctx, s, w, namespace, segmentObjects, in.Key, func(now time.Time) *guidon.Segment {
		return &guidon.Segment{
			Key: in.Key, Name: in.Name, Description: in.Description, MatchType: in.MatchType, CreatedAt: now, UpdatedAt: now,
		}
	})
}

// UpdateSegment replaces name, description and match type by those of in. It returns NotFound if
// the segment does not exist.
func (s *Service) UpdateSegment(ctx context.Context, w Write, namespace string, in guidon.Segment) (*guidon.Segment, int64, error) {
	namespace = guidon.NamespaceKey(namespace)
	if err := cmp.Or(requireAll(field{"key", in.Key}, field{"name", in.Name}), checkEnum("matchType", in.MatchType)); err != nil {
		return nil, 0, err
	}
	return updateObject(ctx, s, w, namespace, segmentObjects, in.Key, segmentNotFound(namespace, in.Key),
		func(_ context.Context, tx Tx, g *guidon.Segment) (*guidon.Segment, error) {
			g.Name, g.Description, g.MatchType, g.UpdatedAt = in.Name, in.Description, in.MatchType, tx.Now()
			return g, nil
		})
}

// DeleteSegment deletes a segment with its constraints. It returns InvalidArgument if a
// rule or rollout refers to it. It is not an error if it does not exist.
func (s *Service) DeleteSegment(ctx context.Context, w Write, namespace, key string) (int64, error) {
	namespace = guidon.NamespaceKey(namespace)
	if key == "" {
		return 0, emptyField("key")
	}
	return s.update(ctx, namespace, w, func(ctx context.Context, tx Tx) error {
		p := &patchApplier{tx: tx, namespace: namespace}
		return p.apply(ctx, change.Patch{Delete: change.Keys{Segments: []string{key}}})
	})
}
