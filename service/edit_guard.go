package service

import (
	"context"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

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
