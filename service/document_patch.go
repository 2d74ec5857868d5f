package service

import (
	"context"
	"iter"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// patches returns the changes of the import as patches of one object each, in the order
// in which they must be applied. A patch is empty if the object stays as it is. Each one
// is made when the iterator reaches it, from the object as it is then in the
// transaction. The changes are added to the result, so the iterator must be used once.
// The document must have passed all checks.
func (i *documentImport) patches(ctx context.Context, d *Document) iter.Seq2[change.Patch, error] {
	return func(yield func(change.Patch, error) bool) {
		if !yield(i.namespacePatch(d.Namespace)) {
			return
		}
		for _, g := range d.Segments {
			if g != nil && !yield(i.segmentPatch(ctx, g.normalize(&problems{}))) {
				return
			}
		}
		for _, f := range d.Flags {
			if f != nil && !yield(i.flagPatch(ctx, f.normalize(&problems{}, i.referable))) {
				return
			}
		}
		if i.mode != ImportReplace {
			return
		}
		kept := d.flagKeys()
		for _, key := range i.flagKeys {
			if !kept[key] && !yield(i.flagDeletion(ctx, key)) {
				return
			}
		}
		for _, key := range i.segmentKeys {
			if !i.referable[key] && !yield(i.segmentDeletion(ctx, key)) {
				return
			}
		}
	}
}

func (d *Document) flagKeys() map[string]bool {
	keys := make(map[string]bool, len(d.Flags))
	for _, f := range d.Flags {
		if f != nil {
			keys[f.Key] = true
		}
	}
	return keys
}

func (i *documentImport) namespacePatch(want DocumentNamespace) (change.Patch, error) {
	put := wantedNamespace(i.namespace, want, i.mode, i.now)
	if put == nil {
		return change.Patch{}, nil
	}
	action, after := change.ActionCreate, &Document{Namespace: documentNamespace(put)}
	var before *Document
	if i.namespace != nil {
		if err := mayPutNamespace(i.by, put.Key); err != nil {
			return change.Patch{}, err
		}
		action, before = change.ActionUpdate, &Document{Namespace: documentNamespace(i.namespace)}
	}
	i.addChange(change.KindNamespace, put.Key, action, before, after)
	return change.Patch{Put: change.Objects{Namespace: put}}, nil
}

// wantedNamespace returns the namespace that an import creates or changes, or nil if it
// leaves it alone. have is nil if the namespace does not exist.
func wantedNamespace(have *guidon.Namespace, want DocumentNamespace, mode ImportMode, now time.Time) *guidon.Namespace {
	if want.Key == guidon.DefaultNamespace {
		return nil
	}
	if have == nil {
		created := want.merge(guidon.Namespace{Key: want.Key, Name: want.Key, CreatedAt: now, UpdatedAt: now})
		return &created
	}
	if mode != ImportUpdate && mode != ImportReplace {
		return nil
	}
	updated := want.merge(*have)
	if updated == *have {
		return nil
	}
	updated.UpdatedAt = now
	return &updated
}

func (i *documentImport) segmentPatch(ctx context.Context, want *DocumentSegment) (change.Patch, error) {
	have, action := &guidon.Segment{CreatedAt: i.now}, change.ActionCreate
	var before *Document
	if i.segments[want.Key] {
		if i.mode == ImportSkipExisting {
			i.addSkipped(change.KindSegment, want.Key)
			return change.Patch{}, nil
		}
		var err error
		if have, err = i.tx.Segment(ctx, want.Key); err != nil {
			return change.Patch{}, err
		}
		if sameSegment(have, want) {
			i.result.Unchanged++
			return change.Patch{}, nil
		}
		action, before = change.ActionUpdate, i.segmentDocument(NewDocumentSegment(have))
	}
	i.addChange(change.KindSegment, want.Key, action, before, i.segmentDocument(want))
	return change.Patch{Put: change.Objects{Segments: []*guidon.Segment{mergeSegment(have, want, i.now)}}}, nil
}

func (i *documentImport) flagPatch(ctx context.Context, want *DocumentFlag) (change.Patch, error) {
	have, action := &guidon.Flag{CreatedAt: i.now}, change.ActionCreate
	var before *Document
	if i.flags[want.Key] {
		if i.mode == ImportSkipExisting {
			i.addSkipped(change.KindFlag, want.Key)
			return change.Patch{}, nil
		}
		var err error
		if have, err = i.tx.Flag(ctx, want.Key); err != nil {
			return change.Patch{}, err
		}
		if sameFlag(have, want) {
			i.result.Unchanged++
			return change.Patch{}, nil
		}
		action, before = change.ActionUpdate, i.flagDocument(NewDocumentFlag(have))
	}
	i.addChange(change.KindFlag, want.Key, action, before, i.flagDocument(want))
	return change.Patch{Put: change.Objects{Flags: []*guidon.Flag{mergeFlag(have, want, i.now)}}}, nil
}

func (i *documentImport) flagDeletion(ctx context.Context, key string) (change.Patch, error) {
	f, err := i.tx.Flag(ctx, key)
	if err != nil {
		return change.Patch{}, err
	}
	i.addChange(change.KindFlag, key, change.ActionDelete, i.flagDocument(NewDocumentFlag(f)), nil)
	return change.Patch{Delete: change.Keys{Flags: []string{key}}}, nil
}

func (i *documentImport) segmentDeletion(ctx context.Context, key string) (change.Patch, error) {
	g, err := i.tx.Segment(ctx, key)
	if err != nil {
		return change.Patch{}, err
	}
	i.addChange(change.KindSegment, key, change.ActionDelete, i.segmentDocument(NewDocumentSegment(g)), nil)
	return change.Patch{Delete: change.Keys{Segments: []string{key}}}, nil
}

func (i *documentImport) addChange(kind change.Kind, key string, action change.Action, before, after *Document) {
	change := &ImportChange{Kind: kind, Key: key, Action: action}
	if i.described {
		change.Before, change.After = before, after
	}
	i.result.Changes = append(i.result.Changes, change)
}

func (i *documentImport) addSkipped(kind change.Kind, key string) {
	i.result.Skipped = append(i.result.Skipped, string(kind)+"/"+key)
}

func (i *documentImport) flagDocument(f *DocumentFlag) *Document {
	return &Document{Namespace: DocumentNamespace{Key: i.result.Namespace}, Flags: []*DocumentFlag{f}}
}

func (i *documentImport) segmentDocument(g *DocumentSegment) *Document {
	return &Document{Namespace: DocumentNamespace{Key: i.result.Namespace}, Segments: []*DocumentSegment{g}}
}
