package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/service"
)

// fullFlag returns a flag with a value in every field.
func fullFlag(tx service.Tx, key string) *guidon.Flag {
	now := tx.Now()
	return &guidon.Flag{
		Key: key, Name: "Name", Description: "<b>&\u2028", Type: guidon.BooleanFlag, Enabled: true,
		Metadata: json.RawMessage(`{"html":"<&>","n":1e400}`), DefaultVariantID: "v1",
		Variants: []*guidon.Variant{{ID: "v1", Key: "on", Name: "On", Description: "d", Attachment: `{"a":[1,"<"]}`, CreatedAt: now, UpdatedAt: now}},
		Rules: []*guidon.Rule{{
			ID: "r1", SegmentKeys: []string{"s", "t"}, SegmentOperator: guidon.AndSegments, Rank: 1, CreatedAt: now, UpdatedAt: now,
			Distributions: []*guidon.Distribution{{ID: "d1", VariantID: "v1", Rollout: 33.33, CreatedAt: now, UpdatedAt: now}},
		}},
		Rollouts: []*guidon.Rollout{
			{ID: "o1", Rank: 1, Description: "d", Threshold: &guidon.RolloutThreshold{Percentage: 0.1, Value: true}, CreatedAt: now, UpdatedAt: now},
			{ID: "o2", Rank: 2, Segment: &guidon.RolloutSegment{SegmentKeys: []string{"s"}, Value: true}, CreatedAt: now, UpdatedAt: now},
		},
		CreatedAt: now, UpdatedAt: now,
	}
}

func fullSegment(tx service.Tx, key string) *guidon.Segment {
	now := tx.Now()
	return &guidon.Segment{
		Key: key, Name: "Name", Description: "d", MatchType: guidon.MatchAny,
		Constraints: []*guidon.Constraint{{
			ID: "c1", Type: guidon.EntityIDComparison, Property: "entityId", Operator: guidon.OpIsOneOf,
			Value: `["a"]`, Description: "d", CreatedAt: now, UpdatedAt: now,
		}},
		CreatedAt: now, UpdatedAt: now,
	}
}

// testObjectLifeCycle reads what was put, field by field, and changes and deletes it.
func testObjectLifeCycle(t *testing.T, s service.Store) {
	flags, g := append(flagtest.FilledFlags(), nil), flagtest.FilledSegment("segment")
	update(t, s, defaultNamespace, func(ctx context.Context, tx service.Tx) error {
		flags[2] = fullFlag(tx, "texts")
		return errors.Join(tx.PutFlag(ctx, flags[0]), tx.PutFlag(ctx, flags[1]), tx.PutFlag(ctx, flags[2]), tx.PutSegment(ctx, g))
	})
	for i, f := range flags {
		f.Created = guidon.Position{Revision: 2, Sequence: int32(i)} // #nosec G115 -- few
	}
	g.Created = guidon.Position{Revision: 2, Sequence: 3}
	shot := snapshot(t, s, defaultNamespace)
	wantEqual(t, "the snapshot", flags, shot.Flags())
	wantEqual(t, "the snapshot", []*guidon.Segment{g}, shot.Segments())
	update(t, s, defaultNamespace, func(ctx context.Context, tx service.Tx) error {
		read := make([]*guidon.Flag, len(flags))
		for i, f := range flags {
			var err error
			if read[i], err = tx.Flag(ctx, f.Key); err != nil {
				return err
			}
		}
		wantEqual(t, "a transaction", flags, read)
		segment, err := tx.Segment(ctx, g.Key)
		wantEqual(t, "a transaction", g, segment)
		read[0].Name, read[0].Rules = "Other", nil
		return errors.Join(err, tx.DeleteSegment(ctx, g.Key), tx.PutFlag(ctx, read[0]))
	})
	shot = snapshot(t, s, defaultNamespace)
	if got := shot.Flag(flags[0].Key); got.Name != "Other" || len(got.Rules) != 0 || got.Created != flags[0].Created {
		t.Errorf("changed flag: got %+v", got)
	}
	if shot.Segment(g.Key) != nil {
		t.Error("the deleted segment still exists")
	}
	update(t, s, defaultNamespace, func(ctx context.Context, tx service.Tx) error {
		if err := tx.DeleteFlag(ctx, "never was"); err != nil {
			t.Errorf("delete an unknown flag: %v", err)
		}
		return errors.Join(tx.DeleteFlag(ctx, flags[0].Key), tx.DeleteFlag(ctx, flags[1].Key), tx.DeleteFlag(ctx, flags[2].Key))
	})
	if got := snapshot(t, s, defaultNamespace).Flags(); len(got) != 0 {
		t.Errorf("got %d flags after the deletion", len(got))
	}
}

