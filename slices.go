package guidon

import "slices"

// find returns the first item for which fits returns true, or nil.
func find[T any](items []*T, fits func(*T) bool) *T {
	if i := slices.IndexFunc(items, fits); i >= 0 {
		return items[i]
	}
	return nil
}

// remove returns a copy of items without those for which fits returns true.
func remove[T any](items []*T, fits func(*T) bool) []*T {
	return slices.DeleteFunc(slices.Clone(items), fits)
}

// unique returns a copy of items without duplicates, keeping the first of each.
func unique(items []string) []string {
	seen := make(map[string]bool, len(items))
	kept := make([]string, 0, len(items))
	for _, item := range items {
		if !seen[item] {
			seen[item] = true
			kept = append(kept, item)
		}
	}
	return kept
}
