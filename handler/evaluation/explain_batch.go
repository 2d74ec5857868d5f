package evaluation

import (
	"cmp"
	"context"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// CheckExplainBatch checks a request to evaluate a flag for many entities.
func CheckExplainBatch(q *guidonv1.ExplainBatchRequest) error {
	return service.CheckExplain(q.GetKey(), entitiesOf(q)...)
}

// ExplainBatch evaluates a flag for many entities. These do not count as evaluations of the
// flag.
func (v *Evaluator) ExplainBatch(
	ctx context.Context, view service.View, m *guidonv1.ExplainBatchRequest,
) (*guidonv1.ExplainBatchResponse, error) {
	explanations, err := view.ExplainBatch(ctx, m.GetKey(), entitiesOf(m))
	if err != nil {
		return nil, err
	}
	f, err := view.Flag(m.GetKey())
	if err != nil {
		return nil, err
	}
	response := &guidonv1.ExplainBatchResponse{
		NamespaceKey: convert.NamespaceOf(m), FlagKey: f.Key, FlagType: flipt.FlagType(f.Type), Enabled: f.Enabled,
		Counts: countResults(explanations), Results: make([]*guidonv1.EntityResult, len(explanations)),
	}
	for i, e := range explanations {
		response.Results[i] = entityResult(m.GetEntities()[i].GetEntityId(), e)
	}
	return response, nil
}

func entitiesOf(m *guidonv1.ExplainBatchRequest) []service.Entity {
	return lists.Map(m.GetEntities(), func(e *guidonv1.ExplainEntity) service.Entity { return entityOf(e) })
}

func entityResult(entityID string, e *analysis.Explanation) *guidonv1.EntityResult {
	m := &guidonv1.EntityResult{EntityId: entityID, DecidedBy: number(e.Decided)}
	if r := e.Boolean; r != nil {
		m.Enabled, m.Reason, m.SegmentKeys = r.Enabled, evaluation.EvaluationReason(r.Reason), r.SegmentKeys
	} else {
		r := e.Variant
		m.Match, m.VariantKey, m.Reason, m.SegmentKeys = r.Match, r.VariantKey, evaluation.EvaluationReason(r.Reason), r.SegmentKeys
	}
	switch {
	case e.Decided < 0:
	case e.Boolean != nil:
		m.StepId = e.Flag.Rollouts[e.Decided].ID
	default:
		m.StepId = e.Flag.Rules[e.Decided].ID
	}
	return m
}

// countResults counts the different results, the most frequent first. Equally frequent ones
// are in the order in which they occur.
func countResults(explanations []*analysis.Explanation) []*guidonv1.ResultCount {
	type result struct {
		match, enabled bool
		variant        string
	}
	var counts []*guidonv1.ResultCount
	known := make(map[result]*guidonv1.ResultCount)
	for _, e := range explanations {
		var r result
		var attachment string
		if e.Boolean != nil {
			r = result{enabled: e.Boolean.Enabled}
		} else {
			r, attachment = result{match: e.Variant.Match, variant: e.Variant.VariantKey}, e.Variant.Attachment
		}
		if known[r] == nil {
			known[r] = &guidonv1.ResultCount{Match: r.match, VariantKey: r.variant, VariantAttachment: attachment, Enabled: r.enabled}
			counts = append(counts, known[r])
		}
		known[r].Count++
	}
	slices.SortStableFunc(counts, func(a, b *guidonv1.ResultCount) int { return cmp.Compare(b.GetCount(), a.GetCount()) })
	return counts
}

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
