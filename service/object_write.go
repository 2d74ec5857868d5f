package service

import (
	"context"
	"time"

	"github.com/guidonhq/guidon/change"
)

// objectWrite makes edits and imports in one transaction: it puts and deletes objects, one
// after the other, and adds what it has done to the result. So it needs no second copy of a
// large document. Everything must have been checked.
type objectWrite struct {
	patchApplier
	now       time.Time
	skip      bool // existing objects stay as they are
	described bool // the result has the objects before and after
	result    *WriteResult

	// stored has the keys of the objects before the write by kind, or is nil if they are not
	// known.
	stored map[change.Kind]map[string]bool
}

func newObjectWrite(tx Tx, namespace string) *objectWrite {
	return &objectWrite{
		patchApplier: patchApplier{tx: tx, namespace: namespace}, now: tx.Now(), result: &WriteResult{Namespace: namespace},
	}
}

// putObject creates or changes the object, unless it is as wanted already.
func putObject[O any](ctx context.Context, w *objectWrite, k *objectKind[O], want *O) error {
	key := *k.key(want)
	exists := w.stored[k.kind][key]
	if w.skip && exists {
		w.result.Skipped = append(w.result.Skipped, string(k.kind)+"/"+key)
		return nil
	}
	var have *O
	if exists || w.stored == nil {
		var err error
		if have, err = k.stored(ctx, w.tx, key); err != nil {
			return err
		}
	}
	if have != nil && k.same(have, want) {
		w.result.Unchanged++
		return nil
	}
	action := change.ActionUpdate
	if have == nil {
		action = change.ActionCreate
	}
	addChange(w, k, key, action, have, want)
	return replaceObject(ctx, w, k, k.edited(have, want, w.now))
}

// replaceObject stores the object.
func replaceObject[O any](ctx context.Context, w *objectWrite, k *objectKind[O], object *O) error {
	var patch change.Patch
	put, _ := k.patch(&patch)
	*put = []*O{object}
	return w.apply(ctx, patch)
}

// deleteObject deletes the object if it exists.
func deleteObject[O any](ctx context.Context, w *objectWrite, k *objectKind[O], key string) error {
	have, err := k.stored(ctx, w.tx, key)
	if err != nil {
		return err
	}
	if have == nil {
		w.result.Unchanged++
		return nil
	}
	addChange(w, k, key, change.ActionDelete, have, nil)
	var patch change.Patch
	_, deleted := k.patch(&patch)
	*deleted = []string{key}
	return w.apply(ctx, patch)
}

// addChange adds the change of an object to the result. before and after are nil if it does
// not exist.
func addChange[O any](w *objectWrite, k *objectKind[O], key string, action change.Action, before, after *O) {
	c := &ObjectChange{Kind: k.kind, Key: key, Action: action}
	if w.described {
		c.Before, c.After = k.alone(w.namespace, k.documentOf(before)), k.alone(w.namespace, after)
	}
	w.result.Changes = append(w.result.Changes, c)
}
