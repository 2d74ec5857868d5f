package fliptdb

import (
	"context"

	"github.com/guidonhq/guidon"
)

const (
	minRank = -1 << 31
	maxRank = 1<<31 - 1
)

func knownOperator(n int64) bool {
	return n == int64(guidon.OrSegments) || n == int64(guidon.AndSegments)
}

func readRules(ctx context.Context, r *reader, a *assembly) error {
	var rule guidon.Rule
	var in ref
	var rank, operator int64
	fields := []any{
		zero(&rule.ID), zero(&in.namespace), zero(&in.key), zero(&rank), zero(&operator),
		instant{&rule.CreatedAt}, instant{&rule.UpdatedAt},
	}
	const columns = "id namespace_key flag_key rank segment_operator created_at updated_at"
	return r.each(ctx, a, "rules", columns, fields, func() string { return "rules " + rule.ID }, func(row string) {
		f := a.flags[in]
		switch {
		case f == nil:
			a.skip(row, "its flag %q is not imported", in.key)
		case !knownOperator(operator):
			a.skip(row, "segment operator %d is unknown", operator)
		case rank < minRank || rank > maxRank:
			a.skip(row, "rank %d is out of range", rank)
		default:
			added := rule
			added.Rank, added.SegmentOperator = int32(rank), guidon.SegmentOperator(operator) // #nosec G115 -- checked above
			a.rules[rule.ID] = &ownedRule{&added, in}
			f.Rules = append(f.Rules, &added)
		}
	})
}

func readRuleSegments(ctx context.Context, r *reader, a *assembly) error {
	var id string
	var segment ref
	fields := []any{zero(&segment.key), zero(&id), zero(&segment.namespace)}
	nameOf := func() string { return "rule_segments " + id + " " + segment.key }
	return r.each(ctx, a, "rule_segments", "segment_key rule_id namespace_key", fields, nameOf, func(row string) {
		rule := a.rules[id]
		switch {
		case rule == nil:
			a.skip(row, "its rule is not imported")
		case a.segments[segment] == nil || segment.namespace != rule.owner.namespace:
			a.skip(row, "its segment is not imported, or is in a different namespace than its rule")
		default:
			rule.SegmentKeys = append(rule.SegmentKeys, segment.key)
		}
	})
}

func readDistributions(ctx context.Context, r *reader, a *assembly) error {
	var d guidon.Distribution
	var ruleID string
	var rollout float64
	fields := []any{
		zero(&d.ID), zero(&ruleID), zero(&d.VariantID), zero(&rollout), instant{&d.CreatedAt}, instant{&d.UpdatedAt},
	}
	const columns = "id rule_id variant_id rollout created_at updated_at"
	return r.each(ctx, a, "distributions", columns, fields, func() string { return "distributions " + d.ID }, func(row string) {
		rule := a.rules[ruleID]
		switch {
		case rule == nil:
			a.skip(row, "its rule is not imported")
		case a.variants[d.VariantID] != rule.owner:
			// Flipt allows this (contract 4.4), and then returns a variant that the flag
			// does not have.
			a.skip(row, "variant %q does not belong to its flag", d.VariantID)
		case !isPercentage(rollout):
			a.skip(row, "rollout %v is not between 0 and 100", rollout)
		default:
			added := d
			added.Rollout = float32(rollout)
			rule.Distributions = append(rule.Distributions, &added)
		}
	})
}
