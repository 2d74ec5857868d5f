package service

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
)

// sortByRank sorts the list by rank, in which evaluation tries the rules or rollouts of a flag.
// Items of the same rank keep their order.
func sortByRank[T any](list []T, header func(T) partHeader) {
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(*header(a).rank, *header(b).rank) })
}

// order assigns the ranks 1, 2, 3, … to the items with the ids, of which there must be at least
// two, and sorts the list. An id that is not in the list uses up a rank, and items without an id
// in ids keep their rank (contract 4.6). The name is that of the field with the ids.
func order[T any](
	ctx context.Context, s *Service, w Write, namespace, flagKey, name string, ids []string,
	list func(f *guidon.Flag) *[]T, header func(T) partHeader,
) (int64, error) {
	if flagKey == "" {
		return 0, emptyField("flagKey")
	}
	if len(ids) < 2 {
		return 0, invalidField(name, "must contain atleast 2 elements")
	}
	ranks := make(map[string]int32, len(ids))
	for i, id := range ids {
		ranks[id] = int32(i + 1) // #nosec G115 -- bounded by the body size
	}
	return changeParts(ctx, s, w, namespace, flagObjects, flagKey, func(f *guidon.Flag, now time.Time) (found bool) {
		for _, item := range *list(f) {
			h := header(item)
			if newRank, listed := ranks[*h.id]; listed {
				*h.rank, *h.updated, found = newRank, now, true
			}
		}
		sortByRank(*list(f), header)
		return found
	})
}

// deleteRanked deletes the item with the id from the list, and assigns the ranks 1, 2, 3, … to
// the others, even if there is no such item (contract 4.7).
func deleteRanked[T any](
	ctx context.Context, s *Service, w Write, namespace, flagKey, id string,
	list func(f *guidon.Flag) *[]T, header func(T) partHeader,
) (int64, error) {
	if err := RuleKeys(id, flagKey); err != nil {
		return 0, err
	}
	return changeParts(ctx, s, w, namespace, flagObjects, flagKey, func(f *guidon.Flag, now time.Time) bool {
		items := list(f)
		before := len(*items)
		*items = slices.DeleteFunc(*items, func(item T) bool { return *header(item).id == id })
		changed := len(*items) < before
		for i, item := range *items {
			changed = changed || int(*header(item).rank) != i+1
		}
		for i, item := range *items {
			h := header(item)
			*h.rank, *h.updated = int32(i+1), now // #nosec G115 -- a flag is bounded far below 2^31 rules
		}
		return changed
	})
}
