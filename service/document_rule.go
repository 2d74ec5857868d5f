package service

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
)

// DocumentRule distributes the entities of its segments to variants.
type DocumentRule struct {
	SegmentKeys     []string
	SegmentOperator guidon.SegmentOperator
	Rank            int32 // 0 means the position in the list, from 1
	Distributions   []*DocumentDistribution
	Split           *guidon.Split
	CodeDefault     bool
	*guidon.Conditions
}

// effectiveRank returns the rank of the rule, given its index in the list.
func (r *DocumentRule) effectiveRank(index int) int32 {
	return cmp.Or(r.Rank, int32(index+1)) // #nosec G115 -- bounded by the size of a document
}

// RulesByRank returns the rules sorted by rank. Rules of the same rank keep their
// order.
func (f *DocumentFlag) RulesByRank() []*DocumentRule {
	ranks := make(map[*DocumentRule]int32, len(f.Rules))
	for i, r := range f.Rules {
		ranks[r] = r.effectiveRank(i)
	}
	sorted := slices.Clone(f.Rules)
	slices.SortStableFunc(sorted, func(a, b *DocumentRule) int { return cmp.Compare(ranks[a], ranks[b]) })
	return sorted
}

// DocumentDistribution assigns a share of a rule's entities to a variant.
type DocumentDistribution struct {
	Variant string  // the variant's key
	Rollout float32 // percent, 0 to 100
}

// normalizeRules returns the rules sorted by rank. If the document sets any rank, all
// ranks are set.
func (f *DocumentFlag) normalizeRules(p *problems, segments map[string]bool) []*DocumentRule {
	variants := map[string]bool{}
	for _, v := range f.Variants {
		if v != nil {
			variants[v.Key] = true
		}
	}
	out := &DocumentFlag{Key: f.Key}
	explicit := false
	for i, r := range f.Rules {
		if r == nil {
			continue
		}
		p.entry("rules", i, func(p *problems) {
			out.Rules = append(out.Rules, r.normalize(p, f.Key, variants, segments))
		})
		explicit = explicit || r.Rank != 0
	}
	if explicit {
		for i, r := range out.Rules {
			r.Rank = r.effectiveRank(i)
		}
	}
	return out.RulesByRank()
}

func (r *DocumentRule) normalize(p *problems, flag string, variants, segments map[string]bool) *DocumentRule {
	checked, err := RuleInput{
		SegmentKeys: r.SegmentKeys, SegmentOperator: r.SegmentOperator, Split: r.Split, CodeDefault: r.CodeDefault, Conditions: r.Conditions,
	}.check()
	p.add(err)
	if r.Rank < 0 {
		p.add(invalidField("rank", "must be greater than 0"))
	}
	if r.CodeDefault && len(r.Distributions) > 0 {
		p.add(invalidField("code_default", "cannot be combined with distributions"))
	}
	out := &DocumentRule{Rank: r.Rank}
	if err == nil {
		out = documentRule(nil, checked)
		out.Rank = r.Rank
		p.segments(&guidon.Flag{Rules: []*guidon.Rule{checked}}, segments)
	}
	for i, d := range r.Distributions {
		if d == nil {
			continue
		}
		p.entry("distributions", i, func(p *problems) {
			p.add(checkRollout(d.Rollout))
			if !variants[d.Variant] {
				p.add(guidon.Errorf(guidon.InvalidArgument, "finding variant: %s; flag: %s", d.Variant, flag))
			}
			out.Distributions = append(out.Distributions, &DocumentDistribution{Variant: d.Variant, Rollout: d.Rollout})
		})
	}
	return out
}

func documentRule(f *guidon.Flag, r *guidon.Rule) *DocumentRule {
	d := &DocumentRule{
		SegmentKeys: slices.Clone(r.SegmentKeys), SegmentOperator: r.SegmentOperator,
		Split: cloneOf(r.Split), CodeDefault: r.CodeDefault, Conditions: r.Conditions.Clone(),
	}
	for _, share := range r.Distributions {
		if v := f.Variant(share.VariantID); v != nil {
			d.Distributions = append(d.Distributions, &DocumentDistribution{Variant: v.Key, Rollout: share.Rollout})
		}
	}
	return d
}

func mergeRules(have *guidon.Flag, want *DocumentFlag, variantIDs map[string]string, now time.Time) []*guidon.Rule {
	old := NewDocumentFlag(have).Rules
	var out []*guidon.Rule
	for i, from := range pair(want.Rules, old, ruleKeys) {
		w := want.Rules[i]
		before, documented := &guidon.Rule{ID: NewID(), CreatedAt: now}, &DocumentRule{}
		if from >= 0 {
			before, documented = have.Rules[from], old[from]
		}
		r := *before
		r.SegmentKeys, r.SegmentOperator = slices.Clone(w.SegmentKeys), w.SegmentOperator
		r.Split, r.CodeDefault, r.Conditions = cloneOf(w.Split), w.CodeDefault, w.Conditions.Clone()
		r.Rank = w.effectiveRank(i)
		if from < 0 || r.Rank != before.Rank || !sameContent(documented, w, ruleKeys) {
			r.UpdatedAt = now
		}
		r.Distributions = mergeDistributions(have, before, w, variantIDs, now)
		out = append(out, &r)
	}
	return out
}

func mergeDistributions(
	flag *guidon.Flag, have *guidon.Rule, want *DocumentRule, variantIDs map[string]string, now time.Time,
) []*guidon.Distribution {
	old := make([]*DocumentDistribution, len(have.Distributions))
	for i, d := range have.Distributions {
		old[i] = &DocumentDistribution{Rollout: d.Rollout}
		if v := flag.Variant(d.VariantID); v != nil {
			old[i].Variant = v.Key
		}
	}
	var out []*guidon.Distribution
	for i, from := range pair(want.Distributions, old, distributionKeys) {
		w := want.Distributions[i]
		d := &guidon.Distribution{ID: NewID(), CreatedAt: now, UpdatedAt: now}
		if from >= 0 {
			*d = *have.Distributions[from]
			if *old[from] != *w {
				d.UpdatedAt = now
			}
		}
		d.VariantID, d.Rollout = variantIDs[w.Variant], w.Rollout
		out = append(out, d)
	}
	return out
}

// ruleKeys are the keys by which rules are paired, the most specific first. The first is
// the whole content.
var ruleKeys = []func(r *DocumentRule) string{
	func(r *DocumentRule) string {
		text := fmt.Appendf(nil, "%q %d %s", r.SegmentKeys, r.SegmentOperator, contentOf(r.Split, r.CodeDefault, r.Conditions))
		for _, d := range r.Distributions {
			text = fmt.Appendf(text, " %q %v", d.Variant, d.Rollout)
		}
		return string(text)
	},
	func(r *DocumentRule) string { return fmt.Sprintf("%q %d", r.SegmentKeys, r.SegmentOperator) },
	func(*DocumentRule) string { return "any" },
}

// distributionKeys are the keys by which distributions are paired, the most specific first. The first is
// the whole content.
var distributionKeys = []func(d *DocumentDistribution) string{
	func(d *DocumentDistribution) string { return fmt.Sprintf("%q %v", d.Variant, d.Rollout) },
	func(d *DocumentDistribution) string { return d.Variant },
}
