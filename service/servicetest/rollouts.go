package servicetest

import (
	"context"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// rolloutInput sets what a rollout has: the segments, if it is one of segments, or else a
// threshold. It reports whether the segments exist.
func (m *model) rolloutInput(now *state, in *service.RolloutInput, r *guidon.Rollout, ofSegments bool) (exist bool) {
	in.Description = m.text()
	r.Description, r.Segment, r.Threshold = in.Description, nil, nil
	if !ofSegments {
		r.Threshold = &guidon.RolloutThreshold{Percentage: m.percentage(), Value: m.one(2)}
		in.Threshold = &guidon.RolloutThreshold{Percentage: r.Threshold.Percentage, Value: r.Threshold.Value}
		return true
	}
	keys, operator, exist := m.segmentKeys(now)
	in.Segment = &service.RolloutSegmentInput{SegmentKeys: keys, SegmentOperator: operator, Value: m.one(2)}
	r.Segment = &guidon.RolloutSegment{SegmentKeys: keys, SegmentOperator: operator, Value: in.Segment.Value}
	return exist
}

func (m *model) createRollout(now *state, f *guidon.Flag) (verdict, call) {
	v, in := changes, service.RolloutInput{FlagKey: f.Key, Rank: m.random.Int32N(5)}
	created := &guidon.Rollout{ID: newID, Rank: in.Rank}
	if !m.rolloutInput(now, &in, created, m.one(2)) {
		v = notFound
	}
	at := 0
	for at < len(f.Rollouts) && f.Rollouts[at].Rank < in.Rank {
		at++
	}
	if at < len(f.Rollouts) && f.Rollouts[at].Rank == in.Rank {
		v = invalid
	}
	f.Rollouts = slices.Insert(f.Rollouts, at, created)
	return v, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return revisionOf(m.service.CreateRollout(ctx, w, namespace, in))
	}
}

func (m *model) updateRollout(now *state, f *guidon.Flag) (verdict, call) {
	v, r := changes, pickOr(m, f.Rollouts, &guidon.Rollout{ID: "none"})
	in := service.RolloutInput{ID: r.ID, FlagKey: f.Key}
	same, ofSegments := !m.one(6), r.Segment != nil
	exist := m.rolloutInput(now, &in, r, ofSegments == same)
	switch {
	case r.ID == "none":
		v = notFound
	case !same:
		v = invalid
	case !exist:
		v = notFound
	}
	return v, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return revisionOf(m.service.UpdateRollout(ctx, w, namespace, in))
	}
}

func (m *model) orderRollouts(_ *state, f *guidon.Flag) (verdict, call) {
	v, ids := orderItems(m, f.Rollouts, rolloutID, rolloutRank)
	return v, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return m.service.OrderRollouts(ctx, w, namespace, f.Key, ids)
	}
}

func (m *model) deleteRollout(_ *state, f *guidon.Flag) (v verdict, c call) {
	var id string
	v, id, f.Rollouts = removeItem(m, f.Rollouts, rolloutID, rolloutRank)
	return v, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return m.service.DeleteRollout(ctx, w, namespace, f.Key, id)
	}
}

// isOff reports whether the first rollout gives false to everybody.
func isOff(f *guidon.Flag) bool {
	return len(f.Rollouts) > 0 && f.Rollouts[0].Threshold != nil && f.Rollouts[0].Threshold.Percentage == 100 && !f.Rollouts[0].Threshold.Value
}

func (m *model) turnFlagOff(_ *state, f *guidon.Flag) (verdict, call) {
	v := changes
	switch {
	case f.Type != guidon.BooleanFlag:
		v = invalid
	case isOff(f):
		v = unchanged
	default:
		putOffFirst(f)
	}
	return v, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return revisionOf(m.service.TurnFlagOff(ctx, w, namespace, f.Key, nil))
	}
}

// putOffFirst puts the rollout that turns the flag off before the others.
func putOffFirst(f *guidon.Flag) {
	off := &guidon.Rollout{ID: newID, Rank: 1, Description: service.OffDescription, Threshold: &guidon.RolloutThreshold{Percentage: 100}}
	if len(f.Rollouts) > 0 {
		off.Rank = max(f.Rollouts[0].Rank-1, 0)
	}
	f.Rollouts = slices.Insert(f.Rollouts, 0, off)
	for i := 1; i < len(f.Rollouts) && f.Rollouts[i].Rank <= f.Rollouts[i-1].Rank; i++ {
		f.Rollouts[i].Rank = f.Rollouts[i-1].Rank + 1
	}
}

func (m *model) turnFlagOn(_ *state, f *guidon.Flag) (verdict, call) {
	v := changes
	switch {
	case f.Type != guidon.BooleanFlag:
		v = invalid
	case !isOff(f):
		v = unchanged
	case f.Rollouts[0].Description != service.OffDescription:
		v = invalid
	default:
		f.Rollouts = f.Rollouts[1:]
	}
	return v, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return revisionOf(m.service.TurnFlagOn(ctx, w, namespace, f.Key, nil))
	}
}
