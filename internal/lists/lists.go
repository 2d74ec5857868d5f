// Package lists has what the standard library lacks for slices: pairs of items that are the same,
// sentences about items, and the item that a misspelled name may mean.
package lists

import (
	"slices"
	"strings"
)

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

// Pairing pairs items of two lists, an earlier and a later one, by their indexes.
type Pairing struct {
	From  []int  // for each item of the later list, the index in the earlier one, or -1
	Taken []bool // the items of the earlier list that are paired
	left  int    // how many pairs are still possible
}

// NewPairing returns a pairing of lists of so many items, of which none is paired.
func NewPairing(earlier, later int) *Pairing {
	return &Pairing{From: slices.Repeat([]int{-1}, later), Taken: make([]bool, earlier), left: min(earlier, later)}
}

// Ends pairs the items at the start and at the end of both lists that are the same: in
// most cases all but one, and without making keys for them.
func (p *Pairing) Ends(same func(earlier, later int) bool) {
	start := 0
	for p.left > 0 && same(start, start) {
		p.pair(start, start)
		start++
	}
	for i, j := len(p.Taken)-1, len(p.From)-1; p.left > 0 && same(i, j); i, j = i-1, j-1 {
		p.pair(i, j)
	}
}

func (p *Pairing) pair(earlier, later int) {
	p.From[later], p.Taken[earlier] = earlier, true
	p.left--
}

// By pairs items that are not paired yet and have the same key, unless that is "", in their order.
func (p *Pairing) By(earlier, later func(i int) string) {
	if p.left == 0 {
		return
	}
	free := map[string][]int{}
	for i, taken := range p.Taken {
		if taken {
			continue
		}
		if key := earlier(i); key != "" {
			free[key] = append(free[key], i)
		}
	}
	for i, from := range p.From {
		if from >= 0 {
			continue
		}
		key := later(i)
		if same := free[key]; len(same) > 0 {
			p.pair(same[0], i)
			free[key] = same[1:]
		}
	}
}
