package service_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// small is the state that the tests of patches start with: free is used by no flag.
const small = `namespace: shop
flags:
- {key: ruled, name: Ruled, rules: [{segment: ruling}]}
- {key: rolled, name: Rolled, type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {key: rolling}}]}
segments: [{key: ruling, name: Ruling}, {key: rolling, name: Rolling}, {key: free, name: Free}]`

func newSegment(key string) *guidon.Segment { return &guidon.Segment{Key: key, Name: "New"} }

// newFlag returns a flag with a rule for each of the segments.
func newFlag(key string, segments ...string) *guidon.Flag {
	f := &guidon.Flag{Key: key, Name: "New"}
	for i, segment := range segments {
		f.Rules = append(f.Rules, &guidon.Rule{ID: service.NewID(), SegmentKeys: []string{segment}, Rank: int32(i + 1)})
	}
	return f
}

// applyTo applies the patches to the namespace in one transaction.
func applyTo(t *testing.T, s service.Store, namespace string, patches []change.Patch) error {
	t.Helper()
	_, err := s.Update(t.Context(), namespace, service.Write{}, func(ctx context.Context, tx service.Tx) error {
		return service.ApplyPatches(ctx, tx, namespace, patches...)
	})
	return err
}

// recorded returns one line for each change of the revision, in the order of the log.
func recorded(t *testing.T, s *service.Service, namespace string, revision int64) []string {
	t.Helper()
	changes, _, _, err := s.ListChanges(t.Context(), service.Demand{}, change.Search{Query: change.Query{Namespace: namespace}}, "")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range slices.Backward(changes) { // they are newest first
		if c.Revision == revision {
			out = append(out, fmt.Sprintf("%s %s %s", c.Action, c.Kind, c.Key))
		}
	}
	return out
}

// TestPatchOrder: a patch is applied in the order that keeps references valid, and what
// earlier patches of the transaction did counts.
func TestPatchOrder(t *testing.T) {
	for _, test := range []struct {
		name      string
		namespace string // shop if empty, with revision 1
		patches   []change.Patch
		want      []string // the change records
	}{
		{"a new namespace", "new", []change.Patch{{Put: change.Objects{
			Flags:     []*guidon.Flag{newFlag("f", "s")},
			Segments:  []*guidon.Segment{newSegment("s")},
			Namespace: &guidon.Namespace{Key: "new", Name: "New"},
		}}}, []string{"create namespace new", "create segment s", "create flag f"}},

		{"every kind of change", "", []change.Patch{{
			Delete: change.Keys{Segments: []string{"ruling", "free"}, Flags: []string{"ruled"}},
			Put: change.Objects{
				Flags:     []*guidon.Flag{newFlag("rolled", "rolling", "s"), newFlag("f")},
				Segments:  []*guidon.Segment{newSegment("s"), newSegment("rolling")},
				Namespace: &guidon.Namespace{Key: "shop", Name: "New"},
			},
		}}, []string{
			"update namespace shop", "create segment s", "update segment rolling", "update flag rolled", "create flag f",
			"delete flag ruled", "delete segment ruling", "delete segment free",
		}},

		{"a segment is deleted after the flags that used it are put", "", []change.Patch{{
			Put:    change.Objects{Flags: []*guidon.Flag{newFlag("ruled"), newFlag("rolled", "free")}},
			Delete: change.Keys{Segments: []string{"ruling", "rolling"}},
		}}, []string{"update flag ruled", "update flag rolled", "delete segment ruling", "delete segment rolling"}},

		{"a flag may refer to a segment of an earlier patch", "", []change.Patch{
			{Put: change.Objects{Flags: []*guidon.Flag{newFlag("f", "free")}}}, // needs the stored segments
			{Put: change.Objects{Segments: []*guidon.Segment{newSegment("s")}}},
			{Put: change.Objects{Flags: []*guidon.Flag{newFlag("g", "s")}}},
		}, []string{"create flag f", "create segment s", "create flag g"}},

		{"an earlier patch may delete the flags of a segment", "", []change.Patch{
			{Delete: change.Keys{Flags: []string{"ruled"}}},
			{Delete: change.Keys{Segments: []string{"ruling"}}},
		}, []string{"delete flag ruled", "delete segment ruling"}},

		{"a deletion of what does not exist", "", []change.Patch{{Delete: change.Keys{Segments: []string{"none"}, Flags: []string{"none"}}}}, nil},
		{"no change", "", []change.Patch{{}}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := newStore(t)
			s := service.NewService(db, time.Now)
			namespace, next := "shop", int64(2)
			mustImport(t, s, small, service.ImportCreate)
			if test.namespace != "" {
				namespace, next = test.namespace, 1
			}
			if err := applyTo(t, db, namespace, test.patches); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, recorded(t, s, namespace, next)); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			if got := revision(t, s, namespace); test.want == nil && got != next-1 {
				t.Errorf("a patch that changes nothing used a revision: got %d, want %d", got, next-1)
			}
		})
	}
}

