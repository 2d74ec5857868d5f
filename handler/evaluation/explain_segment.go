package evaluation

import (
	"context"

	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// CheckExplainSegment checks a request to explain who belongs to a segment.
func CheckExplainSegment(q *guidonv1.ExplainSegmentRequest) error {
	return service.CheckExplain(q.GetKey(), entityOf(q))
}

// ExplainSegment compares an entity with the constraints of a segment.
func ExplainSegment(_ context.Context, view service.View, m *guidonv1.ExplainSegmentRequest) (*guidonv1.ExplainSegmentResponse, error) {
	var edited *service.DocumentSegment
	if m.GetSegment() != nil {
		edited = convert.DocumentSegmentOf(m.GetSegment())
	}
	e, err := view.ExplainSegment(m.GetKey(), edited, entityOf(m))
	if err != nil {
		return nil, err
	}
	w := &explanation{left: maxExplained}
	return &guidonv1.ExplainSegmentResponse{NamespaceKey: convert.NamespaceOf(m), EntityId: m.GetEntityId(), Segment: w.segment(e)}, nil
}
