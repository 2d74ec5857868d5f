package guidon

import (
	"maps"
	"math"
	"sync"
)

// SnapshotDelta is the difference between two revisions of a namespace.
type SnapshotDelta struct {
	Namespace       *Namespace // nil if it did not change
	Revision        Revision
	Flags           []*Flag    // created or changed, each key once
	Segments        []*Segment // created or changed, each key once
	DeletedFlags    []string   // keys; a key that is also in Flags was created again
	DeletedSegments []string   // keys; a key that is also in Segments was created again
}

// Size returns the number of flags and segments that the delta creates, changes or
// deletes.
func (d SnapshotDelta) Size() int {
	return len(d.Flags) + len(d.Segments) + len(d.DeletedFlags) + len(d.DeletedSegments)
}

// FlagChange is a flag that differs between two snapshots, by itself or because a segment
// that it refers to or a flag that it requires does. Before is nil if the flag was created, and After if it was deleted.
type FlagChange struct{ Before, After *CompiledFlag }

// Apply returns the snapshot after the deltas, each of which must start at the
// revision that the previous one ends at. The result equals that of [NewSnapshot] for
// the new state, but only the affected flags and segments are compiled; all others are
// shared with s. s does not change. Deleted keys that s does not contain are ignored.
func (s *Snapshot) Apply(deltas ...SnapshotDelta) *Snapshot {
	if len(deltas) == 0 {
		return s
	}
	next := *s
	next.unreadable, next.timed, next.requiring = maps.Clone(s.unreadable), maps.Clone(s.timed), maps.Clone(s.requiring)
	next.base, next.sinceBase = nil, nil
	flags, segments := map[string]*Flag{}, map[string]*Segment{} // nil: deleted
	for _, d := range deltas {
		next.revision = d.Revision
		if d.Namespace != nil {
			next.namespace = d.Namespace
		}
		record(flags, d.Flags, d.DeletedFlags, func(f *Flag) string { return f.Key })
		record(segments, d.Segments, d.DeletedSegments, func(g *Segment) string { return g.Key })
	}
	next.applySegments(segments)
	var users []*CompiledFlag // which hold pointers to the old segments
	for key := range segments {
		for f := range s.SegmentUsers(key).All() {
			users = append(users, s.flagByKey.get(f.Key))
		}
	}
	changes := next.applyFlags(flags, users)
	next.derived = new(sync.Map)
	s.carryTo(&next, changes, len(segments) > 0)
	return &next
}

// record sets the latest state of each changed object, or nil for a deleted one.
func record[T any](latest map[string]*T, changed []*T, deleted []string, key func(*T) string) {
	for _, key := range deleted {
		latest[key] = nil
	}
	for _, item := range changed {
		latest[key(item)] = item
	}
}

// applySegments replaces the segments.
func (s *Snapshot) applySegments(latest map[string]*Segment) {
	if len(latest) == 0 {
		return
	}
	var removed, added []*Segment
	byKey := maps.Clone(s.segmentsByKey)
	for key, g := range latest {
		if before := byKey[key]; before != nil {
			removed = append(removed, before.segment)
			delete(byKey, key)
		}
		s.setUnreadable("segment", key, nil)
		if g != nil {
			added, byKey[key] = append(added, g), CompileSegment(g)
			s.setUnreadable("segment", key, g.Unreadable.err())
		}
	}
	s.segments, s.segmentsByKey = s.segments.With(removed, added), byKey
}

// applyFlags replaces the latest flags, compiles the users of segments and all flags that depend on
// either again, and returns the changes. applySegments must have been called before.
func (s *Snapshot) applyFlags(latest map[string]*Flag, users []*CompiledFlag) (changes []FlagChange) {
	users = s.dependents(latest, users)
	if len(latest)+len(users) == 0 {
		return nil
	}
	byKey := s.flagByKey.edit(len(latest))
	for key, f := range latest {
		c := FlagChange{Before: byKey.get(key)}
		s.setUnreadable("flag", key, nil)
		s.setKinds(key, f)
		if f != nil {
			c.After = s.compile(f)
			c.After.order = math.MaxInt
			if c.Before != nil {
				c.After.order = c.Before.order
			}
		}
		if c != (FlagChange{}) {
			byKey.set(key, c.After)
			changes = append(changes, c)
		}
	}
	for _, f := range users {
		if byKey.get(f.key) == f { // otherwise it has already been compiled again
			c := FlagChange{f, s.compile(f.flag)}
			c.After.order = f.order
			byKey.set(f.key, c.After)
			changes = append(changes, c)
		}
	}
	before, after := SplitChanges(changes)
	if len(s.requiring) > 0 {
		link(after, byKey.get)
	}
	s.flags, s.flagByKey = s.flags.With(before, after), byKey.shards
	return changes
}

// setKinds records whether the flag with the key, which is nil if it was deleted, has boundaries and
// requires others.
func (s *Snapshot) setKinds(key string, f *Flag) {
	setKey(&s.timed, key, f != nil && len(f.boundaries()) > 0)
	setKey(&s.requiring, key, f != nil && f.Linked())
}

// setKey adds the key to the set, or removes it.
func setKey(set *map[string]bool, key string, in bool) {
	switch {
	case in == (*set)[key]: // the map may be shared
	case !in:
		delete(*set, key)
	case *set == nil:
		*set = map[string]bool{key: true}
	default:
		(*set)[key] = true
	}
}

// compile compiles the flag, whose segments must be in the snapshot.
func (s *Snapshot) compile(f *Flag) *CompiledFlag {
	c := compileFlag(f, s.segmentsByKey, s.epoch)
	s.setUnreadable("flag", f.Key, c.err)
	return c
}

// SplitChanges returns the flags before and after the changes.
func SplitChanges(changes []FlagChange) (before, after []*CompiledFlag) {
	for _, c := range changes {
		if c.Before != nil {
			before = append(before, c.Before)
		}
		if c.After != nil {
			after = append(after, c.After)
		}
	}
	return before, after
}
