package service

import (
	"encoding/json"

	"github.com/guidonhq/guidon/internal/lists"
)

// The merge functions return a copy of a stored object that matches the document.
// Children that continue to exist keep their ids and creation times. Variants are
// matched by key, other children by as much of their content as possible, and the rest
// by position.

func sameContent[T any](a, b T, keys []func(T) string) bool { return keys[0](a) == keys[0](b) }

// pair returns, for each item of wants, the index of the matching item of haves, or -1.
// Each key is used for the items that the previous keys did not pair.
func pair[T any](wants, haves []T, keys []func(T) string) []int {
	p := lists.NewPairing(len(haves), len(wants))
	for _, key := range keys {
		p.By(func(i int) string { return key(haves[i]) }, func(i int) string { return key(wants[i]) })
	}
	return p.From
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
