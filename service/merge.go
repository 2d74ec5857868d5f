package service

import (
	"context"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// MergeRequest is an edit of a flag or segment to be merged with the changes saved since it
// began. T is [guidon.Flag] or [guidon.Segment], as a [Document] has it.
type MergeRequest[T any] struct {
	Namespace string
	Key       string
	Since     int64          // the revision that the edit began from; 0 for an object that did not exist yet
	Mine      *T             // the edited object, whose key may be empty; nil if the edit deletes it
	Choices   change.Choices // resolve conflicts: [change.Ours] is the edit
}

// Merge is an edit merged with the changes saved since it began.
type Merge[T any] struct {
	Merged    *T                // nil if it is deleted; as edited where there is a conflict
	Base      int64             // the revision that the edit began from
	Current   int64             // the revision that it was merged with
	Conflicts []change.Conflict // that no choice resolves; Ours is the edit, Theirs the saved version
	// The changes that the merged object has from one side alone: its differences from the other
	// side. Of unresolved conflicts it has neither.
	Mine, Theirs []change.Difference
	Latest       *change.Record // the last change; nil if there is none since the edit began, or if that is not known
	BaseMissing  bool           // the version that the edit began from is not known, so each difference is a conflict
}

// MergeFlag merges an edited flag with the changes that others have saved since the edit
// began. It changes nothing. The parts of the edited flag are those that [Service.ReplaceFlag] would
// have made of the flag at that time, so that a rule that was edited or moved is the same one.
//
// It returns NotFound if the namespace does not exist, and InvalidArgument with the problems of
// the edited flag, as [Document.Validate] does, and for choices that are not about a conflict.
// The flag may refer to segments that do not exist: saving it fails then. admit may be nil.
func (s *Service) MergeFlag(ctx context.Context, d Demand, r MergeRequest[guidon.Flag], admit Admit) (*Merge[guidon.Flag], State, error) {
	return mergeEdit(ctx, s, d, r, flagObjects, admit)
}

// MergeSegment is [Service.MergeFlag] for segments.
func (s *Service) MergeSegment(
	ctx context.Context, d Demand, r MergeRequest[guidon.Segment], admit Admit,
) (*Merge[guidon.Segment], State, error) {
	return mergeEdit(ctx, s, d, r, segmentObjects, admit)
}

func mergeEdit[T any](
	ctx context.Context, s *Service, d Demand, r MergeRequest[T], k *objectKind[T], admit Admit,
) (*Merge[T], State, error) {
	var want *T // nil if the edit deletes the object
	if r.Mine != nil {
		var err error
		if want, err = k.checked(r.Key, r.Mine, k.alone("", r.Mine).referenced()); err != nil {
			return nil, State{}, err
		}
	}
	switch {
	case r.Key == "":
		return nil, State{}, emptyField("key")
	case r.Since < 0:
		return nil, State{}, invalidField("since", "must not be negative")
	}
	d.Fresh = true // the edit must be merged with the current version
	view, err := s.View(ctx, r.Namespace, d)
	if err != nil {
		return nil, view.State, err
	}
	v := mergeVersions[T]{theirs: k.find(view.Snapshot, r.Key)}
	m := &Merge[T]{Base: r.Since, Current: view.Revision}
	if m.Latest, err = s.latestOf(ctx, view.State, change.Object{Kind: k.kind, Key: r.Key}, r.Since); err != nil {
		return nil, view.State, err
	}
	if v.base, m.BaseMissing, err = mergeBase(ctx, s, d, view, r, k, admit); err != nil {
		return nil, view.State, err
	}
	if err := change.MustBeReadable(v.theirs, v.base); err != nil {
		return nil, view.State, err
	}
	v.mine = k.mine(v, want, m.BaseMissing, view.now())
	return m, view.State, k.merge(m, v, r.Choices)
}

// latestOf returns the newest record of the object that is not newer than the state, or nil if
// it is not newer than the revision since.
func (s *Service) latestOf(ctx context.Context, state State, o change.Object, since int64) (*change.Record, error) {
	records, err := s.store.Changes(ctx, change.Query{
		Namespace: state.Namespace, Kind: o.Kind, Key: o.Key,
		First: since + 1, Before: guidon.Position{Revision: state.Revision + 1}, Limit: 1,
	})
	if err != nil || len(records) == 0 {
		return nil, err
	}
	return records[0], nil
}

// mergeBase returns the object that the edit began from, nil if it did not exist, and whether
// that is no longer known.
func mergeBase[T any](
	ctx context.Context, s *Service, d Demand, current View, r MergeRequest[T], k *objectKind[T], admit Admit,
) (base *T, missing bool, err error) {
	switch {
	case r.Since == 0:
		return nil, false, nil
	case r.Since == current.Revision:
		return k.find(current.Snapshot, r.Key), false, nil
	case r.Since > current.Revision: // of another database, or from before a backup was restored
		return nil, true, nil
	}
	view, err := s.ViewAt(ctx, Reference{current.Namespace, Moment{Revision: r.Since}}, d, admit)
	switch guidon.CodeOf(err) {
	case guidon.NotFound:
		return nil, true, nil
	default:
		if err != nil {
			return nil, false, err
		}
	}
	return k.find(view.Snapshot, r.Key), false, nil
}
