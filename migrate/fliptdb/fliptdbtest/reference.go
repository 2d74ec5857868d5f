package fliptdbtest

import (
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// Result is the result of an evaluation in Flipt. For a boolean flag, Match is the value.
type Result struct {
	Match      bool
	Reason     string // UNKNOWN, DEFAULT, MATCH, FLAG_DISABLED
	Variant    string
	Attachment string
	Segments   []string // sorted, because Flipt does not define their order
}

var reasonNames = map[guidon.Reason]string{
	guidon.ReasonUnknown: "UNKNOWN", guidon.ReasonFlagDisabled: "FLAG_DISABLED", guidon.ReasonMatch: "MATCH", guidon.ReasonDefault: "DEFAULT",
}

func booleanResult(r guidon.BooleanResult) Result {
	return Result{Match: r.Enabled, Reason: reasonNames[r.Reason], Segments: sorted(r.SegmentKeys)}
}

func variantResult(r guidon.VariantResult) Result {
	return Result{Match: r.Match, Reason: reasonNames[r.Reason], Variant: r.VariantKey, Attachment: r.Attachment, Segments: sorted(r.SegmentKeys)}
}

func sorted(keys []string) []string {
	if len(keys) == 0 {
		return nil
	}
	return slices.Sorted(slices.Values(keys))
}

// Evaluate evaluates the flag from the rows, by contract 7 as [flagtest.Oracle] has it.
func (d *Data) Evaluate(namespace, key, entity string, context map[string]string) Result {
	f, oracle := d.flag(namespace, key), flagtest.Oracle{Segments: d.segments(namespace)}
	if f.Type == guidon.BooleanFlag {
		return booleanResult(oracle.Boolean(f, entity, context))
	}
	return variantResult(oracle.Variant(f, entity, context))
}

// flag returns the flag that the rows describe, as far as evaluation needs it.
func (d *Data) flag(namespace, key string) *guidon.Flag {
	row := d.Flags[slices.IndexFunc(d.Flags, func(f Flag) bool { return f.Namespace == namespace && f.Key == key })]
	f := &guidon.Flag{Key: key, Type: guidon.FlagType(row.Type), Enabled: row.Enabled, DefaultVariantID: row.Default} // #nosec G115 -- 0 or 1
	for _, v := range d.Variants {
		if v.Namespace == namespace && v.Flag == key {
			f.Variants = append(f.Variants, &guidon.Variant{ID: v.ID, Key: v.Key, Attachment: v.Attachment})
		}
	}
	for _, r := range d.Rules {
		if r.Namespace == namespace && r.Flag == key {
			f.Rules = append(f.Rules, &guidon.Rule{
				Rank: int32(r.Rank), SegmentKeys: segmentsOf(d.RuleSegments, r.ID), // #nosec G115 -- few
				SegmentOperator: guidon.SegmentOperator(r.Operator), Distributions: d.distributions(r.ID), // #nosec G115 -- 0 or 1
			})
		}
	}
	slices.SortFunc(f.Rules, func(a, b *guidon.Rule) int { return int(a.Rank - b.Rank) })
	for _, r := range d.Rollouts {
		if r.Namespace == namespace && r.Flag == key {
			f.Rollouts = append(f.Rollouts, d.rollout(r))
		}
	}
	slices.SortFunc(f.Rollouts, func(a, b *guidon.Rollout) int { return int(a.Rank - b.Rank) })
	return f
}

// distributions are in the order of their creation.
func (d *Data) distributions(rule string) (all []*guidon.Distribution) {
	for _, r := range d.Distributions {
		if r.Rule == rule {
			all = append(all, &guidon.Distribution{VariantID: r.Variant, Rollout: r.Rollout, CreatedAt: r.Created})
		}
	}
	slices.SortFunc(all, func(a, b *guidon.Distribution) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return all
}

func (d *Data) rollout(r Rollout) *guidon.Rollout {
	rollout := &guidon.Rollout{Rank: int32(r.Rank)} // #nosec G115 -- few
	for _, t := range d.Thresholds {
		if t.Rollout == r.ID {
			rollout.Threshold = &guidon.RolloutThreshold{Percentage: t.Percentage, Value: t.Value}
		}
	}
	for _, s := range d.RolloutSegments {
		if s.Rollout == r.ID {
			operator := guidon.SegmentOperator(s.Operator) // #nosec G115 -- 0 or 1
			rollout.Segment = &guidon.RolloutSegment{SegmentKeys: segmentsOf(d.RolloutRefs, s.ID), SegmentOperator: operator, Value: s.Value}
		}
	}
	return rollout
}

func segmentsOf(references []Reference, owner string) []string {
	keys := []string{}
	for _, r := range references {
		if r.Owner == owner {
			keys = append(keys, r.Segment)
		}
	}
	return keys
}

func (d *Data) segments(namespace string) (all []*guidon.Segment) {
	byKey := map[string]*guidon.Segment{}
	for _, s := range d.Segments {
		if s.Namespace == namespace {
			byKey[s.Key] = &guidon.Segment{Key: s.Key, MatchType: guidon.MatchType(s.MatchType)} // #nosec G115 -- 0 or 1
			all = append(all, byKey[s.Key])
		}
	}
	for _, c := range d.Constraints {
		if g := byKey[c.Segment]; g != nil && c.Namespace == namespace {
			g.Constraints = append(g.Constraints, &guidon.Constraint{
				Type: guidon.ComparisonType(c.Type), Property: c.Property, Operator: c.Operator, Value: c.Value, // #nosec G115 -- at most 5
			})
		}
	}
	return all
}
