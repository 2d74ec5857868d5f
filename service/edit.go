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

// FlagEdit puts, deletes or turns off one flag. Exactly one of Put, Delete and TurnOff must
// be set.
type FlagEdit struct {
	Put    *DocumentFlag // the flag as it must be afterwards, whether it exists already or not
	Delete string        // the key of the flag, which need not exist

	// TurnOff is the key of the flag, which must exist, to be turned off as
	// [Service.TurnFlagOff] does.
	TurnOff string

	// UnlessChangedSince, if set, is a revision after which the flag must not have changed.
	UnlessChangedSince *int64
}

func (e FlagEdit) puts() bool { return e.Put != nil }

func (e FlagEdit) deletes() bool { return e.Delete != "" }

func (e FlagEdit) key() string {
	if e.puts() {
		return e.Put.Key
	}
	return cmp.Or(e.Delete, e.TurnOff)
}

// SegmentEdit is a [FlagEdit] for a segment.
type SegmentEdit struct {
	Put                *DocumentSegment
	Delete             string
	UnlessChangedSince *int64
}

func (e SegmentEdit) puts() bool { return e.Put != nil }

func (e SegmentEdit) deletes() bool { return e.Delete != "" }

func (e SegmentEdit) key() string {
	if e.puts() {
		return e.Put.Key
	}
	return e.Delete
}

// objectEdit is a [FlagEdit] or a [SegmentEdit].
type objectEdit interface {
	puts() bool
	deletes() bool
	key() string // of the object
}

// EditResult describes the changes that a call has made.
type EditResult struct {
	Namespace string
	Revision  int64          // current after the call
	Changes   []EditedObject // in the order of the change records
	Unchanged int            // number of objects that already were as requested
}

// EditedObject is an object that was changed.
type EditedObject struct {
	Kind   change.Kind
	Key    string
	Action change.Action
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
func (s *Service) Edit(ctx context.Context, w Write, namespace string, edits Edits) (*EditResult, int64, error) {
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
	ctx context.Context, w Write, namespace, key string, flag *DocumentFlag, unlessChangedSince *int64,
) (*EditResult, int64, error) {
	put := *flag
	if err := checkEdited(key, &put.Key); err != nil {
		return nil, 0, err
	}
	return s.edit(ctx, w, namespace, Edits{Flags: []FlagEdit{{Put: &put, UnlessChangedSince: unlessChangedSince}}}, true)
}

// ReplaceSegment is [Service.Edit] with one segment, whose key may be empty in the document.
func (s *Service) ReplaceSegment(
	ctx context.Context, w Write, namespace, key string, segment *DocumentSegment, unlessChangedSince *int64,
) (*EditResult, int64, error) {
	put := *segment
	if err := checkEdited(key, &put.Key); err != nil {
		return nil, 0, err
	}
	return s.edit(ctx, w, namespace, Edits{Segments: []SegmentEdit{{Put: &put, UnlessChangedSince: unlessChangedSince}}}, true)
}

// edit makes the edits. If there is a single one that is not in a list of the request,
// problems are not located by an index.
func (s *Service) edit(ctx context.Context, w Write, namespace string, edits Edits, single bool) (*EditResult, int64, error) {
	namespace = guidon.NamespaceKey(namespace)
	var result *EditResult
	revision, err := s.update(ctx, namespace, w, func(ctx context.Context, tx Tx) error {
		e := &editRun{
			tx: tx, edits: edits, single: single,
			invalid: &problems{}, conflicts: &problems{}, result: &EditResult{Namespace: namespace},
		}
		result = e.result
		return e.run(ctx)
	})
	return result.at(revision, err)
}

// at returns the result of a call that has ended with the revision and error.
func (r *EditResult) at(revision int64, err error) (*EditResult, int64, error) {
	if err != nil {
		return nil, revision, err
	}
	r.Revision = revision
	return r, revision, nil
}

// editRun is one run of the edits in a transaction.
type editRun struct {
	tx     Tx
	edits  Edits
	single bool
	result *EditResult

	invalid   *problems // for InvalidArgument
	conflicts *problems // for FailedPrecondition

	// The normal forms of the objects to put, by the index of the edit; nil for other edits.
	flags    []*DocumentFlag
	segments []*DocumentSegment

	// The flags to turn off, as they are stored, by the index of the edit.
	on []*guidon.Flag

	// used has the segments that flags refer to which are not put. It is nil if no segment
	// is deleted.
	used map[string]bool
}

func (e *editRun) run(ctx context.Context) error {
	if _, err := existingNamespace(ctx, e.tx, e.result.Namespace); err != nil {
		return err
	}
	if err := e.check(ctx); err != nil {
		return err
	}
	patch, err := e.patch(ctx)
	if err != nil {
		return err
	}
	p := &patchApplier{tx: e.tx, namespace: e.result.Namespace, used: e.used}
	return p.apply(ctx, patch)
}
