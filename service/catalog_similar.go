package service

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
)

// Limits of suggestions.
const (
	maxSuggestions = 3
	minMisspelt    = 3  // bytes of the words of a query
	maxMisspelt    = 40 // also in bytes
)

// similar returns the flags whose keys or names, or words of these, are nearly the words of
// a query, the nearest first.
func (c *catalog) similar(words []string) []*guidon.Flag {
	want := spaced(strings.Join(words, " "))
	if len(want) < minMisspelt || len(want) > maxMisspelt {
		return nil
	}
	type near struct {
		flag     *guidon.Flag
		distance int
	}
	best := newTop(maxSuggestions, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), strings.Compare(a.flag.Key, b.flag.Key))
	})
	limit := 2 + len(want)/4
	for row := range c.byKey.All() {
		f := row.flag
		if n := min(distance(f.Key, want, limit), distance(f.Name, want, limit)); n < limit {
			best.add(near{f, n})
		}
	}
	return lists.Map(best.items, func(n near) *guidon.Flag { return n.flag })
}

// spaced returns the text with ASCII letters in lower case, and spaces for signs between words.
func spaced(text string) []byte {
	out := []byte(FoldCase(text))
	for i, b := range out {
		if !('a' <= b && b <= 'z' || '0' <= b && b <= '9' || b >= 0x80) {
			out[i] = ' '
		}
	}
	return out
}

// distance returns how far the text is from the wanted one, or that of one of its words and 1 if
// that is less. It need not be exact from the limit on.
func distance(text string, want []byte, limit int) int {
	whole := spaced(text)
	least := lists.Distance(whole, want, limit)
	for word := range bytes.SplitSeq(whole, []byte(" ")) {
		if len(word) < len(whole) {
			least = min(least, lists.Distance(word, want, limit)+1)
		}
	}
	return least
}
