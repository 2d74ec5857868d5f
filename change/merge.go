package change

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/guidonhq/guidon"
)

// Side is one of the two versions that a merge brings together.
type Side string

// The sides of a merge.
const (
	Ours   Side = "ours"   // the current version
	Theirs Side = "theirs" // the version whose changes are brought in
)

// Conflict is a part of an object that both sides have changed, and differently. Rules,
// rollouts and constraints have their ids in the path, such as
// rules["5c0…"].segmentKeys; variants have their keys. The path of a whole object is ".";
// rules.order is that of the order of a list.
//
// The values are in the form of [Difference]. One that is missing was removed on that
// side or, for Base, did not exist.
type Conflict struct {
	Path   string          `json:"path"`
	Name   string          `json:"name"` // of the part in words, such as "rule 2: segments"
	Base   json.RawMessage `json:"base,omitempty"`
	Ours   json.RawMessage `json:"ours,omitempty"`
	Theirs json.RawMessage `json:"theirs,omitempty"`
	// InUse is set if one side has removed the part, and the other one has not changed it
	// but begun to refer to it.
	InUse bool `json:"inUse,omitempty"`

	Words ConflictWords `json:"-"`
}

// ConflictWords are the values of a conflict in words. One that is missing is empty.
type ConflictWords struct{ Base, Ours, Theirs string }

// Choices resolve conflicts: they have the side that counts, by path.
type Choices map[string]Side

// ResolveAll returns the choices that resolve all conflicts for one side.
func ResolveAll(conflicts []Conflict, side Side) Choices {
	choices := make(Choices, len(conflicts))
	for _, c := range conflicts {
		choices[c.Path] = side
	}
	return choices
}

// Merged is the result of a three-way merge.
type Merged[T any] struct {
	Object    *T         // nil if it is deleted; only preliminary as long as there are conflicts
	Conflicts []Conflict // that no choice resolves
}

// Merge brings the changes from base to theirs into ours, which are versions of a flag, a segment,
// or a namespace without its flags and segments: a part that changed on one side
// only is taken from it, and a part that changed on both sides differently is a conflict,
// unless choices resolve it. A nil object is one that does not exist. Variants are matched by id or
// else by key, metadata by key, and rules, rollouts and constraints by id. The distributions of a
// rule are one part: their shares are valid together only.
//
// The result refers only to what exists. In particular, it is a conflict if one side
// removes a variant that the other has begun to use. If the side that removes it is chosen,
// its distributions are removed too (contract 4.7). The caller must check the rules of the
// result before it stores them: each side may have set one of two parts that exclude each
// other, such as segments and everyone. Ranks are assigned anew if those of the versions do
// not fit together. Times are those of one of the versions: the caller sets them for the
// objects that it stores. The result shares nothing with the versions.
//
// Merge returns InvalidArgument if a choice is not about a conflict.
func Merge[T any](base, ours, theirs *T, choices Choices) (Merged[T], error) {
	return merge(versions[T]{base, ours, theirs}, false, choices)
}

// MergeWithoutBase is [Merge] for versions whose base is not known: each of their differences is
// a conflict, as both sides may have made it.
func MergeWithoutBase[T any](ours, theirs *T, choices Choices) (Merged[T], error) {
	return merge(versions[T]{ours: ours, theirs: theirs}, true, choices)
}

// versions are the versions of an object or of a part of it. A nil version does not exist.
type versions[T any] struct{ base, ours, theirs *T }

// mergeFunc merges an object that both sides have.
type mergeFunc[T any] func(m *merger, at place, v versions[T]) *T

func merge[T any](v versions[T], unknownBase bool, choices Choices) (Merged[T], error) {
	s := shapeOf[T]()
	both, ofFlags := any(mergeFunc[guidon.Flag](mergeFlag)).(mergeFunc[T])
	if !ofFlags {
		both = mergeMembers(s)
	}
	flags := versions[guidon.Flag]{flagOf(v.base), flagOf(v.ours), flagOf(v.theirs)}
	run := func(choices Choices) (*merger, *T) {
		m := &merger{flags: flags, unknownBase: unknownBase, choices: choices, met: map[string]bool{}}
		return m, mergeObject(m, place{}, s, v, false, noBrief, both)
	}
	m, object := run(choices)
	if err := checkChoices(choices, m, func() *merger { unresolved, _ := run(nil); return unresolved }); err != nil {
		return Merged[T]{}, err
	}
	if was, is := created(v.ours), created(object); was != nil && is != nil {
		*is = *was
	}
	return Merged[T]{object, m.conflicts}, nil
}

// checkChoices returns an error for a choice that is no side, or is not about a conflict of
// the merge with the choices or without any: one choice may make another one needless.
func checkChoices(choices Choices, m *merger, unresolved func() *merger) error {
	var without *merger
	for _, path := range slices.Sorted(maps.Keys(choices)) {
		side := choices[path]
		if side != Ours && side != Theirs {
			return guidon.Errorf(guidon.InvalidArgument, "invalid choice for %s: must be %s or %s", guidon.Shorten(path, maxSummary), Ours, Theirs)
		}
		if m.met[path] {
			continue
		}
		if without == nil {
			without = unresolved()
		}
		if !without.met[path] {
			return guidon.Errorf(guidon.InvalidArgument, "invalid choice for %s: there is no such conflict", guidon.Shorten(path, maxSummary))
		}
	}
	return nil
}

