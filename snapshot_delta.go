package guidon

import (
	"cmp"
	"maps"
	"slices"
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

// Apply returns the snapshot after the deltas, each of which must start at the
// revision that the previous one ends at. The result equals that of [NewSnapshot] for
// the new state, but only the affected flags and segments are compiled; all others are
// shared with s. s does not change. Deleted keys that s does not contain are ignored.
func (s *Snapshot) Apply(deltas ...SnapshotDelta) *Snapshot {
	if len(deltas) == 0 {
		return s
	}
	delta := join(deltas)
	next := *s
	next.revision = delta.Revision
	next.derived = new(sync.Map)
	next.unreadable = maps.Clone(s.unreadable)
	if delta.Namespace != nil {
		next.namespace = delta.Namespace
	}
	if len(delta.Segments)+len(delta.DeletedSegments) > 0 {
		next.applySegments(delta)
	}
	if len(delta.Flags)+len(delta.DeletedFlags) > 0 {
		next.applyFlags(delta)
	}
	return &next
}

// join returns one delta with the same effect as all the deltas.
func join(deltas []SnapshotDelta) SnapshotDelta {
	if len(deltas) == 1 {
		return deltas[0]
	}
	joined := SnapshotDelta{Revision: deltas[len(deltas)-1].Revision}
	flags, segments := map[string]*Flag{}, map[string]*Segment{} // nil: deleted
	for _, d := range deltas {
		joined.Namespace = cmp.Or(d.Namespace, joined.Namespace)
		record(flags, d.Flags, d.DeletedFlags)
		record(segments, d.Segments, d.DeletedSegments)
	}
	joined.Flags, joined.DeletedFlags = partition(flags)
	joined.Segments, joined.DeletedSegments = partition(segments)
	return joined
}

// record sets the latest state of each changed object, or nil for a deleted one.
func record[T listed](latest map[string]T, changed []T, deleted []string) {
	var none T
	for _, key := range deleted {
		latest[key] = none
	}
	for _, item := range changed {
		key, _ := item.position()
		latest[key] = item
	}
}

// partition returns the objects of latest that exist and the keys of the others.
func partition[T listed](latest map[string]T) (changed []T, deleted []string) {
	var none T
	for key, item := range latest {
		if item == none {
			deleted = append(deleted, key)
		} else {
			changed = append(changed, item)
		}
	}
	return changed, deleted
}

// applySegments replaces the segments, and recompiles the flags that hold pointers
// to the old ones.
func (s *Snapshot) applySegments(delta SnapshotDelta) {
	s.segments = merge(s.segments, s.Segment, delta.Segments, delta.DeletedSegments)
	s.segmentsByKey = maps.Clone(s.segmentsByKey)
	touched := make(map[string]bool, len(delta.Segments)+len(delta.DeletedSegments))
	for _, key := range delta.DeletedSegments {
		delete(s.segmentsByKey, key)
		s.setUnreadable("segment", key, nil)
		touched[key] = true
	}
	for _, g := range delta.Segments {
		s.putSegment(g)
		touched[g.Key] = true
	}
	s.flagByKey = maps.Clone(s.flagByKey)
	for _, f := range s.flags {
		if f.usesAny(touched) {
			s.putFlag(f)
		}
	}
}

// applyFlags replaces the flags. applySegments must have been called before.
func (s *Snapshot) applyFlags(delta SnapshotDelta) {
	s.flags = merge(s.flags, s.Flag, delta.Flags, delta.DeletedFlags)
	s.flagByKey = maps.Clone(s.flagByKey)
	for _, key := range delta.DeletedFlags {
		delete(s.flagByKey, key)
		s.setUnreadable("flag", key, nil)
	}
	for _, f := range delta.Flags {
		s.putFlag(f)
	}
}

// listed is a pointer to an object that a snapshot lists in creation order.
type listed interface {
	comparable
	position() (key string, created Position)
}

func (f *Flag) position() (string, Position)    { return f.Key, f.Created }
func (s *Segment) position() (string, Position) { return s.Key, s.Created }

// merge returns a new list, which is old after the change. Changed items keep their
// position. New items, and those that were deleted and created again, are inserted in
// creation order. byKey finds the items of old.
func merge[T listed](old []T, byKey func(string) T, changed []T, deleted []string) []T {
	var none T
	// Keyed by pointer, so that the loop over all of old does not hash every key.
	replaced := make(map[T]T, len(changed)+len(deleted)) // none: removed
	for _, key := range deleted {
		if item := byKey(key); item != none {
			replaced[item] = none
		}
	}
	var created []T
	for _, item := range changed {
		key, at := item.position()
		before := byKey(key)
		if before == none {
			created = append(created, item)
			continue
		}
		if _, was := before.position(); was == at {
			replaced[before] = item
			continue
		}
		replaced[before] = none
		created = append(created, item)
	}
	slices.SortStableFunc(created, compareCreation[T])
	return interleave(old, replaced, created)
}

// interleave applies replaced to old and inserts the created items in creation order.
func interleave[T listed](old []T, replaced map[T]T, created []T) []T {
	var none T
	merged := make([]T, 0, len(old)+len(created))
	for _, item := range old {
		if replacement, found := replaced[item]; found {
			if replacement == none {
				continue
			}
			item = replacement
		}
		for len(created) > 0 && compareCreation(created[0], item) < 0 {
			merged, created = append(merged, created[0]), created[1:]
		}
		merged = append(merged, item)
	}
	return append(merged, created...)
}

func compareCreation[T listed](a, b T) int {
	_, x := a.position()
	_, y := b.position()
	return cmp.Or(cmp.Compare(x.Revision, y.Revision), cmp.Compare(x.Sequence, y.Sequence))
}
