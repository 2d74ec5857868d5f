package guidon

import "slices"

// find returns the first item that fits, or nil.
func find[T any](items []*T, fits func(*T) bool) *T {
	if i := slices.IndexFunc(items, fits); i >= 0 {
		return items[i]
	}
	return nil
}

// remove returns items without those that fit, in a slice of its own.
func remove[T any](items []*T, fits func(*T) bool) []*T {
	return slices.DeleteFunc(slices.Clone(items), fits)
}

// unique returns the items without repetitions, the first of each kept.
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
