package change

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/guidonhq/guidon"
)

// The objects of this package's functions are described once, in shapes.go, by their
// members: values, lists, metadata. To compare, to merge and to describe an object is to
// do so with each of its members.

// member is a part of T: one of its fields or, if they depend on each other, several.
type member[T any] interface {
	// same reports whether the member has the same content in two objects. It is called
	// for objects that are equal nearly always, and does not allocate for them.
	same(s *sides, before, after *T) bool
	// compare adds the differences of the member.
	compare(c *comparer, at place, before, after *T)
	// content adds the member to the JSON form of t, which belongs to the flag f.
	content(f *guidon.Flag, t *T, o *jsonObject)
	// own replaces whatever t shares with the object that it is a copy of.
	own(t *T)
	// merge sets the member in out, which is a copy of ours.
	merge(m *merger, at place, v versions[T], out *T)
}

// shape describes the content of T, or a part of it, which is a member too.
type shape[T any] []member[T]

func (s shape[T]) same(sides *sides, before, after *T) bool {
	if before == after {
		return true
	}
	if before == nil || after == nil {
		return false
	}
	for _, m := range s {
		if !m.same(sides, before, after) {
			return false
		}
	}
	return true
}

func (s shape[T]) compare(c *comparer, at place, before, after *T) {
	for _, m := range s {
		m.compare(c, at, before, after)
	}
}

func (s shape[T]) content(f *guidon.Flag, t *T, o *jsonObject) {
	for _, m := range s {
		m.content(f, t, o)
	}
}

// form returns the JSON form of t: without ids, times and ranks, and with keys of
// variants instead of their ids. It returns nil if t is nil.
func (s shape[T]) form(f *guidon.Flag, t *T) json.RawMessage {
	if t == nil {
		return nil
	}
	var o jsonObject
	s.content(f, t, &o)
	return o.end()
}

func (s shape[T]) own(t *T) {
	for _, m := range s {
		m.own(t)
	}
}

func (s shape[T]) merge(m *merger, at place, v versions[T], out *T) {
	for _, member := range s {
		member.merge(m, at, v, out)
	}
}

// clone returns a deep copy of t.
func (s shape[T]) clone(t *T) *T {
	if t == nil {
		return nil
	}
	out := *t
	s.own(&out)
	return &out
}

// matching is the way in which parts of two objects are matched.
type matching uint8

const (
	byContent  matching = iota // in different namespaces: ids differ
	byIdentity                 // in two states of one object: the id or else the content
	strictly                   // in versions to merge: ids and ranks must be equal too
)

// sides are the two flags that are compared, to find the variants that their ids refer to.
// Both are nil for other objects.
type sides struct {
	before, after *guidon.Flag
	matching      matching
}

func sidesOf[T any](before, after *T, m matching) sides {
	return sides{flagOf(before), flagOf(after), m}
}

// flagOf returns the object if it is a flag, and nil otherwise.
func flagOf(object any) *guidon.Flag {
	f, _ := object.(*guidon.Flag)
	return f
}

// sameVariant reports whether references to the variants with the ids mean the same one.
func (s *sides) sameVariant(before, after string) bool {
	if s.matching == strictly || s.before == nil || s.after == nil {
		return before == after
	}
	if s.matching == byIdentity {
		if before == after {
			return true
		}
		if s.before.Variant(after) != nil || s.after.Variant(before) != nil {
			return false
		}
	}
	return reference(s.before, before) == reference(s.after, after)
}

// reference returns the key of the variant, or the id if the flag has no such variant.
func reference(f *guidon.Flag, id string) string {
	if f == nil || id == "" {
		return id
	}
	if v := f.Variant(id); v != nil {
		return v.Key
	}
	return id
}

