package service

import (
	"cmp"
	"context"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

func (i *importing) putNamespace(ctx context.Context, have *guidon.Namespace, want DocumentNamespace) error {
	if want.Key == guidon.DefaultNamespace {
		return nil
	}
	if have == nil {
		created := &guidon.Namespace{
			Key: want.Key, Name: cmp.Or(want.Name, want.Key), Description: want.Description,
			CreatedAt: i.now, UpdatedAt: i.now,
		}
		i.addChange(change.KindNamespace, want.Key, change.ActionCreate, nil, &Document{Namespace: documentNamespace(created)})
		return i.tx.PutNamespace(ctx, created)
	}
	if i.mode != ImportUpdate && i.mode != ImportReplace {
		return nil
	}
	updated := *have
	updated.Name = cmp.Or(want.Name, have.Name)
	updated.Description = cmp.Or(want.Description, have.Description)
	if updated.Name == have.Name && updated.Description == have.Description {
		return nil
	}
	updated.UpdatedAt = i.now
	i.addChange(change.KindNamespace, want.Key, change.ActionUpdate,
		&Document{Namespace: documentNamespace(have)}, &Document{Namespace: documentNamespace(&updated)})
	return i.tx.PutNamespace(ctx, &updated)
}

func (i *importing) putSegment(ctx context.Context, exists bool, want *DocumentSegment) error {
	have, action := &guidon.Segment{CreatedAt: i.now}, change.ActionCreate
	var before *Document
	if exists {
		if i.mode == ImportSkipExisting {
			i.addSkipped(change.KindSegment, want.Key)
			return nil
		}
		var err error
		if have, err = i.tx.Segment(ctx, want.Key); err != nil {
			return err
		}
		if sameSegment(have, want) {
			i.result.Unchanged++
			return nil
		}
		action, before = change.ActionUpdate, i.segmentDocument(documentSegment(have))
	}
	i.addChange(change.KindSegment, want.Key, action, before, i.segmentDocument(want))
	merged := mergeSegment(have, want, i.now)
	err := i.tx.PutSegment(ctx, merged)
	*merged = guidon.Segment{} // free its content: the store has it encoded, but keeps the pointer
	return err
}

func (i *importing) putFlag(ctx context.Context, exists bool, want *DocumentFlag) error {
	have, action := &guidon.Flag{CreatedAt: i.now}, change.ActionCreate
	var before *Document
	if exists {
		if i.mode == ImportSkipExisting {
			i.addSkipped(change.KindFlag, want.Key)
			return nil
		}
		var err error
		if have, err = i.tx.Flag(ctx, want.Key); err != nil {
			return err
		}
		if sameFlag(have, want) {
			i.result.Unchanged++
			return nil
		}
		action, before = change.ActionUpdate, i.flagDocument(documentFlag(have))
	}
	i.addChange(change.KindFlag, want.Key, action, before, i.flagDocument(want))
	merged := mergeFlag(have, want, i.now)
	err := i.tx.PutFlag(ctx, merged)
	*merged = guidon.Flag{} // as in putSegment
	return err
}

// deleteOthers deletes the flags and segments that the document does not contain.
func (i *importing) deleteOthers(ctx context.Context, d *Document, flags, segments []string) error {
	kept := make(map[string]bool, len(d.Flags))
	for _, f := range d.Flags {
		if f != nil {
			kept[f.Key] = true
		}
	}
	for _, key := range slices.DeleteFunc(flags, func(key string) bool { return kept[key] }) {
		f, err := i.tx.Flag(ctx, key)
		if err != nil {
			return err
		}
		i.addChange(change.KindFlag, key, change.ActionDelete, i.flagDocument(documentFlag(f)), nil)
		if err := i.tx.DeleteFlag(ctx, key); err != nil {
			return err
		}
	}
	clear(kept)
	for _, g := range d.Segments {
		if g != nil {
			kept[g.Key] = true
		}
	}
	for _, key := range slices.DeleteFunc(segments, func(key string) bool { return kept[key] }) {
		g, err := i.tx.Segment(ctx, key)
		if err != nil {
			return err
		}
		i.addChange(change.KindSegment, key, change.ActionDelete, i.segmentDocument(documentSegment(g)), nil)
		if err := i.tx.DeleteSegment(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

func (i *importing) addChange(kind change.Kind, key string, action change.Action, before, after *Document) {
	change := &ImportChange{Kind: kind, Key: key, Action: action}
	if i.described {
		change.Before, change.After = before, after
	}
	i.result.Changes = append(i.result.Changes, change)
}

func (i *importing) addSkipped(kind change.Kind, key string) {
	i.result.Skipped = append(i.result.Skipped, string(kind)+"/"+key)
}

func (i *importing) flagDocument(f *DocumentFlag) *Document {
	return &Document{Namespace: DocumentNamespace{Key: i.result.Namespace}, Flags: []*DocumentFlag{f}}
}

func (i *importing) segmentDocument(g *DocumentSegment) *Document {
	return &Document{Namespace: DocumentNamespace{Key: i.result.Namespace}, Segments: []*DocumentSegment{g}}
}
