package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// A flag or segment that was deleted can return to its former position in lists, after
// which earlier states have the order that they had.
func testFormerPositions(t *testing.T, s service.Store) {
	putFlags(t, s, defaultNamespace, newFlag("a"), newFlag("b"), newFlag("c")) // revision 2
	update(t, s, defaultNamespace, putObjects(newSegment("s"), newSegment("t")))
	remove := func() {
		t.Helper()
		update(t, s, defaultNamespace, inOneUpdate(deleteFlags("a"), deleteSegment("s")))
	}
	remove() // revision 4
	a, g := newFlag("a"), newSegment("s")
	update(t, s, defaultNamespace, func(ctx context.Context, tx service.Tx) error {
		got, err := tx.DeletedSince(ctx, 3)
		want := map[change.Object]guidon.Position{{Kind: change.KindFlag, Key: "a"}: {Revision: 2},
			{Kind: change.KindSegment, Key: "s"}: {Revision: 3}}
		wantEqual(t, "deleted", want, got)
		if later, err := tx.DeletedSince(ctx, 4); len(later) > 0 || err != nil {
			t.Errorf("deleted after revision 4: got %v, %v", later, err)
		}
		return err
	})
	putFlags(t, s, defaultNamespace, newFlag("a")) // anew, in revision 5
	remove()
	a.Created, g.Created = guidon.Position{Revision: 2}, guidon.Position{Revision: 3}
	update(t, s, defaultNamespace, func(ctx context.Context, tx service.Tx) error {
		// What was put and deleted in the same transaction has no position.
		return errors.Join(tx.PutFlag(ctx, a), tx.DeleteFlag(ctx, "a"), tx.PutFlag(ctx, a), tx.PutSegment(ctx, g))
	})

	check := func(place string, at service.Moment, want ...string) {
		t.Helper()
		shot := snapshot(t, s, defaultNamespace)
		if at != (service.Moment{}) {
			var err error
			shot, err = s.SnapshotAt(t.Context(), defaultNamespace, at, service.Demand{}, nil)
			mustSucceed(t, err)
		}
		wantEqual(t, place, want, append(flagKeys(shot.Flags()), segmentKeys(shot.Segments())...))
	}
	check("now", service.Moment{}, "a", "b", "c", "s", "t")
	check("before", service.Moment{Revision: 3}, "a", "b", "c", "s", "t")
	check("deleted", service.Moment{Revision: 4}, "b", "c", "t")
	check("created anew", service.Moment{Revision: 5}, "b", "c", "a", "t")
	update(t, s, defaultNamespace, func(ctx context.Context, tx service.Tx) error {
		keys, err := tx.FlagKeys(ctx)
		wantEqual(t, "keys in a transaction", []string{"a", "b", "c"}, keys)
		a.Name = "renamed" // it keeps its position
		return errors.Join(err, tx.PutFlag(ctx, a))
	})
	check("changed", service.Moment{}, "a", "b", "c", "s", "t")
	remove()
	putFlags(t, s, defaultNamespace, newFlag("a"))
	check("created anew again", service.Moment{}, "b", "c", "a", "t")
	check("before its second deletion", service.Moment{Revision: 8}, "a", "b", "c", "s", "t")
}
