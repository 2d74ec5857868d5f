package service

import (
	"cmp"
	"context"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// MaxEdits is the maximum number of flags and segments that one [Edits] has.
const MaxEdits = 100

// Edits are changes of flags and segments that are made together, in one revision.
type Edits struct {
	Segments []SegmentEdit
	Flags    []FlagEdit
}

// ObjectEdit puts, deletes or switches one flag or segment. Exactly one of Put, Delete, TurnOff
// and TurnOn must be set.
type ObjectEdit[O any] struct {
	Put    *O     // the object as it must be afterwards, as a document has it, whether it exists already or not
	Delete string // the key of the object, which need not exist

	// TurnOff and TurnOn are the key of a flag, which must exist, to be turned off or on as
	// [Service.TurnFlagOff] and [Service.TurnFlagOn] do. Everyone is for TurnOn alone.
	TurnOff, TurnOn string
	Everyone        bool

	// UnlessChangedSince, if set, is a revision after which the object must not have changed.
	UnlessChangedSince *int64
}

// FlagEdit is an edit of a flag.
type FlagEdit = ObjectEdit[guidon.Flag]

// SegmentEdit is an edit of a segment, which cannot be switched.
type SegmentEdit = ObjectEdit[guidon.Segment]

func (e ObjectEdit[O]) puts() bool { return e.Put != nil }

// switches returns the key of the flag, if it is turned off or on.
func (e ObjectEdit[O]) switches() string { return cmp.Or(e.TurnOff, e.TurnOn) }

// key returns the key of the object, which is of the kind.
func (e ObjectEdit[O]) key(k *objectKind[O]) string {
	if e.puts() {
		return *k.key(e.Put)
	}
	return cmp.Or(e.Delete, e.switches())
}

// Edit makes the edits, all of them or none. An object that is put keeps the ids of its
// parts as an import keeps them. Objects that are already as requested are not written,
// and no revision is used if that is true of all.
//
// Edit returns NotFound if the namespace does not exist and TooLarge if there are more
// than [MaxEdits] edits. It returns InvalidArgument with the problems of all edits
// together, as [Document.Validate] does: flags may refer to stored segments and to those
// that are put, and segments that flags refer to cannot be deleted. It returns
// FailedPrecondition with one line for each object that has changed since the revision
// in its edit, which says who changed it last. If there are both, it returns
// InvalidArgument with all of them.
func (s *Service) Edit(ctx context.Context, w Write, namespace string, edits Edits) (*WriteResult, int64, error) {
	switch n := len(edits.Flags) + len(edits.Segments); {
	case n == 0:
		return nil, 0, emptyField("flags and segments")
	case n > MaxEdits:
		return nil, 0, guidon.Errorf(guidon.TooLarge, "%d flags and segments are more than the limit of %d", n, MaxEdits)
	}
	return s.edit(ctx, w, namespace, edits, false)
}

// ReplaceFlag is [Service.Edit] with one flag, whose key may be empty in the document.
func (s *Service) ReplaceFlag(
	ctx context.Context, w Write, namespace, key string, flag *guidon.Flag, unlessChangedSince *int64,
) (*WriteResult, int64, error) {
	put := *flag
	if err := checkEdited(key, &put.Key); err != nil {
		return nil, 0, err
	}
	return s.edit(ctx, w, namespace, Edits{Flags: []FlagEdit{{Put: &put, UnlessChangedSince: unlessChangedSince}}}, true)
}

// ReplaceSegment is [Service.Edit] with one segment, whose key may be empty in the document.
func (s *Service) ReplaceSegment(
	ctx context.Context, w Write, namespace, key string, segment *guidon.Segment, unlessChangedSince *int64,
) (*WriteResult, int64, error) {
	put := *segment
	if err := checkEdited(key, &put.Key); err != nil {
		return nil, 0, err
	}
	return s.edit(ctx, w, namespace, Edits{Segments: []SegmentEdit{{Put: &put, UnlessChangedSince: unlessChangedSince}}}, true)
}

// edit makes the edits. If there is a single one that is not in a list of the request,
// problems are not located by an index.
func (s *Service) edit(ctx context.Context, w Write, namespace string, edits Edits, single bool) (*WriteResult, int64, error) {
	namespace = guidon.NamespaceKey(namespace)
	var result *WriteResult
	revision, err := s.update(ctx, namespace, w, func(ctx context.Context, tx Tx) error {
		if _, err := tx.Namespace(ctx); err != nil {
			return err
		}
		e := &editRun{
			objectWrite: newObjectWrite(tx, namespace), edits: edits, single: single,
			invalid: &problems{}, conflicts: &problems{},
		}
		if err := e.check(ctx); err != nil {
			return err
		}
		result = e.result
		return e.write(ctx)
	})
	return result.at(revision, err)
}

// at returns the result of a call that has ended with the revision and error.
func (r *WriteResult) at(revision int64, err error) (*WriteResult, int64, error) {
	if err != nil {
		return nil, revision, err
	}
	r.Revision = revision
	return r, revision, nil
}

// editRun is one run of the edits in a transaction.
type editRun struct {
	*objectWrite
	edits  Edits
	single bool

	invalid   *problems // for InvalidArgument
	conflicts *problems // for FailedPrecondition

	// The normal forms of the objects to put, by the index of the edit; nil for other edits.
	flags    []*guidon.Flag
	segments []*guidon.Segment

	// The flags to turn off or on, as they will be; nil for those that are so already.
	switched []*guidon.Flag
}

// write makes the edits, in the order in which they must be made.
func (e *editRun) write(ctx context.Context) error {
	for _, want := range e.segments {
		if want == nil {
			continue
		}
		if err := putObject(ctx, e.objectWrite, segmentObjects, want); err != nil {
			return err
		}
	}
	for i, want := range e.flags {
		if err := e.writeFlag(ctx, e.edits.Flags[i], want, e.switched[i]); err != nil {
			return err
		}
	}
	if err := deleteEdited(ctx, e, flagObjects, e.edits.Flags); err != nil {
		return err
	}
	return deleteEdited(ctx, e, segmentObjects, e.edits.Segments)
}

// writeFlag makes an edit that is not a deletion.
func (e *editRun) writeFlag(ctx context.Context, edit FlagEdit, want *guidon.Flag, switched *guidon.Flag) error {
	switch {
	case want != nil:
		return putObject(ctx, e.objectWrite, flagObjects, want)
	case edit.switches() == "":
		return nil
	case switched == nil:
		e.result.Unchanged++
		return nil
	}
	addChange(e.objectWrite, flagObjects, switched.Key, change.ActionUpdate, nil, nil)
	return replaceObject(ctx, e.objectWrite, flagObjects, switched)
}

// deleteEdited deletes the objects that edits delete.
func deleteEdited[O any](ctx context.Context, e *editRun, k *objectKind[O], edits []ObjectEdit[O]) error {
	for _, edit := range edits {
		if edit.Delete == "" {
			continue
		}
		if err := deleteObject(ctx, e.objectWrite, k, edit.Delete); err != nil {
			return err
		}
	}
	return nil
}
