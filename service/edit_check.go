package service

import (
	"context"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// check returns the problems of all edits, and sets the fields that depend on the checks.
func (e *editRun) check(ctx context.Context) error {
	if err := e.checkSegments(ctx); err != nil {
		return err
	}
	referable, err := e.referable(ctx)
	if err != nil {
		return err
	}
	if err := e.checkFlags(ctx, referable); err != nil {
		return err
	}
	if err := e.checkDeletedSegments(ctx); err != nil {
		return err
	}
	return e.problems()
}

func (e *editRun) checkSegments(ctx context.Context) error {
	e.segments = make([]*guidon.Segment, len(e.edits.Segments))
	return checkEdits(ctx, e, segmentObjects, e.edits.Segments, func(p *problems, i int, edit SegmentEdit) {
		p.add(ExactlyOne("put or delete", edit.puts(), edit.Delete != ""))
		if edit.puts() {
			e.segments[i] = normalSegment(edit.Put, p, nil)
		}
	})
}

func (e *editRun) checkFlags(ctx context.Context, referable map[string]bool) (err error) {
	e.flags, e.switched = make([]*guidon.Flag, len(e.edits.Flags)), make([]*guidon.Flag, len(e.edits.Flags))
	failed := make([]error, len(e.edits.Flags))
	for i, edit := range e.edits.Flags {
		e.switched[i], failed[i] = e.switchedFlag(ctx, edit)
		if code := guidon.CodeOf(failed[i]); failed[i] != nil && code != guidon.NotFound && code != guidon.InvalidArgument {
			return failed[i]
		}
	}
	return checkEdits(ctx, e, flagObjects, e.edits.Flags, func(p *problems, i int, edit FlagEdit) {
		p.add(ExactlyOne("put, delete, turnOff or turnOn", edit.puts(), edit.Delete != "", edit.TurnOff != "", edit.TurnOn != ""))
		if edit.Everyone && edit.TurnOn == "" {
			p.add(invalidField("everyone", "only turnOn can have it"))
		}
		if edit.puts() {
			e.flags[i] = normalFlag(edit.Put, p, referable)
		}
		p.add(failed[i])
	})
}

// switchedFlag returns the flag as the edit turns it off or on, or nil if it is so already or
// the edit is another one.
func (e *editRun) switchedFlag(ctx context.Context, edit FlagEdit) (*guidon.Flag, error) {
	if edit.switches() == "" {
		return nil, nil
	}
	f, err := e.tx.Flag(ctx, edit.switches())
	if err != nil {
		return nil, err
	}
	turn := turnFlagOff
	if edit.TurnOn != "" {
		turn = turnFlagOn(edit.Everyone)
	}
	changed, err := turn(ctx, e.tx, f)
	if err != nil || !changed {
		return nil, err
	}
	return f, nil
}

// checkEdits runs check for each edit, with the path of the edit, and checks its condition.
func checkEdits[O any](
	ctx context.Context, e *editRun, k *objectKind[O], edits []ObjectEdit[O], check func(p *problems, i int, edit ObjectEdit[O]),
) error {
	seen := map[string]bool{}
	for i, edit := range edits {
		key := edit.key(k)
		e.located(k.kind, i, key, func(p *problems) {
			p.checkUnique(seen, string(k.kind), key)
			check(p, i, edit)
		})
		err := mustBeUnchanged(ctx, e.tx, e.namespace, k.kind, key, edit.UnlessChangedSince)
		switch guidon.CodeOf(err) {
		case guidon.FailedPrecondition:
			e.conflicts.add(err)
		case guidon.InvalidArgument:
			e.located(k.kind, i, key, func(p *problems) { p.add(err) })
		default:
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// located runs check with the path of an edit.
func (e *editRun) located(kind change.Kind, index int, key string, check func(p *problems)) {
	if e.single {
		e.invalid.at(string(kind), check)
		return
	}
	e.invalid.item(string(kind)+"s", index, key, check)
}

// referable returns the segments that exist after the edits. It is nil if no flag is put.
func (e *editRun) referable(ctx context.Context) (map[string]bool, error) {
	if !slices.ContainsFunc(e.edits.Flags, FlagEdit.puts) {
		return nil, nil
	}
	keys, err := e.tx.SegmentKeys(ctx)
	if err != nil {
		return nil, err
	}
	all := setOf(keys)
	for _, edit := range e.edits.Segments {
		if edit.puts() {
			all[edit.Put.Key] = true
		} else {
			delete(all, edit.Delete)
		}
	}
	return all, nil
}

// checkDeletedSegments checks that no flag refers to a segment that is deleted. Flags that
// are put have been checked already.
func (e *editRun) checkDeletedSegments(ctx context.Context) error {
	deletes := func(edit SegmentEdit) bool { return !edit.puts() && edit.Delete != "" }
	if !slices.ContainsFunc(e.edits.Segments, deletes) {
		return nil
	}
	users, err := e.remainingUsers(ctx)
	if err != nil {
		return err
	}
	for i, edit := range e.edits.Segments {
		if u := users[edit.Delete]; u != nil && deletes(edit) {
			e.located(change.KindSegment, i, edit.Delete, func(p *problems) { p.add(u.inUse(e.namespace, edit.Delete)) })
		}
	}
	e.used = make(map[string]bool, len(users))
	for key := range users {
		e.used[key] = true
	}
	return nil
}

// remainingUsers returns, by segment, the flags whose references the edits leave as they are.
func (e *editRun) remainingUsers(ctx context.Context) (map[string]segmentUsers, error) {
	flags, err := e.tx.Flags(ctx)
	if err != nil {
		return nil, err
	}
	edited := map[string]bool{}
	for _, edit := range e.edits.Flags {
		if edit.switches() == "" {
			edited[edit.key(flagObjects)] = true
		}
	}
	return usersOf(flags, edited), nil
}

// problems returns an error with all problems.
func (e *editRun) problems() error {
	if len(e.invalid.found) == 0 {
		return e.conflicts.errOf(guidon.FailedPrecondition)
	}
	e.invalid.addAll(e.conflicts)
	return e.invalid.err()
}

// mustBeUnchanged returns FailedPrecondition if the flag or segment has changed after the
// revision since, or if that is in the future. Without a revision there is no condition. An
// object that was deleted has changed, and so has one that was created again.
func mustBeUnchanged(ctx context.Context, tx Tx, namespace string, kind change.Kind, key string, since *int64) error {
	switch {
	case since == nil:
		return nil
	case *since < 0:
		return invalidField("unlessChangedSince", "must not be negative")
	}
	current, err := tx.Revision(ctx)
	if err != nil {
		return err
	}
	name := namespace + "/" + key
	if *since > current {
		return guidon.Errorf(guidon.FailedPrecondition, "%s %q: the namespace is at revision %d, before %d", kind, name, current, *since)
	}
	last, err := tx.LastChange(ctx, kind, key)
	if err != nil || last == nil || last.Revision <= *since {
		return err
	}
	return guidon.Errorf(guidon.FailedPrecondition, "%s %q was %s in revision %d by %s at %s, after revision %d",
		kind, name, pastTense(last.Action), last.Revision, nameOf(last.Actor), last.At.UTC().Format(time.RFC3339), *since)
}

func pastTense(a change.Action) string {
	switch a {
	case change.ActionCreate:
		return "created"
	case change.ActionDelete:
		return "deleted"
	}
	return "changed"
}

// nameOf returns the name and the id of the actor.
func nameOf(a change.Actor) string {
	if a.Name == "" {
		return a.ID
	}
	return a.Name + " (" + a.ID + ")"
}
