package handler

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

func (h *Handler) createDistribution(ctx context.Context, m *flipt.CreateDistributionRequest) (*flipt.Distribution, error) {
	d, err := h.service.CreateDistribution(ctx, m.GetNamespaceKey(), service.DistributionInput{
		FlagKey: m.GetFlagKey(), RuleID: m.GetRuleId(), VariantID: m.GetVariantId(), Rollout: m.GetRollout(),
	})
	return answer(d, err, wireDistribution(m.GetRuleId()))
}

func (h *Handler) updateDistribution(ctx context.Context, m *flipt.UpdateDistributionRequest) (*flipt.Distribution, error) {
	d, err := h.service.UpdateDistribution(ctx, m.GetNamespaceKey(), service.DistributionInput{
		ID: m.GetId(), FlagKey: m.GetFlagKey(), RuleID: m.GetRuleId(), VariantID: m.GetVariantId(), Rollout: m.GetRollout(),
	})
	return answer(d, err, wireDistribution(m.GetRuleId()))
}

func (h *Handler) deleteDistribution(ctx context.Context, m *flipt.DeleteDistributionRequest) (*emptypb.Empty, error) {
	return done(h.service.DeleteDistribution(ctx, m.GetNamespaceKey(), service.DistributionInput{
		ID: m.GetId(), FlagKey: m.GetFlagKey(), RuleID: m.GetRuleId(), VariantID: m.GetVariantId(),
	}))
}

func wireDistribution(ruleID string) func(*guidon.Distribution) *flipt.Distribution {
	return func(d *guidon.Distribution) *flipt.Distribution {
		return &flipt.Distribution{
			Id: d.ID, RuleId: ruleID, VariantId: d.VariantID, Rollout: d.Rollout,
			CreatedAt: timestamp(d.CreatedAt), UpdatedAt: timestamp(d.UpdatedAt),
		}
	}
}
