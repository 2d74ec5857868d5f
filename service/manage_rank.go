package service

import (
	"cmp"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
)

// ranking returns the id of a rule or rollout, and pointers to its rank and to the time of
// its last change. Evaluation tries those of a flag in the order of their ranks.
type ranking[T any] func(item T) (id string, rank *int32, updatedAt *time.Time)

func ruleRanking(r *guidon.Rule) (string, *int32, *time.Time) { return r.ID, &r.Rank, &r.UpdatedAt }

func rolloutRanking(r *guidon.Rollout) (string, *int32, *time.Time) {
	return r.ID, &r.Rank, &r.UpdatedAt
}

// sortByRank sorts the list by rank. Items of the same rank keep their order.
func sortByRank[T any](list []T, ranking ranking[T]) {
	slices.SortStableFunc(list, func(a, b T) int {
		_, x, _ := ranking(a)
		_, y, _ := ranking(b)
		return cmp.Compare(*x, *y)
	})
}

// reorder assigns the ranks 1, 2, 3, … to the items with the ids and sorts the list. An
// id that is not in the list uses up a rank, and items without an id in ids keep their
// rank (contract 4.6). It returns errUnchanged if no id is in the list.
func reorder[T any](list []T, ranking ranking[T], ids []string, now time.Time) error {
	ranks := make(map[string]int32, len(ids))
	for i, id := range ids {
		ranks[id] = int32(i + 1) // #nosec G115 -- bounded by the body size
	}
	found := false
	for _, item := range list {
		id, rank, updatedAt := ranking(item)
		if newRank, listed := ranks[id]; listed {
			*rank, *updatedAt, found = newRank, now, true
		}
	}
	if !found {
		return errUnchanged
	}
	sortByRank(list, ranking)
	return nil
}

// removeRanked returns the list without the item with the id, and with the ranks 1, 2,
// 3, …, which are reassigned even if there is no such item (contract 4.7). It returns
// errUnchanged if nothing changes.
func removeRanked[T any](list []T, ranking ranking[T], removed string, now time.Time) ([]T, error) {
	kept := slices.DeleteFunc(slices.Clone(list), func(item T) bool {
		id, _, _ := ranking(item)
		return id == removed
	})
	changed := len(kept) != len(list)
	for i, item := range kept {
		_, rank, _ := ranking(item)
		changed = changed || int(*rank) != i+1
	}
	if !changed {
		return nil, errUnchanged
	}
	for i, item := range kept {
		_, rank, updatedAt := ranking(item)
		*rank, *updatedAt = int32(i+1), now // #nosec G115 -- a flag is bounded far below 2^31 rules
	}
	return kept, nil
}
