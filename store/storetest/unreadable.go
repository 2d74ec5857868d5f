package storetest

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

// A flag or segment whose body this release cannot read affects nothing else, and the body is
// never replaced.
func testUnreadable(t *testing.T, s *store.DB) {
	update(t, s, defaultNamespace, func(ctx context.Context, tx service.Tx) error {
		users := fullFlag(tx, "users")
		users.Rollouts[1].Segment.SegmentKeys, users.Rules = []string{"damaged"}, nil
		other := fullFlag(tx, "other")
		other.Rollouts, other.Rules = nil, nil
		return errors.Join(tx.PutSegment(ctx, fullSegment(tx, "damaged")), tx.PutFlag(ctx, fullFlag(tx, "damaged")), tx.PutFlag(ctx, users),
			tx.PutFlag(ctx, other))
	})
	readable := snapshot(t, s, defaultNamespace)
	for _, statement := range []string{
		`UPDATE flags SET body = REPLACE(body, 'BOOLEAN_FLAG_TYPE', 'NEWER_FLAG_TYPE') WHERE flag_key = 'damaged'`,
		`UPDATE segments SET body = REPLACE(body, 'ANY_MATCH_TYPE', 'NEWER_MATCH_TYPE') WHERE segment_key = 'damaged'`,
	} {
		execute(t, s.SQL(), statement)
	}
	flag, segment := stored(t, s.SQL(), "flag"), stored(t, s.SQL(), "segment")

	checkUnreadable(t, snapshot(t, s, defaultNamespace))
	later, err := s.Load(t.Context(), defaultNamespace, readable) // the revision has not changed
	if err != nil || later.Revision() != readable.Revision() {
		t.Errorf("got %v, %v", later, err)
	}
	t.Run("writes to others", func(t *testing.T) {
		update(t, s, defaultNamespace, func(ctx context.Context, tx service.Tx) error {
			all, err := tx.Flags(ctx)
			if err != nil {
				return err
			}
			for i, want := range []bool{true, false, false} {
				wantEqual(t, all[i].Key+": unreadable", want, all[i].Unreadable != nil)
			}
			all[2].Enabled = true
			all[2].Name = "Changed"
			return errors.Join(tx.PutFlag(ctx, all[2]), tx.PutFlag(ctx, fullFlag(tx, "another")), tx.PutSegment(ctx, fullSegment(tx, "s")))
		})
		checkUnreadable(t, snapshot(t, s, defaultNamespace))
	})
	t.Run("writes to them", func(t *testing.T) {
		for name, write := range map[string]func(ctx context.Context, tx service.Tx) error{
			"read":                func(ctx context.Context, tx service.Tx) error { _, err := tx.Flag(ctx, "damaged"); return err },
			"put":                 func(ctx context.Context, tx service.Tx) error { return tx.PutFlag(ctx, fullFlag(tx, "damaged")) },
			"put what it is":      func(ctx context.Context, tx service.Tx) error { return putFirst(ctx, tx, tx.Flags, tx.PutFlag) },
			"read a segment":      func(ctx context.Context, tx service.Tx) error { _, err := tx.Segment(ctx, "damaged"); return err },
			"put a segment":       func(ctx context.Context, tx service.Tx) error { return tx.PutSegment(ctx, fullSegment(tx, "damaged")) },
			"put what segment is": func(ctx context.Context, tx service.Tx) error { return putFirst(ctx, tx, tx.Segments, tx.PutSegment) },
		} {
			if _, err := s.Update(t.Context(), defaultNamespace, service.Write{}, write); !guidon.IsUnreadable(err) {
				t.Errorf("%s: got %v, want that it needs a newer release", name, err)
			}
		}
	})
	wantEqual(t, "the body of the flag", flag, stored(t, s.SQL(), "flag"))
	wantEqual(t, "the body of the segment", segment, stored(t, s.SQL(), "segment"))
	t.Run("deleted", func(t *testing.T) {
		before := snapshot(t, s, defaultNamespace).Revision().Number
		update(t, s, defaultNamespace, inOneUpdate(deleteFlags("damaged", "users"), deleteSegment("damaged")))
		if got := snapshot(t, s, defaultNamespace).Unreadable(); len(got) > 0 {
			t.Errorf("now: got %v, want nothing unreadable", got)
		}
		past, err := s.SnapshotAt(t.Context(), defaultNamespace, service.Moment{Revision: before}, service.Demand{}, nil)
		mustSucceed(t, err)
		checkUnreadable(t, past)
		records, err := s.Changes(t.Context(),
			change.Query{Namespace: defaultNamespace, Kind: change.KindFlag, Key: "damaged", First: before + 1, Limit: 1})
		if err != nil || len(records) != 1 || string(records[0].Before) != flag {
			t.Errorf("got the records %v, %v, want one with the body", records, err)
		}
	})
}

// putFirst puts the first object of the list again.
func putFirst[T any](
	ctx context.Context, _ service.Tx, list func(context.Context) ([]*T, error), put func(context.Context, *T) error,
) error {
	all, err := list(ctx)
	if err != nil {
		return err
	}
	return put(ctx, all[0])
}

// checkUnreadable checks that the flags damaged and users fail, and others do not.
func checkUnreadable(t *testing.T, s *guidon.Snapshot) {
	t.Helper()
	got := map[guidon.UnreadableKey]bool{}
	for key := range s.Unreadable() {
		got[key] = true
	}
	want := map[guidon.UnreadableKey]bool{{Kind: "flag", Key: "damaged"}: true, {Kind: "flag", Key: "users"}: true,
		{Kind: "segment", Key: "damaged"}: true}
	wantEqual(t, "unreadable", want, got)
	for _, key := range []string{"damaged", "users"} {
		if _, err := s.Boolean(key, "e", nil); !guidon.IsUnreadable(err) {
			t.Errorf("flag %s: got %v", key, err)
		}
	}
	if _, err := s.Boolean("other", "e", nil); err != nil {
		t.Errorf("flag other: %v", err)
	}
	if f := s.Flag("damaged"); f.Created != (guidon.Position{Revision: 2, Sequence: 1}) {
		t.Errorf("created at %v", f.Created)
	}
}

// stored returns the body of the flag or segment with the key damaged.
func stored(t *testing.T, db *sql.DB, kind string) (body string) {
	t.Helper()
	mustSucceed(t, db.QueryRowContext(t.Context(), "SELECT body FROM "+kind+"s WHERE "+kind+"_key = 'damaged'").Scan(&body))
	return body
}
