package change

import (
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
)

// list is a member that is a list of objects. Its order is content.
type list[T, E any] struct {
	json string // in paths and JSON forms
	word string // an item

	at    func(*T) *[]*E
	id    func(*E) *string
	key   func(*E) string // names items in paths and words; nil if their position does
	rank  func(*E) *int32 // nil if items have none
	shape shape[E]
	brief briefFunc[E]
	named func(f *guidon.Flag, e *E) string // the name of an item in words; nil if that is its key or number

	// needed reports whether the merged object refers to the item; nil if none is referred to.
	needed func(m *merger, id string) bool

	// whole is set for a list whose items are valid together only: a merge takes all of
	// them from one side. open is then called as that of a value.
	whole bool
	open  func(m *merger, theirs []*E)

	// match are the keys by which items of two lists are paired, the most specific first.
	// An empty key matches nothing.
	match []func(f *guidon.Flag, e *E) string
}

func (l *list[T, E]) same(s *sides, before, after *T) bool {
	was, is := *l.at(before), *l.at(after)
	if len(was) != len(is) {
		return false
	}
	for i := range was {
		if s.matching == strictly && !l.sameItem(was[i], is[i]) || !l.shape.same(s, was[i], is[i]) {
			return false
		}
	}
	return true
}

// sameItem reports whether the items have the same id and rank.
func (l *list[T, E]) sameItem(a, b *E) bool {
	return *l.id(a) == *l.id(b) && (l.rank == nil || *l.rank(a) == *l.rank(b))
}

func (l *list[T, E]) own(t *T) {
	items := slices.Clone(*l.at(t))
	for i, e := range items {
		items[i] = l.shape.clone(e)
	}
	*l.at(t) = items
}

func (l *list[T, E]) content(f *guidon.Flag, t *T, o *jsonObject) {
	if items := *l.at(t); len(items) > 0 {
		o.add(l.json, l.items(f, items))
	}
}

// items returns the JSON forms of the items.
func (l *list[T, E]) items(f *guidon.Flag, items []*E) []byte {
	return jsonList(items, func(e *E) []byte { return l.shape.form(f, e) })
}

// place returns the place of the item at the index, which belongs to the flag f.
func (l *list[T, E]) place(at place, f *guidon.Flag, i int, e *E) place {
	if l.key != nil {
		return at.key(l.json, l.word, l.key(e))
	}
	here := at.index(l.json, l.word, i)
	if l.named != nil {
		here.words = at.named(l.named(f, e))
	}
	return here
}

// compare pairs the items of the two lists. Items without a counterpart were added or
// removed, those that are out of order were moved, and the others are compared.
func (l *list[T, E]) compare(c *comparer, at place, before, after *T) {
	was, is := *l.at(before), *l.at(after)
	if l.same(&c.sides, before, after) {
		l.compareRanks(c, at, was, is)
		return
	}
	from := l.pair(c, was, is)
	l.compareRemoved(c, at, was, from)
	inOrder := longestIncreasing(from)
	for i, e := range is {
		here := l.place(at, c.after, i, e)
		if from[i] < 0 {
			c.added(here, l.shape.form(c.after, e), l.brief(c.after, e)).To = i + 1
			continue
		}
		if !inOrder[i] {
			c.moved(l.place(at, c.before, from[i], was[from[i]]), here, from[i]+1, i+1)
		}
		l.shape.compare(c, l.naming(c, at, i, was[from[i]], e), was[from[i]], e)
	}
	if len(was) == len(is) && !slices.Contains(from, -1) && !slices.Contains(inOrder, false) {
		l.compareRanks(c, at, was, is)
	}
}

// naming returns the place of an item in the later list. In words, an item with a key has
// that of before, in case it is the key that has changed.
func (l *list[T, E]) naming(c *comparer, at place, i int, before, after *E) place {
	here := l.place(at, c.after, i, after)
	if l.key != nil {
		here.words = l.place(at, c.before, i, before).words
	}
	return here
}

// compareRemoved adds those items of before that have no counterpart. from has the index
// of the counterpart of each item of the later list, or -1.
func (l *list[T, E]) compareRemoved(c *comparer, at place, was []*E, from []int) {
	kept := make([]bool, len(was))
	for _, i := range from {
		if i >= 0 {
			kept[i] = true
		}
	}
	for i, e := range was {
		if !kept[i] {
			c.removed(l.place(at, c.before, i, e), l.shape.form(c.before, e), l.brief(c.before, e)).From = i + 1
		}
	}
}

// pair returns the index of the counterpart of each item of is, or -1.
func (l *list[T, E]) pair(c *comparer, was, is []*E) []int {
	p := lists.NewPairing(len(was), len(is))
	p.Ends(func(i, j int) bool {
		return (c.matching != byIdentity || *l.id(was[i]) == *l.id(is[j])) && l.shape.same(&c.sides, was[i], is[j])
	})
	if c.matching == byIdentity {
		p.By(func(i int) string { return *l.id(was[i]) }, func(i int) string { return *l.id(is[i]) })
	}
	p.By(func(i int) string { return string(l.shape.form(c.before, was[i])) },
		func(i int) string { return string(l.shape.form(c.after, is[i])) })
	for _, match := range l.match {
		p.By(func(i int) string { return match(c.before, was[i]) }, func(i int) string { return match(c.after, is[i]) })
	}
	return p.From
}

// compareRanks adds the ranks that differ although the order is the same. Between
// namespaces, the order alone counts.
func (l *list[T, E]) compareRanks(c *comparer, at place, was, is []*E) {
	if l.rank == nil || c.matching != byIdentity {
		return
	}
	for i := range is {
		if a, b := *l.rank(was[i]), *l.rank(is[i]); a != b {
			here := l.place(at, c.after, i, is[i]).field("rank", "rank")
			c.replaced(here, Encode(a), Encode(b), transition(a, b, false))
		}
	}
}

// longestIncreasing reports, for each index, whether it belongs to a longest subsequence
// that increases: the items that need not be moved. Negative values do not count.
func longestIncreasing(values []int) []bool {
	var ends []int // the index of the smallest last value of a subsequence, by length
	previous := make([]int, len(values))
	for i, v := range values {
		if v < 0 {
			continue
		}
		n, _ := slices.BinarySearchFunc(ends, v, func(end, v int) int { return values[end] - v })
		previous[i] = -1
		if n > 0 {
			previous[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	in := make([]bool, len(values))
	for i, v := range values {
		in[i] = v < 0 // an added item is not out of order
	}
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i >= 0; i = previous[i] {
			in[i] = true
		}
	}
	return in
}
