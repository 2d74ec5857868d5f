package service

import (
	"encoding/json"
	"slices"
)

// The merge functions return a copy of a stored object that matches the document.
// Children that continue to exist keep their ids and creation times. Variants are
// matched by key, other children by as much of their content as possible, and the rest
// by position.

func sameContent[T any](a, b T, keys []func(T) string) bool { return keys[0](a) == keys[0](b) }

// pair returns, for each item of wants, the index of the matching item of haves, or -1.
// Each key is used for the items that the previous keys did not pair.
func pair[T any](wants, haves []T, keys []func(T) string) []int {
	out := slices.Repeat([]int{-1}, len(wants))
	taken := make([]bool, len(haves))
	for _, key := range keys {
		free := map[string][]int{}
		for i, have := range haves {
			if !taken[i] {
				free[key(have)] = append(free[key(have)], i)
			}
		}
		for i, want := range wants {
			if same := free[key(want)]; out[i] < 0 && len(same) > 0 {
				out[i], taken[same[0]] = same[0], true
				free[key(want)] = same[1:]
			}
		}
	}
	return out
}

// cloneOf returns a copy of what p points to, or nil.
func cloneOf[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}

// contentOf returns a text that is the same for the same content.
func contentOf(parts ...any) string {
	text, err := json.Marshal(parts)
	if err != nil {
		return err.Error() // an enum without a name, which is not valid
	}
	return string(text)
}