// The caller owns the objects that a transaction returns. Changing them affects
// neither what is stored nor what is read later.
func testOwnedByCaller(t *testing.T, s service.Store) {
	f := newFlag("a")
	putFlags(t, s, defaultNamespace, f)
	before := snapshot(t, s, defaultNamespace)
	f.Name = "changed after the update"
	update(t, s, defaultNamespace, func(ctx context.Context, tx service.Tx) error {
		first, err := tx.Flag(ctx, "a")
		if err != nil {
			return err
		}
		first.Name = "changed in the transaction"
		second, err := tx.Flag(ctx, "a")
		if err != nil {
			return err
		}
		if second.Name != "Flag a" {
			t.Errorf("got name %q, want the stored one", second.Name)
		}
		return nil
	})
	wantEqual(t, "the snapshot from before", "Flag a", before.Flag("a").Name)
}

// Lists are in creation order, whatever happened to the objects since. This includes
// objects created in one update, whose times are equal.
func testOrder(t *testing.T, s service.Store) {
	var want []string
	var flags []*guidon.Flag
	for i := range 250 {
		key := fmt.Sprintf("flag-%d", (i*7919)%1000) // not in alphabetical order
		want, flags = append(want, key), append(flags, newFlag(key))
	}
	putFlags(t, s, defaultNamespace, flags[:200]...)
	for _, f := range flags[200:] {
		putFlags(t, s, defaultNamespace, f)
	}
	putFlags(t, s, defaultNamespace, renamed(want[3], "changed"))
	wantFlags(t, s, want...)
	update(t, s, defaultNamespace, func(ctx context.Context, tx service.Tx) error {
		all, err := tx.Flags(ctx)
		wantEqual(t, "flags in the transaction", want, flagKeys(all))
		for i := range 100 {
			if err := tx.PutSegment(ctx, newSegment(fmt.Sprint((i*37)%100))); err != nil {
				return err
			}
		}
		return err
	})
	for i, key := range segmentKeys(snapshot(t, s, defaultNamespace).Segments()) {
		wantEqual(t, fmt.Sprint("segment ", i), fmt.Sprint((i*37)%100), key)
	}
}

// An object that is deleted and created again, in one update or two, is listed last.
func testOrderAfterRecreation(t *testing.T, s service.Store) {
	putFlags(t, s, defaultNamespace, newFlag("a"), newFlag("b"), newFlag("c"))
	update(t, s, defaultNamespace, deleteFlags("a"))
	putFlags(t, s, defaultNamespace, newFlag("a"))
	wantFlags(t, s, "b", "c", "a")
	update(t, s, defaultNamespace, inOneUpdate(deleteFlags("b"), putObjects(newFlag("b"))))
	wantFlags(t, s, "c", "a", "b")
	wantReplay(t, s, defaultNamespace)
}

func wantFlags(t *testing.T, s service.Store, want ...string) {
	t.Helper()
	wantEqual(t, "flags", want, flagKeys(snapshot(t, s, defaultNamespace).Flags()))
}

