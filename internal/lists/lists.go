// Package lists has what the standard library lacks for slices.
package lists

import "strings"

// Map returns what f makes of each item, in the same order. It is not nil, even for no items.
func Map[T, R any](items []T, f func(T) R) []R {
	made := make([]R, len(items))
	for i, item := range items {
		made[i] = f(item)
	}
	return made
}

// Distinct returns the items without repetitions, in the same order.
func Distinct[T comparable](items []T) (distinct []T) {
	known := make(map[T]bool, len(items))
	for _, item := range items {
		if !known[item] {
			known[item] = true
			distinct = append(distinct, item)
		}
	}
	return distinct
}

// Join returns the words in one text, such as "a, b or c", with the conjunction before the last one.
func Join[T ~string](items []T, conjunction string) string {
	words := Map(items, func(item T) string { return string(item) })
	if n := len(words); n > 1 {
		words = append(words[:n-2], words[n-2]+" "+conjunction+" "+words[n-1])
	}
	return strings.Join(words, ", ")
}
