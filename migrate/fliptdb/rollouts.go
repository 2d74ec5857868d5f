package fliptdb

import (
	"context"

	"github.com/guidonhq/guidon"
)

func isPercentage(percent float64) bool { return percent >= 0 && percent <= 100 }

func readRollouts(ctx context.Context, r *reader, a *assembly) error {
	var rollout guidon.Rollout
	var in ref
	var rank, kind int64
	fields := []any{
		zero(&rollout.ID), zero(&in.namespace), zero(&in.key), zero(&kind), zero(&rollout.Description), zero(&rank),
		instant{&rollout.CreatedAt}, instant{&rollout.UpdatedAt},
	}
	const columns = "id namespace_key flag_key type description? rank created_at updated_at"
	return r.each(ctx, a, "rollouts", columns, fields, func() string { return "rollouts " + rollout.ID }, func(row string) {
		f := a.flags[in]
		switch {
		case f == nil:
			a.skip(row, "its flag %q is not imported", in.key)
		case kind != int64(guidon.SegmentRollout) && kind != int64(guidon.ThresholdRollout):
			a.skip(row, "rollout type %d is unknown", kind)
		case rank < minRank || rank > maxRank:
			a.skip(row, "rank %d is out of range", rank)
		default:
			added := rollout
			added.Rank = int32(rank)
			a.rollouts[rollout.ID] = &ownedRollout{&added, in, guidon.RolloutType(kind)} // #nosec G115 -- checked above
			f.Rollouts = append(f.Rollouts, &added)
		}
	})
}

func readThresholds(ctx context.Context, r *reader, a *assembly) error {
	var id, rolloutID string
	var percentage float64
	var value bool
	fields := []any{zero(&id), zero(&rolloutID), zero(&percentage), zero(&value)}
	nameOf := func() string { return "rollout_thresholds " + id }
	return r.each(ctx, a, "rollout_thresholds", "id rollout_id percentage value", fields, nameOf, func(row string) {
		rollout := a.rollouts[rolloutID]
		switch {
		case rollout == nil:
			a.skip(row, "its rollout is not imported")
		case rollout.kind != guidon.ThresholdRollout || rollout.Threshold != nil:
			a.skip(row, "rollout %q has a different type, or already has a threshold", rolloutID)
		case !isPercentage(percentage):
			a.skip(row, "percentage %v is not between 0 and 100", percentage)
		default:
			rollout.Threshold = &guidon.RolloutThreshold{Percentage: float32(percentage), Value: value}
		}
	})
}

func readRolloutSegments(ctx context.Context, r *reader, a *assembly) error {
	var id, rolloutID string
	var value bool
	var operator int64
	fields := []any{zero(&id), zero(&rolloutID), zero(&value), zero(&operator)}
	nameOf := func() string { return "rollout_segments " + id }
	err := r.each(ctx, a, "rollout_segments", "id rollout_id value segment_operator", fields, nameOf, func(row string) {
		rollout := a.rollouts[rolloutID]
		switch {
		case rollout == nil:
			a.skip(row, "its rollout is not imported")
		case rollout.kind != guidon.SegmentRollout || rollout.Segment != nil:
			a.skip(row, "rollout %q has a different type, or already has segments", rolloutID)
		case !knownOperator(operator):
			a.skip(row, "segment operator %d is unknown", operator)
		default:
			rollout.Segment = &guidon.RolloutSegment{Value: value, SegmentOperator: guidon.SegmentOperator(operator)} // #nosec G115 -- checked above
			a.rolloutByRow[id] = rollout
		}
	})
	if err != nil {
		return err
	}
	return readRolloutReferences(ctx, r, a)
}

func readRolloutReferences(ctx context.Context, r *reader, a *assembly) error {
	var id string
	var segment ref
	fields := []any{zero(&segment.key), zero(&id), zero(&segment.namespace)}
	nameOf := func() string { return "rollout_segment_references " + id + " " + segment.key }
	return r.each(ctx, a, "rollout_segment_references", "segment_key rollout_segment_id namespace_key", fields, nameOf, func(row string) {
		rollout := a.rolloutByRow[id]
		switch {
		case rollout == nil:
			a.skip(row, "its rollout is not imported")
		case a.segments[segment] == nil || segment.namespace != rollout.owner.namespace:
			a.skip(row, "its segment is not imported, or is in a different namespace than its rollout")
		default:
			rollout.Segment.SegmentKeys = append(rollout.Segment.SegmentKeys, segment.key)
		}
	})
}
