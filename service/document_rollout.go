package service

import (
	"fmt"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
)

// DocumentRollout sets the value of a boolean flag for some entities. Exactly one of
// Segment and Threshold is set. Its rank is its position in the list.
type DocumentRollout struct {
	Description string
	Segment     *guidon.RolloutSegment
	Threshold   *guidon.RolloutThreshold
	*guidon.Conditions
}

func (r *DocumentRollout) normalize(p *problems, segments map[string]bool) *DocumentRollout {
	in := RolloutInput{Description: r.Description, Threshold: r.Threshold, Conditions: r.Conditions}
	if r.Segment != nil {
		in.Segment = &RolloutSegmentInput{
			SegmentKeys: r.Segment.SegmentKeys, SegmentOperator: r.Segment.SegmentOperator, Value: r.Segment.Value,
		}
	}
	switch {
	case in.Segment != nil && in.Threshold != nil:
		p.add(invalidField("segment or threshold", "only one can be present"))
	case in.Segment == nil && in.Threshold == nil:
		p.add(guidon.Errorf(guidon.InvalidArgument, "rollout rule is missing"))
	}
	checked, err := in.check()
	p.add(err)
	p.add(checkTexts(field{"description", r.Description}))
	p.segments(&guidon.Flag{Rollouts: []*guidon.Rollout{checked}}, segments)
	return documentRollout(checked)
}

func documentRollout(r *guidon.Rollout) *DocumentRollout {
	return (&DocumentRollout{Description: r.Description, Segment: r.Segment, Threshold: r.Threshold, Conditions: r.Conditions}).clone()
}

// clone returns a deep copy of r.
func (r *DocumentRollout) clone() *DocumentRollout {
	out := &DocumentRollout{Description: r.Description, Threshold: cloneOf(r.Threshold), Conditions: r.Conditions.Clone()}
	if r.Segment != nil {
		segment := *r.Segment
		segment.SegmentKeys = slices.Clone(segment.SegmentKeys)
		out.Segment = &segment
	}
	if r.Threshold != nil {
		out.Threshold.Split, out.Threshold.Ramp = cloneOf(r.Threshold.Split), r.Threshold.Ramp.Clone()
	}
	return out
}

func mergeRollouts(have *guidon.Flag, want *DocumentFlag, now time.Time) []*guidon.Rollout {
	old := NewDocumentFlag(have).Rollouts
	var out []*guidon.Rollout
	for i, from := range pair(want.Rollouts, old, rolloutKeys) {
		w := want.Rollouts[i]
		r := &guidon.Rollout{ID: NewID(), CreatedAt: now, UpdatedAt: now}
		rank := int32(i + 1) // #nosec G115 -- bounded by the size of a document
		if from >= 0 {
			*r = *have.Rollouts[from]
			if r.Rank != rank || !sameContent(old[from], w, rolloutKeys) {
				r.UpdatedAt = now
			}
		}
		content := w.clone() // w is in the result of the import
		r.Rank, r.Description, r.Segment, r.Threshold = rank, content.Description, content.Segment, content.Threshold
		r.Conditions = content.Conditions
		out = append(out, r)
	}
	return out
}

// rolloutKeys are the keys by which rollouts are paired, the most specific first. The first is
// the whole content.
var rolloutKeys = []func(r *DocumentRollout) string{
	func(r *DocumentRollout) string {
		if s := r.Segment; s != nil {
			return fmt.Sprintf("%q segment %q %d %t %s", r.Description, s.SegmentKeys, s.SegmentOperator, s.Value, contentOf(r.Conditions))
		}
		return fmt.Sprintf("%q threshold %s", r.Description, contentOf(r.Threshold, r.Conditions))
	},
	func(r *DocumentRollout) string {
		if r.Segment != nil {
			return fmt.Sprintf("segment %q", r.Segment.SegmentKeys)
		}
		return "threshold"
	},
	// The kind of a rollout never changes (contract 4.5).
	func(r *DocumentRollout) string { return fmt.Sprint(r.Segment != nil) },
}