// value is a member that is compared and merged as a whole.
type value[T any] struct {
	json  string // in paths and JSON forms
	words string
	long  bool // not quoted in words

	optional bool // JSON forms leave it out if it is not set

	equal func(s *sides, before, after *T) bool
	get   func(f *guidon.Flag, t *T) any // for people: a variant's key, not its id
	show  func(t *T) any                 // the value for words, if that of get is not; or nil
	named func(t *T) string              // the words, if they depend on the object; or nil
	set   func(to, from *T)

	// open is called if there is a conflict, as the value may become that of theirs when it
	// is resolved; or nil.
	open func(m *merger, theirs *T)
}

// plain returns the member for a field without pointers.
func plain[T any, V comparable](json, words string, at func(*T) *V) *value[T] {
	return &value[T]{
		json: json, words: words,
		equal: func(_ *sides, before, after *T) bool { return *at(before) == *at(after) },
		get:   func(_ *guidon.Flag, t *T) any { return *at(t) },
		set:   func(to, from *T) { *at(to) = *at(from) },
	}
}

// shown returns the member for a field that words do not show in its JSON form, but as show
// returns it.
func shown[T any, V comparable](json, words string, at func(*T) *V, show func(*T) any) *value[T] {
	v := plain(json, words, at)
	v.show = show
	return v
}

// keys returns the member for a list of keys of segments.
func keys[T any](json, words string, at func(*T) *[]string) *value[T] {
	return &value[T]{
		json: json, words: words,
		equal: func(_ *sides, before, after *T) bool { return slices.Equal(*at(before), *at(after)) },
		get:   func(_ *guidon.Flag, t *T) any { return *at(t) },
		set:   func(to, from *T) { *at(to) = slices.Clone(*at(from)) },
	}
}

// variant returns the member for the id of a variant.
func variant[T any](json, words string, at func(*T) *string) *value[T] {
	return &value[T]{
		json: json, words: words,
		equal: func(s *sides, before, after *T) bool { return s.sameVariant(*at(before), *at(after)) },
		get:   func(f *guidon.Flag, t *T) any { return reference(f, *at(t)) },
		set:   func(to, from *T) { *at(to) = *at(from) },
		open:  func(m *merger, theirs *T) { m.used[*at(theirs)] = true },
	}
}

// jsonText returns the member for a string that is JSON.
func jsonText[T any](json, words string, at func(*T) *string) *value[T] {
	v := plain(json, words, at)
	v.long = true
	v.equal = func(_ *sides, before, after *T) bool { return SameJSON(*at(before), *at(after)) }
	return v
}

// variantKey is the member for the key of a variant.
func variantKey() *value[guidon.Variant] {
	v := plain("key", "key", func(v *guidon.Variant) *string { return &v.Key })
	v.open = func(m *merger, theirs *guidon.Variant) { m.renamed[theirs.ID] = theirs.Key }
	return v
}

// ifSet returns the member so that JSON forms leave it out if it is not set.
func (v *value[T]) ifSet() *value[T] {
	v.optional = true
	return v
}

func (v *value[T]) same(s *sides, before, after *T) bool { return v.equal(s, before, after) }

func (v *value[T]) own(t *T) { v.set(t, t) }

// shown returns the value for words.
func (v *value[T]) shown(f *guidon.Flag, t *T) any {
	if v.show != nil {
		return v.show(t)
	}
	return v.get(f, t)
}

// at returns the place of the value, which belongs to t.
func (v *value[T]) at(p place, t *T) place {
	if v.named != nil {
		return p.field(v.json, v.named(t))
	}
	return p.field(v.json, v.words)
}

func (v *value[T]) content(f *guidon.Flag, t *T, o *jsonObject) {
	value := v.get(f, t)
	if value != "" && !(v.optional && reflect.ValueOf(value).IsZero()) {
		o.add(v.json, Encode(value))
	}
}

func (v *value[T]) compare(c *comparer, at place, before, after *T) {
	if v.equal(&c.sides, before, after) {
		return
	}
	was, is := v.get(c.before, before), v.get(c.after, after)
	c.replaced(v.at(at, after), Encode(was), Encode(is), transition(v.shown(c.before, before), v.shown(c.after, after), v.long))
}
