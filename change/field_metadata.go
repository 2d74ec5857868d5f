package change

import (
	"encoding/json"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
)

// metadata is the member that is a JSON object with any members. Text that is not an object,
// or has a name twice, is compared and merged as a whole.
type metadata[T any] struct {
	json string // in paths, JSON forms and words
	at   func(*T) *json.RawMessage
}

func (d *metadata[T]) same(_ *sides, before, after *T) bool {
	return SameJSON(string(*d.at(before)), string(*d.at(after)))
}

func (d *metadata[T]) own(t *T) { *d.at(t) = slices.Clone(*d.at(t)) }

func (d *metadata[T]) content(_ *guidon.Flag, t *T, o *jsonObject) {
	if text := *d.at(t); len(text) > 0 {
		o.add(d.json, jsonOrString(text))
	}
}

// jsonOrString returns the text, or a JSON string with it if it is not JSON.
func jsonOrString(text json.RawMessage) json.RawMessage {
	if len(text) == 0 {
		return nil
	}
	if json.Valid(text) {
		return text
	}
	return Encode(string(text))
}

func (d *metadata[T]) compare(c *comparer, at place, before, after *T) {
	if d.same(nil, before, after) {
		return
	}
	differences := len(c.out)
	was, wasObject := properties(*d.at(before))
	is, isObject := properties(*d.at(after))
	if wasObject && isObject {
		d.compareProperties(c, at, was, is)
	}
	if len(c.out) == differences { // text that is no object, or another order
		c.replaced(at.field(d.json, d.json), jsonOrString(*d.at(before)), jsonOrString(*d.at(after)), Wording{What: changed})
	}
}

func (d *metadata[T]) compareProperties(c *comparer, at place, was, is []property) {
	before, after := byName(was), byName(is)
	for _, p := range was {
		if _, kept := after[p.name]; !kept {
			c.removed(at.key(d.json, d.json, p.name), p.value, shortWords(p.value))
		}
	}
	for _, p := range is {
		here := at.key(d.json, d.json, p.name)
		old, existed := before[p.name]
		switch {
		case !existed:
			c.added(here, p.value, shortWords(p.value))
		case !SameJSON(string(old), string(p.value)):
			c.replaced(here, old, p.value, transition(old, p.value, false))
		}
	}
}

func byName(list []property) map[string]json.RawMessage {
	values := make(map[string]json.RawMessage, len(list))
	for _, p := range list {
		values[p.name] = p.value
	}
	return values
}

// merge merges the members of the object one by one. The result has the order of ours,
// and after that the members that only theirs has.
func (d *metadata[T]) merge(m *merger, at place, v versions[T], out *T) {
	base, baseObject := d.properties(v.base)
	ours, oursObject := d.properties(v.ours)
	theirs, theirsObject := d.properties(v.theirs)
	unchanged := v.base != nil && (d.same(nil, v.base, v.ours) || d.same(nil, v.base, v.theirs)) || d.same(nil, v.ours, v.theirs)
	if unchanged || !baseObject || !oursObject || !theirsObject {
		form := func(_ *guidon.Flag, t *T) ([]byte, string) { return jsonOrString(*d.at(t)), "" }
		if decide(m, at.field(d.json, d.json), v, d.same, form) == Theirs {
			*d.at(out) = slices.Clone(*d.at(v.theirs))
		}
		return
	}
	var merged []property
	of := versions[map[string]json.RawMessage]{nil, new(byName(ours)), new(byName(theirs))}
	if v.base != nil {
		of.base = new(byName(base))
	}
	for _, p := range lists.Distinct(slices.Concat(names(base), names(ours), names(theirs))) {
		if value := mergeProperty(m, at.key(d.json, d.json, p), of, p); value != nil {
			merged = append(merged, property{p, value})
		}
	}
	*d.at(out) = join(inOrderOf(merged, ours))
}

func (d *metadata[T]) properties(t *T) ([]property, bool) {
	if t == nil {
		return nil, true
	}
	return properties(*d.at(t))
}

// mergeProperty returns the merged value of the member with the name, or nil if it is
// removed.
func mergeProperty(m *merger, at place, of versions[map[string]json.RawMessage], name string) json.RawMessage {
	v := versions[json.RawMessage]{nil, new((*of.ours)[name]), new((*of.theirs)[name])}
	if of.base != nil {
		v.base = new((*of.base)[name])
	}
	same := func(_ *sides, a, b *json.RawMessage) bool { return SameJSON(string(*a), string(*b)) }
	form := func(_ *guidon.Flag, value *json.RawMessage) ([]byte, string) { return *value, "" }
	if decide(m, at, v, same, form) == Theirs {
		return *v.theirs
	}
	return *v.ours
}

func names(list []property) []string {
	return lists.Map(list, func(p property) string { return p.name })
}

// inOrderOf sorts the list by the order of names in another list. Other names come last.
func inOrderOf(list, order []property) []property {
	position := make(map[string]int, len(order))
	for i, p := range order {
		position[p.name] = i - len(order) // below that of names that are not in it
	}
	slices.SortStableFunc(list, func(a, b property) int { return position[a.name] - position[b.name] })
	return list
}
