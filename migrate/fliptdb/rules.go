package fliptdb

import (
	"context"
	"fmt"
	"math"

	"github.com/guidonhq/guidon"
)

func knownOperator(n int64) bool {
	return n == int64(guidon.OrSegments) || n == int64(guidon.AndSegments)
}

func readRules(ctx context.Context, r *reader, a *assembly) error {
	var read guidon.Rule
	var in ref
	var rank, operator int64
	fields := []any{
		zero(&read.ID), zero(&in.namespace), zero(&in.key), zero(&rank), zero(&operator), newStamp(&read.CreatedAt), newStamp(&read.UpdatedAt),
	}
	const columns = "id namespace_key flag_key rank segment_operator created_at updated_at"
	return r.each(ctx, a, "rules", columns, fields, func() string { return "rules " + read.ID }, func(x row) {
		f := a.flagOf(x, in)
		added := read
		added.Rank, added.SegmentOperator = int32(rank), guidon.SegmentOperator(operator) // #nosec G115 -- checked below
		if x.has("id") {
			a.rules[added.ID] = &rule{&added, f}
		}
		if f == nil {
			a.strayOfFlag(x, in, "its flag "+in.String()+" does not exist")
			return
		}
		problem := rankProblem(rank)
		if !knownOperator(operator) {
			problem = fmt.Sprintf("segment operator %d is unknown", operator)
		}
		f.check(x, "", problem)
		f.Rules = append(f.Rules, &added)
	})
}

func rankProblem(rank int64) string {
	if rank < math.MinInt32 || rank > math.MaxInt32 {
		return fmt.Sprintf("rank %d is out of range", rank)
	}
	return ""
}

func readRuleSegments(ctx context.Context, r *reader, a *assembly) error {
	var id string
	var segment ref
	fields := []any{zero(&segment.key), zero(&id), zero(&segment.namespace)}
	nameOf := func() string { return "rule_segments " + id + " " + segment.key }
	return r.each(ctx, a, "rule_segments", "segment_key rule_id namespace_key", fields, nameOf, func(x row) {
		owner := a.rules[id]
		switch {
		case owner == nil || !x.has("rule_id"):
			a.strayOfFlag(x, ref{namespace: segment.namespace}, "its rule does not exist")
		case owner.flag.check(x, "rules "+id, segment.problemFor(owner.flag)):
			owner.SegmentKeys = append(owner.SegmentKeys, segment.key)
		}
	})
}

// problemFor returns why a rule or rollout of the flag cannot refer to the segment, or "".
func (r ref) problemFor(f *flag) string {
	if f != nil && r.namespace != f.at.namespace {
		return "its segment is in another namespace"
	}
	return ""
}

func readDistributions(ctx context.Context, r *reader, a *assembly) error {
	var d guidon.Distribution
	var id string
	var rollout float64
	fields := []any{
		zero(&d.ID), zero(&id), zero(&d.VariantID), zero(&rollout), newStamp(&d.CreatedAt), newStamp(&d.UpdatedAt),
	}
	const columns = "id rule_id variant_id rollout created_at updated_at"
	return r.each(ctx, a, "distributions", columns, fields, func() string { return "distributions " + d.ID }, func(x row) {
		owner := a.rules[id]
		if owner == nil || !x.has("rule_id") {
			a.strayDistribution(x, d.VariantID)
			return
		}
		added := d
		added.Rollout = float32(rollout)
		if owner.flag.check(x, "rules "+id, a.distributionProblem(owner.flag, d.VariantID, rollout)) {
			owner.Distributions = append(owner.Distributions, &added)
		}
	})
}

// strayDistribution adds a row that belongs to no rule. The flag of its variant may lack it.
func (a *assembly) strayDistribution(x row, variant string) {
	const why = "its rule does not exist"
	f := a.variants[variant]
	if f == nil {
		a.strayOfFlag(x, ref{}, why)
	} else if text := a.orphan(x, why); text != "" {
		f.because("%s", text)
	}
}

func (a *assembly) distributionProblem(f *flag, variant string, rollout float64) string {
	switch {
	case a.variants[variant] != f:
		// Flipt allows this (contract 4.4), and then returns a variant that the flag does
		// not have.
		return fmt.Sprintf("variant %q does not belong to the flag", variant)
	case !isPercentage(rollout):
		return fmt.Sprintf("rollout %v is not between 0 and 100", rollout)
	}
	return ""
}
