package evaluation

import (
	"context"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// CheckExplainFlags checks a request to evaluate the flags of a namespace.
func CheckExplainFlags(q *guidonv1.ExplainFlagsRequest) error {
	return service.CheckExplainFlags(entityOf(q), convert.Window(q))
}

// ExplainFlags evaluates the flags of a namespace for one entity. These do not count as
// evaluations of the flags.
func ExplainFlags(ctx context.Context, view service.View, m *guidonv1.ExplainFlagsRequest) (*guidonv1.ExplainFlagsResponse, error) {
	results, total, err := view.ExplainFlags(ctx, entityOf(m), convert.Window(m))
	if err != nil {
		return nil, err
	}
	return &guidonv1.ExplainFlagsResponse{
		NamespaceKey: convert.NamespaceOf(m), EntityId: m.GetEntityId(),
		Results: lists.Map(results, flagResult), TotalCount: convert.Count(total), NextOffset: convert.NextOffset(m, total),
	}, nil
}

func flagResult(r service.FlagResult) *guidonv1.FlagResult {
	m := &guidonv1.FlagResult{FlagKey: r.Flag.Key, FlagName: r.Flag.Name, FlagType: convert.FlagType(r.Flag.Type)}
	if r.Err != nil {
		m.Error = guidon.PublicMessage(r.Err)
		return m
	}
	e := entityResult("", r.Explanation)
	m.Match, m.VariantKey, m.Enabled, m.Reason = e.Match, e.VariantKey, e.Enabled, e.Reason
	m.SegmentKeys, m.DecidedBy, m.StepId = e.SegmentKeys, e.DecidedBy, e.StepId
	if m.VariantKey != "" {
		m.VariantIndex = convert.Count(slices.IndexFunc(r.Flag.Variants, func(v *guidon.Variant) bool { return v.Key == m.VariantKey }))
	}
	return m
}
