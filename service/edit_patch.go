package service

import (
	"context"
	"errors"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// patch returns the changes that the edits make, and adds them to the result in the order
// in which patches are applied. The edits must have been checked.
func (e *editRun) patch(ctx context.Context) (change.Patch, error) {
	var patch change.Patch
	for _, step := range []func(context.Context, *change.Patch) error{e.putSegments, e.putFlags, e.deleteFlags, e.deleteSegments} {
		if err := step(ctx, &patch); err != nil {
			return change.Patch{}, err
		}
	}
	return patch, nil
}

func (e *editRun) putSegments(ctx context.Context, patch *change.Patch) error {
	for _, want := range e.segments {
		if want == nil {
			continue
		}
		have, err := stored(ctx, e.tx.Segment, want.Key)
		switch {
		case err != nil:
			return err
		case have != nil && sameSegment(have, want):
			e.result.Unchanged++
			continue
		}
		e.add(change.KindSegment, want.Key, putAction(have))
		if have == nil {
			have = &guidon.Segment{CreatedAt: e.tx.Now()}
		}
		patch.Put.Segments = append(patch.Put.Segments, mergeSegment(have, want, e.tx.Now()))
	}
	return nil
}

func (e *editRun) putFlags(ctx context.Context, patch *change.Patch) error {
	for i, want := range e.flags {
		if on := e.on[i]; on != nil {
			e.turnOff(on, patch)
		}
		if want == nil {
			continue
		}
		have, err := stored(ctx, e.tx.Flag, want.Key)
		switch {
		case err != nil:
			return err
		case have != nil && sameFlag(have, want):
			e.result.Unchanged++
			continue
		}
		e.add(change.KindFlag, want.Key, putAction(have))
		if have == nil {
			have = &guidon.Flag{CreatedAt: e.tx.Now()}
		}
		patch.Put.Flags = append(patch.Put.Flags, mergeFlag(have, want, e.tx.Now()))
	}
	return nil
}

// turnOff adds the flag, turned off, unless it is off.
func (e *editRun) turnOff(f *guidon.Flag, patch *change.Patch) {
	if !turnOff(f, e.tx.Now()) {
		e.result.Unchanged++
		return
	}
	e.add(change.KindFlag, f.Key, change.ActionUpdate)
	patch.Put.Flags = append(patch.Put.Flags, f)
}

func (e *editRun) deleteFlags(ctx context.Context, patch *change.Patch) (err error) {
	patch.Delete.Flags, err = deletions(ctx, e, change.KindFlag, e.tx.Flag, e.edits.Flags)
	return err
}

func (e *editRun) deleteSegments(ctx context.Context, patch *change.Patch) (err error) {
	patch.Delete.Segments, err = deletions(ctx, e, change.KindSegment, e.tx.Segment, e.edits.Segments)
	return err
}

// deletions returns the keys of the objects that edits delete and that exist, and adds them
// to the result.
func deletions[T any, E objectEdit](
	ctx context.Context, e *editRun, kind change.Kind, get func(context.Context, string) (*T, error), edits []E,
) ([]string, error) {
	var keys []string
	for _, edit := range edits {
		if !edit.deletes() {
			continue
		}
		have, err := stored(ctx, get, edit.key())
		if err != nil {
			return nil, err
		}
		if have == nil {
			e.result.Unchanged++
			continue
		}
		e.add(kind, edit.key(), change.ActionDelete)
		keys = append(keys, edit.key())
	}
	return keys, nil
}

func (e *editRun) add(kind change.Kind, key string, action change.Action) {
	e.result.Changes = append(e.result.Changes, EditedObject{Kind: kind, Key: key, Action: action})
}

// stored returns the object with the key, or nil if it does not exist.
func stored[T any](ctx context.Context, get func(context.Context, string) (*T, error), key string) (*T, error) {
	object, err := get(ctx, key)
	if errors.Is(err, guidon.NotFound) {
		return nil, nil
	}
	return object, err
}

func putAction[T any](have *T) change.Action {
	if have == nil {
		return change.ActionCreate
	}
	return change.ActionUpdate
}
