package management

import (
	"context"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// ListRules lists the rules of a flag.
func ListRules(_ context.Context, v service.View, m *flipt.ListRuleRequest, request *call.Request) (call.Response, error) {
	requested := convert.Page(m)
	rules, page, err := v.Rules(m.GetFlagKey(), requested)
	if err != nil {
		return call.Response{}, err
	}
	list := listing[*guidon.Rule, *flipt.Rule]{field: "rules", items: rules, page: page, convert: wireRule(m)}
	list.cut(requested, func(r *guidon.Rule) string { return r.ID }, convert.Weight[guidon.Rule](convert.NamespaceOf(m), m.GetFlagKey()))
	return list.answer(request, func(rules []*flipt.Rule) proto.Message {
		return &flipt.RuleList{Rules: rules, NextPageToken: list.page.NextToken, TotalCount: convert.Count(page.Total)}
	}), nil
}

// CreateRule creates a rule.
func CreateRule(ctx context.Context, s *service.Service, w service.Write, m *flipt.CreateRuleRequest) (*flipt.Rule, int64, error) {
	r, revision, err := s.CreateRule(ctx, w, m.GetNamespaceKey(), service.RuleInput{
		FlagKey: m.GetFlagKey(), SegmentKey: segmentKeyOf(m), Rule: guidon.Rule{
			SegmentKeys: m.GetSegmentKeys(), SegmentOperator: convert.Enum[guidon.SegmentOperator](m.GetSegmentOperator()),
			Rank: m.GetRank(), Split: convert.SplitOf(m.GetSplit()), CodeDefault: m.GetCodeDefault(), Conditions: convert.ConditionsOf(m),
		},
	})
	return convert.Changed(r, revision, err, wireRule(m))
}

// OrderRules orders the rules of a flag.
func OrderRules(ctx context.Context, s *service.Service, w service.Write, m *flipt.OrderRulesRequest) (*emptypb.Empty, int64, error) {
	return convert.Done(s.OrderRules(ctx, w, m.GetNamespaceKey(), m.GetFlagKey(), m.GetRuleIds()))
}

// GetRule returns a rule.
func GetRule(_ context.Context, v service.View, m *flipt.GetRuleRequest) (*flipt.Rule, error) {
	r, err := v.Rule(m.GetFlagKey(), m.GetId())
	return convert.Result(r, err, wireRule(m))
}

// UpdateRule updates a rule.
func UpdateRule(ctx context.Context, s *service.Service, w service.Write, m *flipt.UpdateRuleRequest) (*flipt.Rule, int64, error) {
	r, revision, err := s.UpdateRule(ctx, w, m.GetNamespaceKey(), service.RuleInput{
		FlagKey: m.GetFlagKey(), SegmentKey: segmentKeyOf(m), Rule: guidon.Rule{
			ID: m.GetId(), SegmentKeys: m.GetSegmentKeys(), SegmentOperator: convert.Enum[guidon.SegmentOperator](m.GetSegmentOperator()),
			Split: convert.SplitOf(m.GetSplit()), CodeDefault: m.GetCodeDefault(), Conditions: convert.ConditionsOf(m),
		},
	})
	return convert.Changed(r, revision, err, wireRule(m))
}

// DeleteRule deletes a rule.
func DeleteRule(ctx context.Context, s *service.Service, w service.Write, m *flipt.DeleteRuleRequest) (*emptypb.Empty, int64, error) {
	return convert.Done(s.DeleteRule(ctx, w, m.GetNamespaceKey(), m.GetFlagKey(), m.GetId()))
}

// segmentKeyOf returns the single segment of a request. The field is deprecated on the
// wire, but clients send it, so it stays supported.
func segmentKeyOf(m interface{ GetSegmentKey() string }) string { return m.GetSegmentKey() }

// segmentsOf returns the two fields that name the segments: the first for exactly one
// segment, the second for several (contract 2).
func segmentsOf(keys []string) (segmentKey string, segmentKeys []string) {
	if len(keys) == 1 {
		return keys[0], nil
	}
	return "", keys
}

// wireRule returns a function that converts rules of the request's flag.
func wireRule(m convert.OfFlag) func(*guidon.Rule) *flipt.Rule {
	namespace, flagKey := convert.NamespaceOf(m), m.GetFlagKey()
	return func(r *guidon.Rule) *flipt.Rule {
		segmentKey, segmentKeys := segmentsOf(r.SegmentKeys)
		return &flipt.Rule{
			Id: r.ID, FlagKey: flagKey, SegmentKey: segmentKey,
			Distributions: lists.Map(r.Distributions, wireDistribution(r.ID)), Rank: r.Rank,
			CreatedAt: convert.Timestamp(r.CreatedAt), UpdatedAt: convert.Timestamp(r.UpdatedAt), NamespaceKey: namespace,
			SegmentKeys: segmentKeys, SegmentOperator: flipt.SegmentOperator(r.SegmentOperator),
			Groups: convert.WireGroups(r.Stated().Groups), ExceptSegmentKeys: r.Stated().ExceptSegmentKeys, Everyone: r.Stated().Everyone,
			Requires:  convert.WireRequirements(r.Stated().Requires),
			HoldsFrom: convert.Timestamp(r.Stated().From), HoldsUntil: convert.Timestamp(r.Stated().Until),
			Portion: convert.WirePortion(r.Stated().Portion), Split: convert.WireSplit(r.Split), CodeDefault: r.CodeDefault,
		}
	}
}

// CreateDistribution creates a distribution.
func CreateDistribution(
	ctx context.Context, s *service.Service, w service.Write, m *flipt.CreateDistributionRequest,
) (*flipt.Distribution, int64, error) {
	d, revision, err := s.CreateDistribution(ctx, w, m.GetNamespaceKey(), service.DistributionInput{
		FlagKey: m.GetFlagKey(), RuleID: m.GetRuleId(), VariantID: m.GetVariantId(), Rollout: m.GetRollout(),
	})
	return convert.Changed(d, revision, err, wireDistribution(m.GetRuleId()))
}

// UpdateDistribution updates a distribution.
func UpdateDistribution(
	ctx context.Context, s *service.Service, w service.Write, m *flipt.UpdateDistributionRequest,
) (*flipt.Distribution, int64, error) {
	d, revision, err := s.UpdateDistribution(ctx, w, m.GetNamespaceKey(), service.DistributionInput{
		ID: m.GetId(), FlagKey: m.GetFlagKey(), RuleID: m.GetRuleId(), VariantID: m.GetVariantId(), Rollout: m.GetRollout(),
	})
	return convert.Changed(d, revision, err, wireDistribution(m.GetRuleId()))
}

// DeleteDistribution deletes a distribution.
func DeleteDistribution(
	ctx context.Context, s *service.Service, w service.Write, m *flipt.DeleteDistributionRequest,
) (*emptypb.Empty, int64, error) {
	return convert.Done(s.DeleteDistribution(ctx, w, m.GetNamespaceKey(), service.DistributionInput{
		ID: m.GetId(), FlagKey: m.GetFlagKey(), RuleID: m.GetRuleId(), VariantID: m.GetVariantId(),
	}))
}

func wireDistribution(ruleID string) func(*guidon.Distribution) *flipt.Distribution {
	return func(d *guidon.Distribution) *flipt.Distribution {
		return &flipt.Distribution{
			Id: d.ID, RuleId: ruleID, VariantId: d.VariantID, Rollout: d.Rollout,
			CreatedAt: convert.Timestamp(d.CreatedAt), UpdatedAt: convert.Timestamp(d.UpdatedAt),
		}
	}
}
