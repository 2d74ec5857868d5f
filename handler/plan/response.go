package plan

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// Limits of a response. The number of changes is limited by the service.
const (
	maxDetails   = 1 << 20 // bytes of differences, and of the objects before and after; and of the values of conflicts
	maxWarnings  = 1000
	maxConflicts = 1000
	maxUsers     = 100 // flags that a warning names
)

// response returns the message of the plan. If it is worded, its values are also in words.
func response(p *service.Plan, worded bool) *guidonv1.PlanResponse {
	difference := convert.Difference
	if worded {
		difference = convert.WordedDifference
	}
	m := &guidonv1.PlanResponse{
		NamespaceKey: p.Namespace, Revision: p.Revision, SourceNamespaceKey: p.Source, SourceRevision: p.SourceRevision,
		Digest: p.Digest, Unchanged: convert.Count(p.Unchanged), Skipped: p.Skipped,
		Changes:  make([]*guidonv1.PlannedChange, len(p.Changes)),
		Warnings: lists.Map(p.Warnings[:min(len(p.Warnings), maxWarnings)], warning),
	}
	var complete bool
	m.Conflicts, complete = conflicts(p.Conflicts, worded, maxDetails)
	m.Abridged = !complete || len(p.Warnings) > maxWarnings
	left := maxDetails
	for i := range p.Changes {
		c := &p.Changes[i]
		m.Changes[i] = &guidonv1.PlannedChange{
			Kind: string(c.Kind), Key: c.Key, Action: string(c.Action), Required: c.Required, Summary: c.Summary(), Digest: c.Digest,
		}
		if m.Abridged {
			continue
		}
		details := &guidonv1.PlannedChange{
			Differences: lists.Map(c.Differences, difference),
			Before:      convert.WireDocument(service.DocumentOf(p.Namespace, c.Before)),
			After:       convert.WireDocument(service.DocumentOf(p.Namespace, c.After)),
		}
		if left -= proto.Size(details); left < 0 {
			m.Abridged = true
			continue
		}
		m.Changes[i].Differences, m.Changes[i].Before, m.Changes[i].After = details.Differences, details.Before, details.After
	}
	return m
}

func warning(w change.Warning) *guidonv1.PlanWarning {
	return &guidonv1.PlanWarning{
		Kind: string(w.Kind), ObjectKind: string(w.Object), Key: w.Key, Text: w.Text,
		FlagKeys: w.Flags[:min(len(w.Flags), maxUsers)],
	}
}

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
