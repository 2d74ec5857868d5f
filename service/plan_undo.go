package service

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/lists"
)

// Undo says which changes of a namespace a plan undoes, as [change.Undo] does: those of the
// revisions from First to Last, both included, as far as they are selected.
type Undo struct {
	First, Last int64
	Choices     map[change.Object]change.Choices // resolve conflicts
}

// maxUndoneRevisions limits the range of an Undo.
const maxUndoneRevisions = 10_000

func (r *PlanRequest) checkUndo() error {
	switch {
	case r.Mode != ImportUpdate:
		return invalidField("mode", "must be the default to undo changes")
	case r.WithoutSegments:
		return invalidField("withoutSegments", "must not be set to undo changes")
	case r.Keep != (Keep{}):
		return invalidField("keep", "must be empty to undo changes")
	case r.Undo.First <= 0:
		return invalidField("undo.firstRevision", "must be positive")
	case r.Undo.Last < r.Undo.First:
		return invalidField("undo.lastRevision", "must not be less than firstRevision")
	case r.Undo.Last-r.Undo.First >= maxUndoneRevisions:
		return invalidField("undo.lastRevision", fmt.Sprintf("must not be more than %d revisions after firstRevision", maxUndoneRevisions-1))
	}
	return nil
}

// undoPlan undoes changes of the target.
type undoPlan struct {
	PlanRequest
	records []*change.Record // one for each selected object, of [Service.undoneRecords]
}

// mayCreate implements proposal: the deletion of a namespace can be undone.
func (u *undoPlan) mayCreate() bool {
	return slices.ContainsFunc(u.records, func(r *change.Record) bool {
		return r.Kind == change.KindNamespace && (r.Action == change.ActionDelete || len(r.After) == 0)
	})
}

// origin implements proposal.
func (u *undoPlan) origin() (string, int64) { return "", 0 }

// reason implements proposal.
func (u *undoPlan) reason() change.Reason { return change.UndoReason(u.Undo.First, u.Undo.Last) }

// flagKeys implements proposal. All flags are needed to see whether a segment is in use that
// may be deleted.
func (u *undoPlan) flagKeys() (keys map[string]bool, all bool) {
	keys = map[string]bool{}
	for _, r := range u.records {
		switch {
		case r.Kind == change.KindFlag:
			keys[r.Key] = true
		case r.Kind == change.KindSegment && r.Action == change.ActionCreate:
			all = true
		}
	}
	return keys, all
}

// wanted implements proposal.
func (u *undoPlan) wanted(base change.Objects, now time.Time) (*wanted, error) {
	undone, err := change.Undo(u.records, base, u.Undo.Choices)
	if err != nil {
		return nil, err
	}
	w := &wanted{patch: undone.Patch, conflicts: undone.Conflicts}
	touch(&w.patch.Put, now)
	if len(w.conflicts) == 0 {
		w.unchanged = len(u.records) - sizeOf(w.patch)
		err = checkUndone(u.Namespace, w.patch, base)
	}
	return w, err
}

// place makes the flags and segments that the plan creates again return to the positions in
// lists that they had before the changes.
func (u *undoPlan) place(ctx context.Context, tx Tx, plan *change.Plan) error {
	if !slices.ContainsFunc(plan.Changes, func(c change.PlannedChange) bool { return c.Action == change.ActionCreate }) {
		return nil
	}
	positions, err := tx.DeletedSince(ctx, u.Undo.First-1)
	if err != nil {
		return err
	}
	for _, f := range plan.Patch.Put.Flags {
		f.Created = positions[change.Object{Kind: change.KindFlag, Key: f.Key}]
	}
	for _, g := range plan.Patch.Put.Segments {
		g.Created = positions[change.Object{Kind: change.KindSegment, Key: g.Key}]
	}
	return nil
}

// touch sets when the objects were updated.
func touch(o *change.Objects, now time.Time) {
	if o.Namespace != nil {
		o.Namespace.UpdatedAt = now
	}
	for _, g := range o.Segments {
		g.UpdatedAt = now
	}
	for _, f := range o.Flags {
		f.UpdatedAt = now
	}
}

func sizeOf(p change.Patch) int {
	n := len(p.Put.Flags) + len(p.Put.Segments) + len(p.Delete.Flags) + len(p.Delete.Segments)
	if p.Put.Namespace != nil {
		n++
	}
	return n
}

// checkUndone returns InvalidArgument with all references between flags and segments that
// the patch would leave without their segment, and with all rules that flags would break which
// obey them now: parts that are valid by themselves need not be so together. Neither may it put
// objects into a namespace that does not exist.
func checkUndone(namespace string, p change.Patch, base change.Objects) error {
	var found problems
	if base.Namespace == nil && p.Put.Namespace == nil && len(p.Put.Flags)+len(p.Put.Segments) > 0 {
		found.add(guidon.Errorf(guidon.InvalidArgument, "namespace %q no longer exists; undo its last deletion too", namespace))
	}
	segments := setOf(lists.Map(slices.Concat(base.Segments, p.Put.Segments), segmentKey))
	deleted := setOf(p.Delete.Segments)
	for _, f := range p.Put.Flags {
		for key := range f.SegmentKeys() {
			if !segments[key] || deleted[key] {
				found.add(guidon.Errorf(guidon.InvalidArgument, "flag %q: segment %q no longer exists; undo its deletion too",
					namespace+"/"+f.Key, namespace+"/"+key))
			}
		}
	}
	changed := setOf(p.Delete.Flags)
	for _, f := range p.Put.Flags {
		changed[f.Key] = true
	}
	obedient := map[string]bool{}
	for _, f := range base.Flags {
		obedient[f.Key] = changed[f.Key] && brokenRules(f) == nil
	}
	for _, f := range p.Put.Flags {
		if err := brokenRules(f); err != nil && obedient[f.Key] {
			found.add(guidon.Errorf(guidon.InvalidArgument, "flag %q: %v", namespace+"/"+f.Key, err))
		}
	}
	users := usersOf(base.Flags, changed)
	for _, key := range p.Delete.Segments {
		if u := users[key]; u != nil {
			found.add(u.inUse(namespace, key))
		}
	}
	return found.err()
}

// brokenRules returns InvalidArgument with the rules that the flag breaks. Whether its segments exist
// is not checked.
func brokenRules(f *guidon.Flag) error {
	var found problems
	normalFlag(NewDocumentFlag(f), &found, FlagDocument(f).referenced())
	return found.err()
}
