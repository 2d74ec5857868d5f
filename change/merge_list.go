package change

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
)

// items are the items of one version of a list.
type items[E any] struct {
	ids    []string
	number map[string]int // from 1, by id
	get    map[string]*E
}

func (l *list[T, E]) itemsOf(t *T) items[E] {
	out := items[E]{number: map[string]int{}, get: map[string]*E{}}
	if t == nil {
		return out
	}
	for _, e := range *l.at(t) {
		if id := *l.id(e); out.get[id] == nil { // ids are unique
			out.ids = append(out.ids, id)
			out.number[id], out.get[id] = len(out.ids), e
		}
	}
	return out
}

// merge merges the items by id, and then their order.
func (l *list[T, E]) merge(m *merger, at place, v versions[T], out *T) {
	if l.whole {
		l.mergeWhole(m, at, v, out)
		return
	}
	base, ours, theirs := l.itemsOf(v.base), l.itemsOf(v.ours), l.itemsOf(v.theirs)
	merged := map[string]*E{}
	for _, id := range lists.Distinct(slices.Concat(base.ids, ours.ids, theirs.ids)) {
		of := versions[E]{base.get[id], ours.get[id], theirs.get[id]}
		here := l.mergePlace(at, id, of, cmp.Or(base.number[id], ours.number[id], theirs.number[id])-1)
		if e := mergeObject(m, here, l.shape, of, l.needed != nil && l.needed(m, id), l.brief, mergeMembers(l.shape)); e != nil {
			merged[id] = e
		}
	}
	order := l.mergeOrder(m, at, base, ours, theirs, func(id string) bool { return merged[id] != nil })
	list := make([]*E, len(order))
	for i, id := range order {
		list[i] = merged[id]
	}
	if len(list) == 0 {
		list = nil
	}
	*l.at(out) = list
	l.mergeRanks(list, base, ours, theirs)
}

// mergeWhole takes the items of one side. Their ids do not matter.
func (l *list[T, E]) mergeWhole(m *merger, at place, v versions[T], out *T) {
	same := func(s *sides, a, b *T) bool {
		return slices.EqualFunc(*l.at(a), *l.at(b), func(a, b *E) bool { return l.shape.same(s, a, b) })
	}
	form := func(f *guidon.Flag, t *T) ([]byte, string) { return l.items(f, *l.at(t)), l.briefs(f, *l.at(t)) }
	conflicts := len(m.conflicts)
	if decide(m, at.field(l.json, l.word+"s"), v, same, form) == Theirs {
		*l.at(out) = *l.at(v.theirs)
		l.own(out)
	}
	if l.open != nil && len(m.conflicts) > conflicts {
		l.open(m, *l.at(v.theirs))
	}
}

// briefs describes the items in words.
func (l *list[T, E]) briefs(f *guidon.Flag, items []*E) string {
	words := lists.Map(items, func(e *E) string { return l.brief(f, e) })
	return cmp.Or(strings.Join(words, ", "), "none")
}

// mergePlace returns the place of an item. It is the same whichever side is ours.
func (l *list[T, E]) mergePlace(at place, id string, v versions[E], index int) place {
	if l.key == nil {
		path := at.under(l.json) + "[" + string(Encode(id)) + "]"
		return place{path, at.index(l.json, l.word, index).words}
	}
	if v.base != nil {
		return at.key(l.json, l.word, l.key(v.base))
	}
	var names []string
	for _, e := range []*E{v.ours, v.theirs} {
		if e != nil {
			names = append(names, l.key(e))
		}
	}
	return at.key(l.json, l.word, slices.Min(names))
}

// mergeOrder returns the ids for which kept returns true in the merged order. It is the
// order of the side that has changed the order of the items of all versions. Each item that
// only the other side has follows the one that it follows there.
func (l *list[T, E]) mergeOrder(m *merger, at place, base, ours, theirs items[E], kept func(id string) bool) []string {
	inAll := func(of items[E]) (ids []string) {
		for _, id := range of.ids {
			if (m.unknownBase || base.get[id] != nil) && ours.get[id] != nil && theirs.get[id] != nil {
				ids = append(ids, id)
			}
		}
		return ids
	}
	orders, known := versions[[]string]{nil, new(inAll(ours)), new(inAll(theirs))}, ours
	if !m.unknownBase {
		orders.base, known = new(inAll(base)), base
	}
	same := func(_ *sides, a, b *[]string) bool { return slices.Equal(*a, *b) }
	here := place{at.under(l.json) + ".order", at.named("order of the " + l.word + "s")}
	form := func(_ *guidon.Flag, ids *[]string) ([]byte, string) {
		return Encode(l.namesOf(*ids, known)), l.orderWords(*ids, known)
	}
	first, second := ours.ids, theirs.ids
	if decide(m, here, orders, same, form) == Theirs {
		first, second = second, first
	}
	return interleave(first, second, kept)
}

// namesOf returns the names of the items with the ids: their keys or else their ids.
func (l *list[T, E]) namesOf(ids []string, in items[E]) []string {
	if l.key == nil {
		return ids
	}
	return lists.Map(ids, func(id string) string { return l.key(in.get[id]) })
}

// orderWords returns the order of the items with the ids in words: their keys or else their
// numbers in a known order.
func (l *list[T, E]) orderWords(ids []string, known items[E]) string {
	if l.key != nil {
		return keyList(l.namesOf(ids, known))
	}
	numbers := lists.Map(ids, func(id string) string { return strconv.Itoa(known.number[id]) })
	return strings.Join(numbers, ", ")
}

// interleave returns the ids of both lists that are kept, in the order of the first one.
// Ids that only the second one has follow the one that precedes them there.
func interleave(first, second []string, kept func(id string) bool) []string {
	order := slices.DeleteFunc(slices.Clone(first), func(id string) bool { return !kept(id) })
	after := map[string][]string{} // those that follow an id, or "" at the start
	placed := map[string]bool{}
	for _, id := range order {
		placed[id] = true
	}
	previous := ""
	for _, id := range second {
		switch {
		case placed[id]:
			previous = id
		case kept(id):
			after[previous] = append(after[previous], id)
		}
	}
	out := slices.Clone(after[""])
	for _, id := range order {
		out = append(append(out, id), after[id]...)
	}
	return out
}

// mergeRanks sets the ranks of the merged items. If they are those of one side in the same
// order, each rank is taken from the side that has changed it. Otherwise, and if the ranks
// do not increase then, they are assigned anew, from 1.
func (l *list[T, E]) mergeRanks(list []*E, base, ours, theirs items[E]) {
	if l.rank == nil {
		return
	}
	ids := make([]string, len(list))
	for i, e := range list {
		ids[i] = *l.id(e)
		*l.rank(e) = l.mergeRank(versions[E]{base.get[ids[i]], ours.get[ids[i]], theirs.get[ids[i]]})
	}
	ofOneSide := slices.Equal(ids, ours.ids) || slices.Equal(ids, theirs.ids)
	if ofOneSide && slices.IsSortedFunc(list, func(a, b *E) int { return cmp.Compare(*l.rank(a), *l.rank(b)) }) {
		return
	}
	for i, e := range list {
		*l.rank(e) = int32(i + 1) // #nosec G115 -- bounded by the size of a flag
	}
}

// mergeRank returns the rank of an item: that of ours, unless only theirs has changed it.
func (l *list[T, E]) mergeRank(v versions[E]) int32 {
	if v.ours == nil || v.theirs != nil && v.base != nil && *l.rank(v.ours) == *l.rank(v.base) {
		return *l.rank(v.theirs)
	}
	return *l.rank(v.ours)
}
