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
// for each object that has one, in any order, and does not keep the record. position is that of
// the creation of a flag or segment that has been deleted since, also if it exists again. For
// all others it must be zero: those that still exist know their position.
func (r *Rewind) Undo(record *Record, position guidon.Position) error {
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
		return undoRecord(r, record, r.later.Flag(record.Key), position, guidon.ReadFlag, &d.Flags, &d.DeletedFlags)
	case KindSegment:
		return undoRecord(r, record, r.later.Segment(record.Key), position, guidon.ReadSegment, &d.Segments, &d.DeletedSegments)
	}
	return nil
}

// undoRecord adds the flag or segment before the change to put or, if the change created it, its key
// to deleted. later is the object of the later state, or nil.
func undoRecord[T any](
	r *Rewind, record *Record, later *T, position guidon.Position,
	read func(key string, stored []byte) *T, put *[]*T, deleted *[]string,
) error {
	if record.Action == ActionCreate {
		*deleted = append(*deleted, record.Key)
		return nil
	}
	if later != nil && position == (guidon.Position{}) {
		position = *created(later)
	}
	if position == (guidon.Position{}) || position.Revision > r.delta.Revision.Number {
		return fmt.Errorf("change: the position of the creation of the %s %q of revision %d is not known",
			record.Kind, record.Key, r.delta.Revision.Number)
	}
	earlier := read(record.Key, record.Before)
	*created(earlier) = position
	*put = append(*put, earlier)
	return nil
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
