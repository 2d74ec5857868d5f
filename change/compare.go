package change

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/guidonhq/guidon"
)

// Op is the operation on a part of an object. The names are those of JSON Patch (RFC 6902).
type Op string

// Operations on a part of an object.
const (
	OpReplace Op = "replace" // it has another value
	OpAdd     Op = "add"
	OpRemove  Op = "remove"
	OpMove    Op = "move" // it is elsewhere in its list
)

// Difference is one difference between two versions of an object.
//
// Path is where it is, such as name, metadata["owner"], variants["blue"].attachment or
// rules[2].distributions[0].rollout. Indexes count from 0, in the later version, but for a
// removed item in the earlier one. To get the later list from the earlier one, take out the
// removed and moved items, put the added and moved items at their positions in the later
// list, and fill the gaps with the other items, whose order is the same.
//
// Before and After are values in JSON: without ids, times and ranks of rules and rollouts,
// and with variants by key.
type Difference struct {
	Path    string          `json:"path"`
	Op      Op              `json:"op"`
	Before  json.RawMessage `json:"before,omitempty"`
	After   json.RawMessage `json:"after,omitempty"`
	From    int             `json:"from,omitempty"` // of an item removed or moved: its position in the earlier list, from 1
	To      int             `json:"to,omitempty"`   // of an item added or moved: its position in the later list, from 1
	Summary string          `json:"summary"`        // in words, such as "rule 2: share 10% → 50%"
	Wording Wording         `json:"-"`              // the parts of the summary
}

// Compared is an object that differs between two states. At least one of Before and After
// is set.
type Compared[T any] struct {
	Key         string       `json:"key"`
	Before      *T           `json:"before,omitempty"` // nil if it exists only later
	After       *T           `json:"after,omitempty"`  // nil if it existed only before
	Differences []Difference `json:"differences,omitempty"`
}

// Action returns the action that changes the object from Before to After.
func (c *Compared[T]) Action() Action {
	switch {
	case c.Before == nil:
		return ActionCreate
	case c.After == nil:
		return ActionDelete
	}
	return ActionUpdate
}

// Comparison is the difference between two states. Objects are sorted by key.
type Comparison struct {
	Namespace *Compared[guidon.Namespace] `json:"namespace,omitempty"` // nil if it is the same
	Segments  []Compared[guidon.Segment]  `json:"segments,omitempty"`
	Flags     []Compared[guidon.Flag]     `json:"flags,omitempty"`
}

// ObjectsOf returns the objects of the snapshot, which must not be modified.
func ObjectsOf(s *guidon.Snapshot) Objects {
	return Objects{Namespace: s.Namespace(), Segments: s.Segments(), Flags: s.Flags()}
}

// Outline returns the difference between two states, which may be of different namespaces,
// without the differences of the objects, which take most of the time if many differ.
// [Compare] returns those of one object. Flags, segments and
// variants are matched by key; rules, rollouts, distributions and constraints by their content.
// Their order is content, the order of flags and segments is not. Ids, times, ranks and the key
// of the namespace make no difference. The result shares the objects with the states.
func Outline(before, after Objects) Comparison {
	c := Comparison{
		Segments: compareAll(before.Segments, after.Segments, func(g *guidon.Segment) string { return g.Key }),
		Flags:    compareAll(before.Flags, after.Flags, func(f *guidon.Flag) string { return f.Key }),
	}
	if !namespaceShape.same(&sides{}, before.Namespace, after.Namespace) {
		c.Namespace = &Compared[guidon.Namespace]{
			Key: cmp.Or(after.Namespace, before.Namespace).Key, Before: before.Namespace, After: after.Namespace,
		}
	}
	return c
}

// compareAll finds the objects that differ, by key.
func compareAll[T any](before, after []*T, key func(*T) string) []Compared[T] {
	var out []Compared[T]
	// Two states of one namespace have most objects in common, at the same index.
	shared := func(i int) bool { return i < min(len(before), len(after)) && before[i] == after[i] }
	rest := make(map[string]*T)
	for i, t := range before {
		if !shared(i) {
			rest[key(t)] = t
		}
	}
	for i, is := range after {
		if shared(i) {
			continue
		}
		was, existed := rest[key(is)]
		if !existed {
			out = append(out, Compared[T]{Key: key(is), After: is})
			continue
		}
		delete(rest, key(is))
		if u, v := Unreadable(was), Unreadable(is); u != nil || v != nil {
			if !sameUnread(u, v) {
				out = append(out, Compared[T]{Key: key(is), Before: was, After: is})
			}
			continue
		}
		if !Same(was, is) {
			out = append(out, Compared[T]{Key: key(is), Before: was, After: is})
		}
	}
	for _, was := range rest {
		out = append(out, Compared[T]{Key: key(was), Before: was})
	}
	slices.SortFunc(out, func(a, b Compared[T]) int { return cmp.Compare(a.Key, b.Key) })
	return out
}

// Same reports whether two flags, segments or namespaces, which can be read, have no differences.
func Same[T any](a, b *T) bool {
	of := sidesOf(a, b, byContent)
	return shapeOf[T]().same(&of, a, b)
}

// Compare returns the differences between two flags, segments or namespaces, as [Outline] finds
// them: of namespaces, those without their flags and segments. It returns none if one of them is
// nil.
func Compare[T any](before, after *T) []Difference { return differences(before, after, byContent) }

// CompareVersions is [Compare] for versions of one object, such as those of a merge: parts with
// the same id are the same, and the others are matched by content.
func CompareVersions[T any](before, after *T) []Difference {
	return differences(before, after, byIdentity)
}

func differences[T any](before, after *T, m matching) []Difference {
	if before == nil || after == nil {
		return nil
	}
	if Unreadable(before) != nil || Unreadable(after) != nil {
		return unreadDifference()
	}
	c := comparer{sides: sidesOf(before, after, m)}
	shapeOf[T]().compare(&c, place{}, before, after)
	return c.out
}

// comparer collects the differences between two objects.
type comparer struct {
	sides
	out []Difference
}

func (c *comparer) replaced(at place, before, after json.RawMessage, words Wording) {
	c.add(at.words, words, Difference{Path: at.path, Op: OpReplace, Before: before, After: after})
}

// added adds an addition. brief describes the added part in words; it may be empty.
func (c *comparer) added(at place, value json.RawMessage, brief string) *Difference {
	return c.add(at.words, Wording{What: "added" + inParentheses(brief)}, Difference{Path: at.path, Op: OpAdd, After: value})
}

// removed is added for a removal.
func (c *comparer) removed(at place, value json.RawMessage, brief string) *Difference {
	return c.add(at.words, Wording{What: "removed" + inParentheses(brief)}, Difference{Path: at.path, Op: OpRemove, Before: value})
}

// moved adds a move. The positions count from 1. In words, an item without a key has the
// number that it had before.
func (c *comparer) moved(before, after place, from, to int) {
	c.add(before.words, Wording{What: "moved to " + strconv.Itoa(to)}, Difference{Path: after.path, Op: OpMove, From: from, To: to})
}

func (c *comparer) add(at []string, words Wording, d Difference) *Difference {
	words.Parts = at
	d.Summary, d.Wording = words.String(), words
	c.out = append(c.out, d)
	return &c.out[len(c.out)-1]
}
