package management

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

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
