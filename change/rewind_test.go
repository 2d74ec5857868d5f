package change_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// at returns the position of a creation.
func at(revision int64) guidon.Position { return guidon.Position{Revision: revision} }

func flagAt(key, description string, created guidon.Position) *guidon.Flag {
	return &guidon.Flag{Key: key, Description: description, Created: created}
}

func segmentAt(key, description string, created guidon.Position) *guidon.Segment {
	return &guidon.Segment{Key: key, Description: description, Created: created}
}

func before(t *testing.T, kind change.Kind, key string, object any) *change.Record {
	t.Helper()
	r := &change.Record{Kind: kind, Key: key, Revision: 5, Action: change.ActionCreate}
	if object != nil {
		body, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		r.Action, r.Before = change.ActionUpdate, body
	}
	return r
}

func TestRewind(t *testing.T) {
	shop := &guidon.Namespace{Key: "shop", Name: "Shop"}
	later := guidon.NewSnapshot(shop, guidon.Revision{Number: 9, Stamp: 90},
		[]*guidon.Flag{flagAt("a", "9", at(2)), flagAt("c", "9", at(4)), flagAt("b", "9", at(8)), flagAt("new", "9", at(9))},
		[]*guidon.Segment{segmentAt("s", "9", at(3)), segmentAt("t", "9", at(7))})
	gone := guidon.NewSnapshot(nil, guidon.Revision{Number: 9, Stamp: 90}, nil, nil)
	type undo struct {
		record  *change.Record
		created guidon.Position
	}
	for _, c := range []struct {
		name     string
		later    *guidon.Snapshot
		undo     []undo
		flags    []*guidon.Flag
		segments []*guidon.Segment
		absent   bool
		wantName string
		err      string
	}{
		{name: "nothing", later: later, flags: later.Flags(), segments: later.Segments(), wantName: "Shop"},
		{name: "changed and created", later: later, undo: []undo{
			{before(t, change.KindFlag, "new", nil), guidon.Position{}},
			{before(t, change.KindFlag, "a", flagAt("a", "4", guidon.Position{})), guidon.Position{}},
			{before(t, change.KindSegment, "t", nil), guidon.Position{}},
			{before(t, change.KindSegment, "s", segmentAt("s", "4", guidon.Position{})), guidon.Position{}},
			{before(t, change.KindFlag, "b", nil), at(8)},
		}, flags: []*guidon.Flag{flagAt("a", "4", at(2)), flagAt("c", "9", at(4))}, segments: []*guidon.Segment{segmentAt("s", "4", at(3))}, wantName: "Shop"},
		{name: "deleted, and created again", later: later, undo: []undo{
			{before(t, change.KindFlag, "b", flagAt("b", "4", guidon.Position{})), guidon.Position{Revision: 2, Sequence: 1}},
			{before(t, change.KindFlag, "d", flagAt("d", "4", guidon.Position{})), at(1)},
			{before(t, change.KindFlag, "a", flagAt("a", "4", guidon.Position{})), at(3)}, // returned to another position since
			{before(t, change.KindFlag, "new", nil), guidon.Position{}},
			{before(t, change.KindSegment, "t", segmentAt("t", "4", guidon.Position{})), at(2)},
		}, flags: []*guidon.Flag{flagAt("d", "4", at(1)), flagAt("b", "4", guidon.Position{Revision: 2, Sequence: 1}), flagAt("a", "4", at(3)), flagAt("c", "9", at(4))},
			segments: []*guidon.Segment{segmentAt("t", "4", at(2)), segmentAt("s", "9", at(3))}, wantName: "Shop"},
		{name: "the namespace", later: later, undo: []undo{
			{before(t, change.KindNamespace, "shop", &guidon.Namespace{Key: "shop", Name: "Old"}), guidon.Position{}},
		}, flags: later.Flags(), segments: later.Segments(), wantName: "Old"},
		{name: "the creation of the namespace", later: later, undo: []undo{
			{before(t, change.KindNamespace, "shop", nil), guidon.Position{}},
			{before(t, change.KindFlag, "a", nil), guidon.Position{}},
		}, absent: true},
		{name: "the deletion of the namespace", later: gone, undo: []undo{
			{before(t, change.KindFlag, "b", flagAt("b", "4", guidon.Position{})), at(3)},
			{before(t, change.KindNamespace, "shop", &guidon.Namespace{Key: "shop", Name: "Old"}), guidon.Position{}},
			{before(t, change.KindFlag, "a", flagAt("a", "4", guidon.Position{})), at(2)},
		}, flags: []*guidon.Flag{flagAt("a", "4", at(2)), flagAt("b", "4", at(3))}, wantName: "Old"},
		{name: "a namespace that did not exist in between", later: gone, absent: true},
		{name: "a lost position", later: later, undo: []undo{
			{before(t, change.KindFlag, "b", flagAt("b", "4", guidon.Position{})), guidon.Position{}},
		}, err: `the position of the creation of the flag "b" of revision 4 is not known`},
		{name: "a later position", later: later, undo: []undo{
			{before(t, change.KindSegment, "t", segmentAt("t", "4", guidon.Position{})), at(5)},
		}, err: `the position of the creation of the segment "t" of revision 4 is not known`},
		{name: "a malformed namespace", later: later, undo: []undo{
			{&change.Record{Kind: change.KindNamespace, Key: "shop", Revision: 5, Action: change.ActionDelete}, at(1)},
		}, err: `decode the namespace "shop" before its change`},
	} {
		t.Run(c.name, func(t *testing.T) {
			to := guidon.Revision{Number: 4, Stamp: 40}
			rewind := change.NewRewind(c.later, to)
			for _, u := range c.undo {
				if err := rewind.Undo(u.record, u.created); err != nil {
					if c.err == "" || !strings.Contains(err.Error(), c.err) {
						t.Errorf("got %v, want %q", err, c.err)
					}
					return
				}
			}
			if c.err != "" {
				t.Fatalf("no error, want %q", c.err)
			}
			got := rewind.Snapshot()
			if got.Revision() != to || (got.Namespace() == nil) != c.absent {
				t.Fatalf("got %v, namespace %+v", got.Revision(), got.Namespace())
			}
			if !c.absent && got.Namespace().Name != c.wantName {
				t.Errorf("got the name %q, want %q", got.Namespace().Name, c.wantName)
			}
			if diff := cmp.Diff(c.flags, got.Flags()); diff != "" && len(c.flags)+len(got.Flags()) > 0 {
				t.Errorf("flags (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.segments, got.Segments()); diff != "" && len(c.segments)+len(got.Segments()) > 0 {
				t.Errorf("segments (-want +got):\n%s", diff)
			}
			for _, f := range c.flags {
				if got.Flag(f.Key) == nil || got.Flag(f.Key).Description != f.Description {
					t.Errorf("flag %q is not found by its key", f.Key)
				}
			}
		})
	}
	if len(later.Flags()) != 4 || later.Flag("a").Description != "9" || gone.Namespace() != nil {
		t.Error("the later state has changed")
	}
}

// TestRewindUnreadable: a flag that cannot be read in an earlier state is unreadable there.
func TestRewindUnreadable(t *testing.T) {
	later := guidon.NewSnapshot(&guidon.Namespace{Key: "shop"}, guidon.Revision{Number: 6}, nil, nil)
	rewind := change.NewRewind(later, guidon.Revision{Number: 4})
	record := &change.Record{Kind: change.KindFlag, Key: "a", Revision: 5, Action: change.ActionDelete, Before: []byte("{")}
	if err := rewind.Undo(record, guidon.Position{Revision: 1}); err != nil {
		t.Fatal(err)
	}
	if f := rewind.Snapshot().Flag("a"); f == nil || f.Unreadable == nil || f.Created.Revision != 1 {
		t.Errorf("got %+v", f)
	}
}

// TestRewindFields: every field of namespaces, flags and segments is that of the earlier state.
func TestRewindFields(t *testing.T) {
	later := guidon.NewSnapshot(&guidon.Namespace{Key: "shop"}, guidon.Revision{Number: 9}, nil, nil)
	rewind := change.NewRewind(later, guidon.Revision{Number: 4})
	flags, segment := flagtest.FilledFlags(), flagtest.FilledSegment("s")
	namespace := flagtest.FilledNamespace("shop")
	if err := rewind.Undo(before(t, change.KindNamespace, "shop", namespace), guidon.Position{}); err != nil {
		t.Fatal(err)
	}
	for i, f := range flags {
		f.Created = guidon.Position{Revision: 2, Sequence: int32(i)}
		if err := rewind.Undo(before(t, change.KindFlag, f.Key, f), f.Created); err != nil {
			t.Fatal(err)
		}
	}
	segment.Created = at(1)
	if err := rewind.Undo(before(t, change.KindSegment, "s", segment), at(1)); err != nil {
		t.Fatal(err)
	}
	got := rewind.Snapshot()
	if diff := cmp.Diff(namespace, got.Namespace()); diff != "" {
		t.Errorf("namespace (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(flags, got.Flags()); diff != "" {
		t.Errorf("flags (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]*guidon.Segment{segment}, got.Segments()); diff != "" {
		t.Errorf("segments (-want +got):\n%s", diff)
	}
}