// merger collects the conflicts of one merge.
type merger struct {
	flags       versions[guidon.Flag]
	unknownBase bool // a nil base is unknown, instead of not existing
	choices     Choices
	met         map[string]bool // the paths of all conflicts, also of resolved ones
	conflicts   []Conflict

	used    map[string]bool   // ids of variants that the merged flag refers to, or may refer to
	renamed map[string]string // other keys that variants may get, by id
}

// strict is how versions are compared.
var strict = &sides{matching: strictly}

// contents returns how base is compared with theirs or ours, without regard to ids.
func (m *merger) contents(theirs bool) *sides {
	if theirs {
		return &sides{before: m.flags.base, after: m.flags.theirs}
	}
	return &sides{before: m.flags.base, after: m.flags.ours}
}

// decide returns the side that a part is taken from as a whole, and Ours as long as there
// is a conflict.
func decide[T any](m *merger, at place, v versions[T], same func(s *sides, a, b *T) bool, form form[T]) Side {
	switch {
	case same(strict, v.ours, v.theirs):
		return Ours
	case v.base != nil && same(strict, v.base, v.ours):
		return Theirs
	case v.base != nil && same(strict, v.base, v.theirs):
		return Ours
	}
	return cmp.Or(conflict(m, at, v, form), Ours)
}

// form returns a version of a part, which belongs to the flag f, as JSON and in words. The words
// are empty if the JSON stands for itself.
type form[T any] func(f *guidon.Flag, t *T) (json []byte, words string)

// of returns the two forms of a version, which are empty if it does not exist.
func (form form[T]) of(f *guidon.Flag, t *T) (json.RawMessage, string) {
	if t == nil {
		return nil, ""
	}
	json, words := form(f, t)
	return json, guidon.Shorten(cmp.Or(words, string(json)), maxValue)
}

// conflict adds a conflict. If a choice resolves it, it only returns that.
func conflict[T any](m *merger, at place, v versions[T], form form[T]) Side {
	path := cmp.Or(at.path, Whole)
	m.met[path] = true
	if side := m.choices[path]; side != "" {
		return side
	}
	c := Conflict{Path: path, Name: joined(at.words)}
	c.Base, c.Words.Base = form.of(m.flags.base, v.base)
	c.Ours, c.Words.Ours = form.of(m.flags.ours, v.ours)
	c.Theirs, c.Words.Theirs = form.of(m.flags.theirs, v.theirs)
	m.conflicts = append(m.conflicts, c)
	return ""
}

// mergeObject merges an object that may not exist in some versions. If it is needed, other
// parts of the result refer to it.
func mergeObject[T any](m *merger, at place, s shape[T], v versions[T], needed bool, brief briefFunc[T], both mergeFunc[T]) *T {
	form := func(f *guidon.Flag, t *T) ([]byte, string) { return s.form(f, t), brief(f, t) }
	switch {
	case v.ours == nil && v.theirs == nil:
		return nil
	case v.ours == nil || v.theirs == nil:
		existing := cmp.Or(v.ours, v.theirs)
		if v.base == nil && !m.unknownBase {
			return s.clone(existing)
		}
		changed := !s.same(m.contents(v.ours == nil), v.base, existing)
		if !changed && !needed {
			return nil
		}
		switch side := conflict(m, at, v, form); {
		case side == "":
			m.conflicts[len(m.conflicts)-1].InUse = !changed
		case side == Ours && v.ours == nil, side == Theirs && v.theirs == nil:
			return nil
		}
		return s.clone(existing)
	case v.base != nil && s.same(strict, v.base, v.theirs):
		return s.clone(v.ours)
	case v.base != nil && s.same(strict, v.base, v.ours):
		return s.clone(v.theirs)
	case s.same(strict, v.ours, v.theirs):
		return s.clone(v.ours)
	case v.base == nil && at.path == "" && !m.unknownBase:
		if s.same(&sides{before: m.flags.ours, after: m.flags.theirs}, v.ours, v.theirs) {
			return s.clone(v.ours)
		}
		if conflict(m, at, v, form) == Theirs {
			return s.clone(v.theirs)
		}
		return s.clone(v.ours)
	}
	return both(m, at, v)
}

// mergeMembers merges objects member by member.
func mergeMembers[T any](s shape[T]) mergeFunc[T] {
	return func(m *merger, at place, v versions[T]) *T {
		out := s.clone(v.ours)
		s.merge(m, at, v, out)
		return out
	}
}

func (v *value[T]) merge(m *merger, at place, of versions[T], out *T) {
	form := func(f *guidon.Flag, t *T) ([]byte, string) { return Encode(v.get(f, t)), wholeWords(v.shown(f, t)) }
	conflicts := len(m.conflicts)
	if decide(m, v.at(at, out), of, v.equal, form) == Theirs {
		v.set(out, of.theirs)
	}
	if v.open != nil && len(m.conflicts) > conflicts {
		v.open(m, of.theirs)
	}
}
