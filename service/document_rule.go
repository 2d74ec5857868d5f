package service

import (
	"cmp"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
)

// effectiveRank returns the rank of a rule of a document, given its index in the list.
func effectiveRank(r *guidon.Rule, index int) int32 {
	return cmp.Or(r.Rank, int32(index+1)) // #nosec G115 -- bounded by the size of a document
}

// RulesByRank returns the rules of a document sorted by rank. Rules of the same rank keep their
// order.
func RulesByRank(rules []*guidon.Rule) []*guidon.Rule {
	ranks := make(map[*guidon.Rule]int32, len(rules))
	for i, r := range rules {
		ranks[r] = effectiveRank(r, i)
	}
	sorted := slices.Clone(rules)
	slices.SortStableFunc(sorted, func(a, b *guidon.Rule) int { return cmp.Compare(ranks[a], ranks[b]) })
	return sorted
}

// normalRules returns the rules sorted by rank. If the document sets any rank, all ranks are
// set.
func normalRules(f *guidon.Flag, p *problems, segments map[string]bool) (out []*guidon.Rule) {
	variants := setOf(lists.Map(f.Variants, func(v *guidon.Variant) string { return v.Key }))
	explicit := false
	for i, r := range f.Rules {
		p.entry("rules", i, func(p *problems) {
			out = append(out, normalRule(r, p, f.Key, variants, segments))
		})
		explicit = explicit || r.Rank != 0
	}
	if explicit {
		for i, r := range out {
			r.Rank = effectiveRank(r, i)
		}
	}
	return RulesByRank(out)
}

func normalRule(r *guidon.Rule, p *problems, flag string, variants, segments map[string]bool) *guidon.Rule {
	out, err := RuleInput{Rule: *r}.check()
	p.add(err)
	if r.Rank < 0 {
		p.add(invalidField("rank", "must be greater than 0"))
	}
	if r.CodeDefault && len(r.Distributions) > 0 {
		p.add(invalidField("code_default", "cannot be combined with distributions"))
	}
	if err != nil {
		out = &guidon.Rule{}
	}
	out.Rank = r.Rank
	p.segments(&guidon.Flag{Rules: []*guidon.Rule{out}}, segments)
	for i, d := range r.Distributions {
		p.entry("distributions", i, func(p *problems) {
			p.add(checkRollout(d.Rollout))
			if !variants[d.VariantID] {
				p.add(guidon.Errorf(guidon.InvalidArgument, "finding variant: %s; flag: %s", d.VariantID, flag))
			}
			out.Distributions = append(out.Distributions, &guidon.Distribution{VariantID: d.VariantID, Rollout: d.Rollout})
		})
	}
	return out
}

func normalRollout(r *guidon.Rollout, p *problems, segments map[string]bool) *guidon.Rollout {
	switch {
	case r.Segment != nil && r.Threshold != nil:
		p.add(invalidField("segment or threshold", "only one can be present"))
	case r.Type() == guidon.UnknownRollout:
		p.add(guidon.Errorf(guidon.InvalidArgument, "rollout rule is missing"))
	}
	checked, err := RolloutInput{Rollout: *r}.check()
	p.add(err)
	p.add(checkTexts(field{"description", r.Description}))
	p.segments(&guidon.Flag{Rollouts: []*guidon.Rollout{checked}}, segments)
	return checked
}
