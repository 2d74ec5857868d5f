package servicetest

import (
	"slices"

	"github.com/guidonhq/guidon"
)

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