func testReadsOwnWrites(t *testing.T, s service.Store) {
	putFlags(t, s, defaultNamespace, newFlag("a"), newFlag("b"))
	update(t, s, defaultNamespace, func(ctx context.Context, tx service.Tx) error {
		changes := inOneUpdate(deleteFlags("a"), putObjects(renamed("b", "changed"), newFlag("c"), newSegment("s")))
		if err := changes(ctx, tx); err != nil {
			return err
		}
		_, err := tx.Flag(ctx, "a")
		wantCode(t, "deleted flag", err, guidon.NotFound)
		if got, err := tx.Flag(ctx, "b"); err != nil || got.Name != "changed" {
			t.Errorf("changed flag: got %v, %v", got, err)
		}
		all, err := tx.Flags(ctx)
		segments, err2 := tx.Segments(ctx)
		wantEqual(t, "flags in the transaction", []string{"b", "c"}, flagKeys(all))
		wantEqual(t, "segments in the transaction", []string{"s"}, segmentKeys(segments))
		return errors.Join(err, err2)
	})
	wantFlags(t, s, "b", "c")
}

// testListedKeys changes objects of which the transaction has read only the keys, in
// every way and in any order.
func testListedKeys(t *testing.T, s service.Store) {
	const count = 250
	key := func(i int) string { return fmt.Sprintf("flag-%d", (i*7)%count) }
	var keys []string
	update(t, s, defaultNamespace, func(ctx context.Context, tx service.Tx) error {
		keys = nil
		for i := range count {
			keys = append(keys, key(i))
			if err := tx.PutFlag(ctx, &guidon.Flag{Key: key(i), Name: "old"}); err != nil {
				return err
			}
		}
		return nil
	})
	update(t, s, defaultNamespace, func(ctx context.Context, tx service.Tx) error {
		if err := tx.DeleteFlag(ctx, keys[240]); err != nil {
			return err
		}
		got, err := tx.FlagKeys(ctx)
		if err != nil {
			return err
		}
		wantEqual(t, "keys", slices.Concat(keys[:240], keys[241:]), got)
		f, err := tx.Flag(ctx, keys[120])
		if err != nil || f.Name != "old" || f.Created.Sequence != 120 {
			t.Errorf("got %+v, %v; want the old flag", f, err)
		}
		if _, err := tx.Flag(ctx, "none"); !errors.Is(err, guidon.NotFound) {
			t.Errorf("a flag that is not listed: got %v, want NotFound", err)
		}
		for _, key := range []string{keys[0], keys[249], keys[120], "added"} {
			if err := tx.PutFlag(ctx, &guidon.Flag{Key: key, Name: "new"}); err != nil {
				return err
			}
		}
		for _, key := range []string{keys[1], keys[130]} {
			if err := tx.DeleteFlag(ctx, key); err != nil {
				return err
			}
		}
		got, err = tx.FlagKeys(ctx)
		if want := count - 3 + 1; err != nil || len(got) != want {
			t.Errorf("got %d keys and %v, want %d", len(got), err, want)
		}
		flags, err := tx.Flags(ctx)
		if err != nil || len(flags) != len(got) {
			t.Errorf("got %d flags and %v, want %d", len(flags), err, len(got))
		}
		return err
	})
	changes, err := s.Changes(t.Context(), change.Query{Namespace: defaultNamespace, Limit: 7})
	mustSucceed(t, err)
	var got []string
	for _, c := range slices.Backward(changes) {
		got = append(got, fmt.Sprint(c.Action, " ", c.Key, " ", c.Before != nil, " ", c.After != nil))
	}
	want := []string{
		"delete " + keys[240] + " true false", "update " + keys[0] + " true true", "update " + keys[249] + " true true",
		"update " + keys[120] + " true true", "create added false true", "delete " + keys[1] + " true false",
		"delete " + keys[130] + " true false",
	}
	wantEqual(t, "records", want, got)
}