// TestPatchRefused: nothing is stored of a patch that contradicts itself or leaves a
// reference to a segment that does not exist.
func TestPatchRefused(t *testing.T) {
	for _, test := range []struct {
		name      string
		namespace string // shop if empty
		patches   []change.Patch
		code      guidon.Code
		want      string
	}{
		{"a contradiction", "", []change.Patch{{
			Put: change.Objects{Flags: []*guidon.Flag{newFlag("f")}}, Delete: change.Keys{Flags: []string{"f"}},
		}}, guidon.InvalidArgument, `patch: flag "f" is both put and deleted`},

		{"a flag that refers to a segment that does not exist", "", []change.Patch{{
			Put: change.Objects{Segments: []*guidon.Segment{newSegment("s")}, Flags: []*guidon.Flag{newFlag("f", "free", "s", "none")}},
		}}, guidon.InvalidArgument, `flag "shop/f": segment "shop/none" not found`},

		{"a flag that refers to a segment of a later patch", "", []change.Patch{
			{Put: change.Objects{Flags: []*guidon.Flag{newFlag("f", "s")}}},
			{Put: change.Objects{Segments: []*guidon.Segment{newSegment("s")}}},
		}, guidon.InvalidArgument, `flag "shop/f": segment "shop/s" not found`},

		{"a flag that refers to a segment that an earlier patch deleted", "", []change.Patch{
			{Put: change.Objects{Flags: []*guidon.Flag{newFlag("e", "rolling")}}}, // needs the stored segments
			{Delete: change.Keys{Segments: []string{"free"}}},
			{Put: change.Objects{Flags: []*guidon.Flag{newFlag("f", "free")}}},
		}, guidon.InvalidArgument, `flag "shop/f": segment "shop/free" not found`},

		{"a segment used by a rule", "", []change.Patch{{
			Put: change.Objects{Flags: []*guidon.Flag{newFlag("f")}}, Delete: change.Keys{Segments: []string{"free", "ruling"}},
		}}, guidon.InvalidArgument, `segment "shop/ruling" is in use: referred to by flag "ruled" (rule 1)`},

		{"a segment used by a rollout", "", []change.Patch{{Delete: change.Keys{Segments: []string{"rolling"}}}},
			guidon.InvalidArgument, `segment "shop/rolling" is in use: referred to by flag "rolled" (rule 1)`},

		{"a segment used by a flag of an earlier patch", "", []change.Patch{
			{Put: change.Objects{Flags: []*guidon.Flag{newFlag("f", "free")}}},
			{Delete: change.Keys{Segments: []string{"free"}}},
		}, guidon.InvalidArgument, `segment "shop/free" is in use: referred to by flag "f" (rule 1)`},

		{"a namespace that does not exist", "nowhere", []change.Patch{{Put: change.Objects{Flags: []*guidon.Flag{newFlag("f")}}}},
			guidon.NotFound, `namespace "nowhere" not found`},
	} {
		t.Run(test.name, func(t *testing.T) {
			db := newStore(t)
			s := service.NewService(db, time.Now)
			mustImport(t, s, small, service.ImportCreate)
			before, namespace := exported(t, s, "shop"), "shop"
			if test.namespace != "" {
				namespace = test.namespace
			}
			err := applyTo(t, db, namespace, test.patches)
			if err == nil || err.Error() != test.want || guidon.CodeOf(err) != test.code {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
			if diff := cmp.Diff(before, exported(t, s, "shop")); diff != "" {
				t.Errorf("something was stored (-before +after):\n%s", diff)
			}
			if got := revision(t, s, "shop"); got != 1 {
				t.Errorf("got revision %d, want 1", got)
			}
		})
	}
}
