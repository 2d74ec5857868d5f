package guidon

import (
	"cmp"
	"slices"
	"time"
)

// ranked is a rule or a rollout. Evaluation tries those of a flag in the order of their
// ranks.
type ranked interface {
	// ranking returns the id, and pointers to the rank and the time of the last change.
	ranking() (id string, rank *int32, updatedAt *time.Time)
}

// sortByRank sorts the list by rank. Items of the same rank keep their order.
func sortByRank[T ranked](list []T) {
	slices.SortStableFunc(list, func(a, b T) int {
		_, x, _ := a.ranking()
		_, y, _ := b.ranking()
		return cmp.Compare(*x, *y)
	})
}

// reorder assigns the ranks 1, 2, 3, … to the items with the ids and sorts the list. An
// id that is not in the list uses up a rank, and items without an id in ids keep their
// rank (contract 4.6). It returns errUnchanged if no id is in the list.
func reorder[T ranked](list []T, ids []string, now time.Time) error {
	ranks := make(map[string]int32, len(ids))
	for i, id := range ids {
		ranks[id] = int32(i + 1) // #nosec G115 -- bounded by the body size
	}
	found := false
	for _, item := range list {
		id, rank, updatedAt := item.ranking()
		if newRank, listed := ranks[id]; listed {
			*rank, *updatedAt, found = newRank, now, true
		}
	}
	if !found {
		return errUnchanged
	}
	sortByRank(list)
	return nil
}

// removeRanked returns the list without the item with the id, and with the ranks 1, 2,
// 3, …, which are reassigned even if there is no such item (contract 4.7). It returns
// errUnchanged if nothing changes.
func removeRanked[T ranked](list []T, removed string, now time.Time) ([]T, error) {
	kept := slices.DeleteFunc(slices.Clone(list), func(item T) bool {
		id, _, _ := item.ranking()
		return id == removed
	})
	changed := len(kept) != len(list)
	for i, item := range kept {
		_, rank, _ := item.ranking()
		changed = changed || int(*rank) != i+1
	}
	if !changed {
		return nil, errUnchanged
	}
	for i, item := range kept {
		_, rank, updatedAt := item.ranking()
		*rank, *updatedAt = int32(i+1), now // #nosec G115 -- a flag is bounded far below 2^31 rules
	}
	return kept, nil
}
