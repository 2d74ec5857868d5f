package change

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/guidonhq/guidon"
)

// Object identifies an object of a namespace, or the namespace itself.
type Object struct {
	Kind Kind   `json:"kind"`
	Key  string `json:"key"`
}

// ObjectConflicts are the conflicts of one object.
type ObjectConflicts struct {
	Object
	Conflicts []Conflict `json:"conflicts"`
}

// Undone is how changes are undone. As long as there are conflicts, nothing must be.
type Undone struct {
	Patch     Patch
	Conflicts []ObjectConflicts
}

// Undo returns the patch that undoes the changes of the records in the current state. The
// records are of one namespace, and without gaps: all those of a range of revisions, of
// one revision, or of some objects in them. Each object is merged with its version before
// its first record, based on the version after its last one. So later changes are kept,
// and parts that were changed again are conflicts, which choices resolve. Undoing the
// records of an undo gives the original.
//
// Objects that are as they were already are not in the patch. The caller must check that
// the deleted objects are not in use, and set the times of those that the patch puts.
//
// Undo returns InvalidArgument for records of several namespaces or of none, for the
// creation of a namespace, and for choices that are not about a conflict.
func Undo(records []*Record, current Objects, choices map[Object]Choices) (*Undone, error) {
	spans, err := spansOf(records)
	if err != nil {
		return nil, err
	}
	if err := checkObjects(choices, spans); err != nil {
		return nil, err
	}
	u := &undo{
		choices: choices, namespace: current.Namespace, out: new(Undone),
		segments: byKey(current.Segments, func(g *guidon.Segment) string { return g.Key }),
		flags:    byKey(current.Flags, func(f *guidon.Flag) string { return f.Key }),
	}
	for _, s := range spans {
		if err := u.object(s); err != nil {
			return nil, err
		}
	}
	return u.out, nil
}

func byKey[T any](objects []*T, key func(*T) string) map[string]*T {
	found := make(map[string]*T, len(objects))
	for _, t := range objects {
		found[key(t)] = t
	}
	return found
}

// span is an object before and after some changes.
type span struct {
	Object
	before, after json.RawMessage // nil: it did not exist
}

// spansOf returns the changes of the records by object, in the order of the first record of
// each object.
func spansOf(records []*Record) ([]*span, error) {
	sorted := slices.SortedFunc(slices.Values(records), func(a, b *Record) int {
		return cmp.Or(cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.Sequence, b.Sequence))
	})
	byObject := map[Object]*span{}
	var all []*span
	for _, r := range sorted {
		if r.Namespace != sorted[0].Namespace || r.Kind.Global() {
			return nil, guidon.Errorf(guidon.InvalidArgument, "cannot undo changes of several namespaces, or of tokens, bindings or webhooks")
		}
		o := Object{r.Kind, r.Key}
		if byObject[o] == nil {
			byObject[o] = &span{Object: o, before: r.Before}
			all = append(all, byObject[o])
		}
		byObject[o].after = r.After
	}
	return all, nil
}

// checkObjects returns an error for a choice about an object that no record has changed.
func checkObjects(choices map[Object]Choices, spans []*span) error {
	known := make(map[Object]bool, len(spans))
	for _, s := range spans {
		known[s.Object] = true
	}
	for o := range choices {
		if !known[o] {
			return guidon.Errorf(guidon.InvalidArgument, "invalid choice for %s %q: these changes are not about it", o.Kind, o.Key)
		}
	}
	return nil
}

// undo collects how changes are undone.
type undo struct {
	choices   map[Object]Choices
	namespace *guidon.Namespace // the current state
	segments  map[string]*guidon.Segment
	flags     map[string]*guidon.Flag
	out       *Undone
}

func (u *undo) object(s *span) error {
	patch := &u.out.Patch
	switch s.Kind {
	case KindNamespace:
		if s.before == nil {
			return guidon.Errorf(guidon.InvalidArgument, "cannot undo the creation of namespace %q: delete it", s.Key)
		}
		var put []*guidon.Namespace
		err := undoObject(u, s, u.namespace, &put, new([]string))
		patch.Put.Namespace = only(put)
		return err
	case KindSegment:
		return undoObject(u, s, u.segments[s.Key], &patch.Put.Segments, &patch.Delete.Segments)
	case KindFlag:
		return undoObject(u, s, u.flags[s.Key], &patch.Put.Flags, &patch.Delete.Flags)
	}
	return guidon.Errorf(guidon.InvalidArgument, "cannot undo a change of a %s", s.Kind)
}

// undoObject adds one object to put or, if it did not exist, its key to deleted, unless it stays as it is.
func undoObject[T any](u *undo, s *span, current *T, put *[]*T, deleted *[]string) error {
	if err := MustBeReadable(current, s.stored(s.before), s.stored(s.after)); err != nil {
		return err
	}
	before, after, err := decodeBoth[T](s.before, s.after)
	if err != nil {
		return err
	}
	merged, err := Merge(after, current, before, u.choices[s.Object])
	if err != nil {
		return guidon.Errorf(guidon.CodeOf(err), "%s %q: %v", s.Kind, s.Key, err)
	}
	if len(merged.Conflicts) > 0 {
		u.out.Conflicts = append(u.out.Conflicts, ObjectConflicts{s.Object, merged.Conflicts})
	}
	switch {
	case shapeOf[T]().same(strict, merged.Object, current):
	case merged.Object != nil:
		*put = append(*put, merged.Object)
	default:
		*deleted = append(*deleted, s.Key)
	}
	return nil
}
