package plan

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// Limits of the effects in a response. At least one is returned, whatever its size.
const (
	maxEffects     = 100
	maxEffectBytes = 1 << 20
)

// addEffects adds the effects of the plan to its message, as many as fit.
func addEffects(ctx context.Context, m *guidonv1.PlanResponse, p *service.Plan) error {
	left := maxEffectBytes
	complete, err := p.EachEffect(ctx, func(flagKey string, e *analysis.Effect) bool {
		if len(m.GetEffects()) == maxEffects {
			return false
		}
		effect := &guidonv1.PlannedEffect{FlagKey: flagKey, Effect: convert.Effect(e)}
		left -= proto.Size(effect)
		if left < 0 && len(m.GetEffects()) > 0 {
			return false
		}
		m.Effects = append(m.Effects, effect)
		return true
	})
	m.EffectsTruncated = !complete
	return err
}
