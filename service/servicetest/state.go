package servicetest

import (
	"errors"
	"maps"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// state is the content of a namespace at one revision. Its objects are never modified: an
// object that a revision does not change is the same one before and after.
type state struct {
	namespace *guidon.Namespace // nil if it does not exist
	segments  map[string]*guidon.Segment
	flags     map[string]*guidon.Flag
}

// readState returns the state of a view, which may be the result of a NotFound error.
func readState(v service.View, err error) (*state, error) {
	s := &state{segments: map[string]*guidon.Segment{}, flags: map[string]*guidon.Flag{}}
	if errors.Is(err, guidon.NotFound) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	s.namespace = v.Snapshot.Namespace()
	for _, g := range v.Snapshot.Segments() {
		s.segments[g.Key] = g
	}
	for _, f := range v.Snapshot.Flags() {
		s.flags[f.Key] = f
	}
	return s, nil
}

func (s *state) clone() *state {
	return &state{s.namespace, maps.Clone(s.segments), maps.Clone(s.flags)}
}

// objects returns the objects by what identifies them.
func (s *state) objects() map[change.Object]any {
	all := map[change.Object]any{}
	if s.namespace != nil {
		all[change.Object{Kind: change.KindNamespace, Key: s.namespace.Key}] = s.namespace
	}
	for key, g := range s.segments {
		all[segmentObject(key)] = g
	}
	for key, f := range s.flags {
		all[flagObject(key)] = f
	}
	return all
}

func flagObject(key string) change.Object {
	return change.Object{Kind: change.KindFlag, Key: key}
}

func segmentObject(key string) change.Object {
	return change.Object{Kind: change.KindSegment, Key: key}
}

// document returns the state as a document, with its objects in the order of their keys.
func (s *state) document() *service.Document {
	objects := change.Objects{Namespace: s.namespace}
	for _, key := range slices.Sorted(maps.Keys(s.segments)) {
		objects.Segments = append(objects.Segments, s.segments[key])
	}
	for _, key := range slices.Sorted(maps.Keys(s.flags)) {
		objects.Flags = append(objects.Flags, s.flags[key])
	}
	if d := service.DocumentOf("", objects); d != nil {
		return d
	}
	return &service.Document{}
}

// changesTo returns what makes the next state of this one.
func (s *state) changesTo(next *state) map[change.Object]change.Action {
	was, is := s.objects(), next.objects()
	made := map[change.Object]change.Action{}
	for o, object := range was {
		switch after, exists := is[o]; {
		case !exists:
			made[o] = change.ActionDelete
		case after != object:
			made[o] = change.ActionUpdate
		}
	}
	for o := range is {
		if _, existed := was[o]; !existed {
			made[o] = change.ActionCreate
		}
	}
	return made
}

// consistent reports whether flags refer only to segments that exist, and objects exist
// only in a namespace that does.
func (s *state) consistent() bool {
	for _, f := range s.flags {
		if !s.refersToExisting(f) {
			return false
		}
	}
	return s.namespace != nil || len(s.flags)+len(s.segments) == 0
}

func (s *state) refersToExisting(f *guidon.Flag) bool {
	for key := range f.SegmentKeys() {
		if s.segments[key] == nil {
			return false
		}
	}
	return true
}

// linked reports whether all requirements are about flags that can answer as they say, and none leads
// back to its own flag.
func (s *state) linked() bool {
	for key, f := range s.flags {
		for _, r := range f.Requirements() {
			required := s.flags[r.FlagKey]
			if required == nil || slices.ContainsFunc(r.Stated(), func(answer string) bool { return !canAnswer(required, answer) }) {
				return false
			}
			if s.requires(required, key, len(s.flags)) {
				return false
			}
		}
	}
	return true
}

func canAnswer(f *guidon.Flag, answer string) bool {
	if f.Type == guidon.BooleanFlag {
		return answer == "true" || answer == "false"
	}
	return f.VariantByKey(answer) != nil
}

// requires reports whether the flag is the one with the key, or requires it in at most so many steps.
func (s *state) requires(f *guidon.Flag, key string, steps int) bool {
	return f.Key == key || steps > 0 && slices.ContainsFunc(f.Requirements(), func(r guidon.Requirement) bool {
		return s.flags[r.FlagKey] != nil && s.requires(s.flags[r.FlagKey], key, steps-1)
	})
}

// space is the history of one namespace.
type space struct {
	key    string
	states []*state // by revision; the first one is that before the namespace was created
}

func (s *space) revision() int64   { return int64(len(s.states)) - 1 }
func (s *space) current() *state   { return s.states[len(s.states)-1] }
func (s *space) exists() bool      { return s.current().namespace != nil }
func (s *space) at(r int64) *state { return s.states[r] }

// lastChange returns the revision that last changed the object, or 0.
func (s *space) lastChange(o change.Object) int64 {
	for r := s.revision(); r > 0; r-- {
		if s.at(r - 1).changesTo(s.at(r))[o] != "" {
			return r
		}
	}
	return 0
}
