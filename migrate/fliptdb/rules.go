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

func isPercentage(percent float64) bool { return percent >= 0 && percent <= 100 }

func readRollouts(ctx context.Context, r *reader, a *assembly) error {
	var read guidon.Rollout
	var in ref
	var rank, kind int64
	fields := []any{
		zero(&read.ID), zero(&in.namespace), zero(&in.key), zero(&kind), zero(&read.Description), zero(&rank),
		newStamp(&read.CreatedAt), newStamp(&read.UpdatedAt),
	}
	const columns = "id namespace_key flag_key type description? rank created_at updated_at"
	return r.each(ctx, a, "rollouts", columns, fields, func() string { return "rollouts " + read.ID }, func(x row) {
		f := a.flagOf(x, in)
		added := read
		added.Rank = int32(rank) // #nosec G115 -- checked below
		if x.has("id") {
			a.rollouts[added.ID] = &rollout{&added, f, guidon.RolloutType(kind)} // #nosec G115 -- checked below
		}
		if f == nil {
			a.strayOfFlag(x, in, "its flag "+in.String()+" does not exist")
			return
		}
		problem := rankProblem(rank)
		if kind != int64(guidon.SegmentRollout) && kind != int64(guidon.ThresholdRollout) {
			problem = fmt.Sprintf("rollout type %d is unknown", kind)
		}
		f.check(x, "", problem)
		f.Rollouts = append(f.Rollouts, &added)
	})
}

func readThresholds(ctx context.Context, r *reader, a *assembly) error {
	var id, rolloutID string
	var percentage float64
	var value bool
	fields := []any{zero(&id), zero(&rolloutID), zero(&percentage), zero(&value)}
	nameOf := func() string { return "rollout_thresholds " + id }
	return r.each(ctx, a, "rollout_thresholds", "id rollout_id percentage value", fields, nameOf, func(x row) {
		owner := a.rollouts[rolloutID]
		if owner == nil || !x.has("rollout_id") {
			a.strayOfFlag(x, ref{}, "its rollout does not exist")
			return
		}
		problem := ""
		switch {
		case owner.kind != guidon.ThresholdRollout || owner.Threshold != nil:
			problem = "the rollout has another type, or already has a threshold"
		case !isPercentage(percentage):
			problem = fmt.Sprintf("percentage %v is not between 0 and 100", percentage)
		}
		owner.flag.check(x, "rollouts "+rolloutID, problem)
		owner.Threshold = &guidon.RolloutThreshold{Percentage: float32(percentage), Value: value}
	})
}

func readRolloutSegments(ctx context.Context, r *reader, a *assembly) error {
	var id, rolloutID string
	var value bool
	var operator int64
	fields := []any{zero(&id), zero(&rolloutID), zero(&value), zero(&operator)}
	nameOf := func() string { return "rollout_segments " + id }
	err := r.each(ctx, a, "rollout_segments", "id rollout_id value segment_operator", fields, nameOf, func(x row) {
		owner := a.rollouts[rolloutID]
		if owner == nil || !x.has("rollout_id") {
			a.strayOfFlag(x, ref{}, "its rollout does not exist")
			return
		}
		problem := ""
		switch {
		case owner.kind != guidon.SegmentRollout || owner.Segment != nil:
			problem = "the rollout has another type, or already has segments"
		case !knownOperator(operator):
			problem = fmt.Sprintf("segment operator %d is unknown", operator)
		}
		if x.has("id") {
			a.rolloutByRow[id] = owner
		}
		owner.flag.check(x, "rollouts "+rolloutID, problem)
		owner.Segment = &guidon.RolloutSegment{Value: value, SegmentOperator: guidon.SegmentOperator(operator)} // #nosec G115 -- checked above
	})
	if err != nil {
		return err
	}
	return readRolloutReferences(ctx, r, a)
}

func readRolloutReferences(ctx context.Context, r *reader, a *assembly) error {
	var id string
	var segment ref
	fields := []any{zero(&segment.key), zero(&id), zero(&segment.namespace)}
	nameOf := func() string { return "rollout_segment_references " + id + " " + segment.key }
	return r.each(ctx, a, "rollout_segment_references", "segment_key rollout_segment_id namespace_key", fields, nameOf, func(x row) {
		owner := a.rolloutByRow[id]
		switch {
		case owner == nil || !x.has("rollout_segment_id"):
			a.strayOfFlag(x, ref{namespace: segment.namespace}, "its rollout does not exist")
		case owner.flag.check(x, "rollouts "+owner.ID, segment.problemFor(owner.flag)):
			owner.Segment.SegmentKeys = append(owner.Segment.SegmentKeys, segment.key)
		}
	})
}
