package management

import (
	"context"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

// ListRollouts lists the rollouts of a flag.
func ListRollouts(_ context.Context, v service.View, m *flipt.ListRolloutRequest, request *call.Request) (call.Response, error) {
	requested := convert.Page(m)
	rollouts, page, err := v.Rollouts(m.GetFlagKey(), requested)
	if err != nil {
		return call.Response{}, err
	}
	list := listing[*guidon.Rollout, *flipt.Rollout]{
		field: "rules", items: rollouts, page: page, convert: wireRollout(convert.NamespaceOf(m), m.GetFlagKey()),
	}
	list.cut(requested, func(r *guidon.Rollout) string { return r.ID }, convert.Weight[guidon.Rollout](convert.NamespaceOf(m), m.GetFlagKey()))
	return list.answer(request, func(rollouts []*flipt.Rollout) proto.Message {
		return &flipt.RolloutList{Rules: rollouts, NextPageToken: list.page.NextToken, TotalCount: convert.Count(page.Total)}
	}), nil
}

// CreateRollout creates a rollout.
func CreateRollout(ctx context.Context, s *service.Service, w service.Write, m *flipt.CreateRolloutRequest) (*flipt.Rollout, int64, error) {
	r, revision, err := s.CreateRollout(ctx, w, m.GetNamespaceKey(), service.RolloutInput{
		FlagKey: m.GetFlagKey(), SegmentKey: segmentKeyOf(m.GetSegment()), Rollout: guidon.Rollout{
			Rank: m.GetRank(), Description: m.GetDescription(),
			Segment: rolloutSegment(m.GetSegment()), Threshold: thresholdInput(m.GetThreshold()),
			Conditions: convert.ConditionsOf(m),
		},
	})
	return convert.Changed(r, revision, err, wireRollout(convert.NamespaceOf(m), m.GetFlagKey()))
}

// OrderRollouts orders the rollouts of a flag.
func OrderRollouts(ctx context.Context, s *service.Service, w service.Write, m *flipt.OrderRolloutsRequest) (*emptypb.Empty, int64, error) {
	return convert.Done(s.OrderRollouts(ctx, w, m.GetNamespaceKey(), m.GetFlagKey(), m.GetRolloutIds()))
}

// GetRollout returns a rollout.
func GetRollout(_ context.Context, v service.View, m *flipt.GetRolloutRequest) (*flipt.Rollout, error) {
	r, flagKey, err := v.Rollout(m.GetFlagKey(), m.GetId())
	return convert.Result(r, err, wireRollout(convert.NamespaceOf(m), flagKey))
}

// UpdateRollout updates a rollout.
func UpdateRollout(ctx context.Context, s *service.Service, w service.Write, m *flipt.UpdateRolloutRequest) (*flipt.Rollout, int64, error) {
	r, revision, err := s.UpdateRollout(ctx, w, m.GetNamespaceKey(), service.RolloutInput{
		FlagKey: m.GetFlagKey(), SegmentKey: segmentKeyOf(m.GetSegment()), Rollout: guidon.Rollout{
			ID: m.GetId(), Description: m.GetDescription(),
			Segment: rolloutSegment(m.GetSegment()), Threshold: thresholdInput(m.GetThreshold()),
			Conditions: convert.ConditionsOf(m),
		},
	})
	return convert.Changed(r, revision, err, wireRollout(convert.NamespaceOf(m), m.GetFlagKey()))
}

// DeleteRollout deletes a rollout.
func DeleteRollout(ctx context.Context, s *service.Service, w service.Write, m *flipt.DeleteRolloutRequest) (*emptypb.Empty, int64, error) {
	return convert.Done(s.DeleteRollout(ctx, w, m.GetNamespaceKey(), m.GetFlagKey(), m.GetId()))
}

func rolloutSegment(m *flipt.RolloutSegment) *guidon.RolloutSegment {
	if m == nil {
		return nil
	}
	return &guidon.RolloutSegment{
		SegmentKeys:     m.GetSegmentKeys(),
		SegmentOperator: convert.Enum[guidon.SegmentOperator](m.GetSegmentOperator()), Value: m.GetValue(),
	}
}

func thresholdInput(m *flipt.RolloutThreshold) *guidon.RolloutThreshold {
	if m == nil {
		return nil
	}
	return &guidon.RolloutThreshold{
		Percentage: m.GetPercentage(), Value: m.GetValue(), Start: m.GetStart(), Split: convert.SplitOf(m.GetSplit()),
		Ramp: convert.RampOf(m.GetRamp()),
	}
}

func wireRollout(namespace, flagKey string) func(*guidon.Rollout) *flipt.Rollout {
	return func(r *guidon.Rollout) *flipt.Rollout {
		rollout := &flipt.Rollout{
			Id: r.ID, NamespaceKey: namespace, FlagKey: flagKey, Type: flipt.RolloutType(r.Type()),
			Rank: r.Rank, Description: r.Description,
			CreatedAt: convert.Timestamp(r.CreatedAt), UpdatedAt: convert.Timestamp(r.UpdatedAt),
			Groups: convert.WireGroups(r.Stated().Groups), ExceptSegmentKeys: r.Stated().ExceptSegmentKeys, Everyone: r.Stated().Everyone,
			Requires:  convert.WireRequirements(r.Stated().Requires),
			HoldsFrom: convert.Timestamp(r.Stated().From), HoldsUntil: convert.Timestamp(r.Stated().Until), Portion: convert.WirePortion(r.Stated().Portion),
		}
		switch {
		case r.Threshold != nil:
			rollout.Rule = &flipt.Rollout_Threshold{Threshold: &flipt.RolloutThreshold{
				Percentage: r.Threshold.Percentage, Value: r.Threshold.Value,
				Start: r.Threshold.Start, Split: convert.WireSplit(r.Threshold.Split), Ramp: convert.WireRamp(r.Threshold.Ramp),
			}}
		case r.Segment != nil:
			segmentKey, segmentKeys := segmentsOf(r.Segment.SegmentKeys)
			rollout.Rule = &flipt.Rollout_Segment{Segment: &flipt.RolloutSegment{
				SegmentKey: segmentKey, //lint:ignore SA1019 deprecated on the wire, read by clients
				Value:      r.Segment.Value, SegmentKeys: segmentKeys,
				SegmentOperator: flipt.SegmentOperator(r.Segment.SegmentOperator),
			}}
		}
		return rollout
	}
}
