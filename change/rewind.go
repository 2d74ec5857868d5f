package change

import (
	"encoding/json"
	"fmt"

	"github.com/guidonhq/guidon"
)

// Rewind computes an earlier state of a namespace from a later one, by undoing the changes
// in between. Only the first record of each object after the earlier state matters: before
// that change, the object was as in the earlier state.
//
// The flags and segments that did not change are shared with the later state. A Rewind is
// used once, by one goroutine.
type Rewind struct {
	later *guidon.Snapshot
	delta guidon.SnapshotDelta
	gone  bool // the namespace did not exist in the earlier state
}

// NewRewind returns a Rewind from the later state to the state with the revision. The
// namespace of the later state may be nil: it has been deleted.
func NewRewind(later *guidon.Snapshot, to guidon.Revision) *Rewind {
	return &Rewind{later: later, delta: guidon.SnapshotDelta{Revision: to}, gone: later.Namespace() == nil}
}

// Undo undoes the first record of an object after the earlier state. It must be called once
// for each object that has one, in any order, and does not keep the record. created is the
// position of a flag or segment that has been deleted since, also if it exists again. For
// all others it must be zero: those that still exist know their position.
func (r *Rewind) Undo(record *Record, created guidon.Position) error {
	d := &r.delta
	switch record.Kind {
	case KindNamespace:
		r.gone = record.Action == ActionCreate
		if r.gone {
			return nil
		}
		d.Namespace = new(guidon.Namespace)
		if err := json.Unmarshal(record.Before, d.Namespace); err != nil {
			return fmt.Errorf("change: decode the namespace %q before its change: %w", record.Key, err)
		}
		return nil
	case KindFlag:
		u := rewound[guidon.Flag]{r, record, guidon.ReadFlag, func(f *guidon.Flag) *guidon.Position { return &f.Created }}
		return u.apply(r.later.Flag(record.Key), created, &d.Flags, &d.DeletedFlags)
	case KindSegment:
		u := rewound[guidon.Segment]{r, record, guidon.ReadSegment, func(g *guidon.Segment) *guidon.Position { return &g.Created }}
		return u.apply(r.later.Segment(record.Key), created, &d.Segments, &d.DeletedSegments)
	}
	return nil
}

// rewound undoes the record of a flag or segment.
type rewound[T any] struct {
	*Rewind
	record  *Record
	read    func(key string, stored []byte) *T
	created func(*T) *guidon.Position
}

// apply adds the earlier object to put or, if the change created the object, its key to
// deleted. later is the object of the later state, or nil.
func (u rewound[T]) apply(later *T, created guidon.Position, put *[]*T, deleted *[]string) error {
	if u.record.Action == ActionCreate {
		*deleted = append(*deleted, u.record.Key)
		return nil
	}
	earlier := u.read(u.record.Key, u.record.Before)
	if later != nil && created == (guidon.Position{}) {
		created = *u.created(later)
	}
	if created == (guidon.Position{}) || !u.precedes(created) {
		return fmt.Errorf("change: the position of the creation of the %s %q of revision %d is not known",
			u.record.Kind, u.record.Key, u.delta.Revision.Number)
	}
	*u.created(earlier) = created
	*put = append(*put, earlier)
	return nil
}

// precedes reports whether the position of a creation is not after the earlier state.
func (r *Rewind) precedes(created guidon.Position) bool {
	return created.Revision <= r.delta.Revision.Number
}

// Snapshot returns the earlier state. Its namespace is nil if it did not exist.
func (r *Rewind) Snapshot() *guidon.Snapshot {
	switch {
	case r.gone:
		return guidon.NewSnapshot(nil, r.delta.Revision, nil, nil)
	case r.delta.Namespace == nil && r.delta.Size() == 0 && r.delta.Revision == r.later.Revision():
		return r.later
	}
	return r.later.Apply(r.delta)
}
