package servicetest

import (
	"context"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// ruleInput sets what a rule has besides its distributions. It reports whether its segments exist.
func (m *model) ruleInput(now *state, in *service.RuleInput, r *guidon.Rule) (exist bool) {
	if other := m.source.RandomRule(); other != nil {
		in.SegmentKeys, in.SegmentOperator, in.Split, in.CodeDefault, in.Conditions =
			other.SegmentKeys, other.SegmentOperator, other.Split, other.CodeDefault, other.Conditions
		exist = now.refersToExisting(&guidon.Flag{Rules: []*guidon.Rule{other}})
	} else {
		in.SegmentKeys, in.SegmentOperator, exist = m.segmentKeys(now)
	}
	r.SegmentKeys, r.SegmentOperator, r.Split, r.CodeDefault, r.Conditions =
		in.SegmentKeys, in.SegmentOperator, in.Split, in.CodeDefault, in.Conditions
	return exist
}

// segmentKeys returns the arguments for the segments of a rule or rollout, and reports
// whether they exist.
func (m *model) segmentKeys(now *state) (keys []string, operator guidon.SegmentOperator, exist bool) {
	keys, exist = []string{m.segmentKey()}, true
	if other := m.segmentKey(); other != keys[0] && m.one(3) {
		keys = append(keys, other)
		operator = guidon.SegmentOperator(m.random.IntN(2)) // #nosec G115 -- 0 or 1
	}
	for _, key := range keys {
		exist = exist && now.segments[key] != nil
	}
	return keys, operator, exist
}

func (m *model) createRule(now *state, f *guidon.Flag) (verdict, call) {
	v, in := changes, service.RuleInput{FlagKey: f.Key, Rule: guidon.Rule{Rank: 1 + m.random.Int32N(4)}}
	created := &guidon.Rule{ID: newID, Rank: in.Rank}
	if !m.ruleInput(now, &in, created) {
		v = notFound
	}
	at := len(f.Rules)
	for at > 0 && f.Rules[at-1].Rank > in.Rank {
		at--
	}
	f.Rules = slices.Insert(f.Rules, at, created)
	return v, withInput(m.service.CreateRule, in)
}

func (m *model) updateRule(now *state, f *guidon.Flag) (verdict, call) {
	v, r := changes, pickOr(m, f.Rules, &guidon.Rule{ID: "none"})
	in, had := service.RuleInput{FlagKey: f.Key, Rule: guidon.Rule{ID: r.ID}}, r.Additions()
	exist := m.ruleInput(now, &in, r)
	switch {
	case r.ID == "none":
		v = notFound
	case r.CodeDefault && len(r.Distributions) > 0:
		v = invalid
	case had && !r.Additions():
		v = unstatedConditions
	case !exist:
		v = notFound
	}
	return v, withInput(m.service.UpdateRule, in)
}

func (m *model) orderRules(_ *state, f *guidon.Flag) (verdict, call) {
	v, ids := orderItems(m, f.Rules, ruleID, ruleRank)
	return v, withItems(m.service.OrderRules, f.Key, ids)
}

func (m *model) deleteRule(_ *state, f *guidon.Flag) (v verdict, c call) {
	var id string
	v, id, f.Rules = removeItem(m, f.Rules, ruleID, ruleRank)
	return v, withItems(m.service.DeleteRule, f.Key, id)
}

// distribution returns a rule of the flag, one of its distributions, and the arguments to
// change that. Both are new objects with the id "none" if they do not exist.
func (m *model) distribution(f *guidon.Flag) (*guidon.Rule, *guidon.Distribution, service.DistributionInput) {
	r := pickOr(m, f.Rules, &guidon.Rule{ID: "none"})
	d := pickOr(m, r.Distributions, &guidon.Distribution{ID: "none", VariantID: "none"})
	return r, d, service.DistributionInput{
		ID: d.ID, FlagKey: f.Key, RuleID: r.ID, VariantID: pickOr(m, f.Variants, &guidon.Variant{ID: "none"}).ID, Rollout: m.percentage(),
	}
}

func (m *model) createDistribution(_ *state, f *guidon.Flag) (verdict, call) {
	r, _, in := m.distribution(f)
	v := changes
	switch {
	case r.ID == "none" || in.VariantID == "none":
		v = notFound
	case r.CodeDefault:
		v = invalid
	}
	r.Distributions = append(r.Distributions, &guidon.Distribution{ID: newID, VariantID: in.VariantID, Rollout: in.Rollout})
	return v, withInput(m.service.CreateDistribution, in)
}

func (m *model) updateDistribution(_ *state, f *guidon.Flag) (verdict, call) {
	r, d, in := m.distribution(f)
	v := changes
	if r.ID == "none" || d.ID == "none" || in.VariantID == "none" {
		v = notFound
	}
	d.VariantID, d.Rollout = in.VariantID, in.Rollout
	return v, withInput(m.service.UpdateDistribution, in)
}

func (m *model) deleteDistribution(_ *state, f *guidon.Flag) (verdict, call) {
	r, d, in := m.distribution(f)
	if m.one(2) {
		in.VariantID = d.VariantID
	}
	v := unchanged
	if d.ID != "none" && d.VariantID == in.VariantID {
		v = changes
	}
	r.Distributions = slices.DeleteFunc(r.Distributions, func(other *guidon.Distribution) bool { return other == d })
	return v, func(ctx context.Context, w service.Write, namespace string) (int64, error) {
		return m.service.DeleteDistribution(ctx, w, namespace, in)
	}
}

func ruleID(r *guidon.Rule) string         { return r.ID }
func ruleRank(r *guidon.Rule) *int32       { return &r.Rank }
func rolloutID(r *guidon.Rollout) string   { return r.ID }
func rolloutRank(r *guidon.Rollout) *int32 { return &r.Rank }

// orderItems gives some items the ranks of their ids, and returns these.
func orderItems[T any](m *model, items []T, id func(T) string, rank func(T) *int32) (verdict, []string) {
	v, ids := unchanged, []string{"none", "neither"}
	for _, item := range items {
		if !m.one(5) {
			ids, v = append(ids, id(item)), changes
		}
	}
	m.random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	for i, listed := range ids {
		for _, item := range items {
			if id(item) == listed {
				*rank(item) = int32(i + 1) // #nosec G115 -- few
			}
		}
	}
	slices.SortStableFunc(items, func(a, b T) int { return int(*rank(a) - *rank(b)) })
	return v, ids
}

// removeItem removes a random item, or none, and gives the others the ranks from 1.
func removeItem[T any](m *model, items []T, id func(T) string, rank func(T) *int32) (verdict, string, []T) {
	v, removed := unchanged, "none"
	if len(items) > 0 && !m.one(6) {
		v, removed = changes, id(pick(m, items))
	}
	items = slices.DeleteFunc(items, func(item T) bool { return id(item) == removed })
	for i, item := range items {
		if *rank(item) != int32(i+1) { // #nosec G115 -- few
			*rank(item), v = int32(i+1), changes // #nosec G115 -- few
		}
	}
	return v, removed, items
}
