package service_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/service"
)

// TestCatalogRandomly: lists of a state that follows another one equal those of the same
// state on its own. One of the flags gets other tags all the time.
func TestCatalogRandomly(t *testing.T) {
	const flags, steps = 320, 120
	for seed := range uint64(3) {
		source, random := flagtest.NewSource(seed), rand.New(rand.NewPCG(seed, 0))
		all, segments := source.State(flags)
		for i, f := range all {
			f.Created = guidon.Position{Revision: int64(i + 1)}
		}
		namespace := source.Namespace("shop")
		s := guidon.NewSnapshot(namespace, guidon.Revision{Number: 1}, all, segments)
		for step := range steps {
			delta := guidon.SnapshotDelta{Revision: guidon.Revision{Number: int64(flags + step)}}
			replace := func(i int, f *guidon.Flag) {
				f.Created = all[i].Created
				all[i] = f
				delta.Flags = append(delta.Flags, f)
			}
			tagged := *all[0]
			tagged.Metadata = tagsFrom(step*40, 40)
			replace(0, &tagged)
			for _, i := range random.Perm(flags - 2)[:random.IntN(4)] {
				replace(i+1, source.EditFlag(all[i+1]))
			}
			if last := len(all) - 1; random.IntN(2) == 0 { // created again
				f := source.Flag(all[last].Key)
				f.Created = guidon.Position{Revision: delta.Revision.Number}
				all[last] = f
				delta.DeletedFlags, delta.Flags = []string{f.Key}, append(delta.Flags, f)
			}
			if random.IntN(8) == 0 {
				i := random.IntN(len(segments))
				segments[i] = source.EditSegment(segments[i])
				delta.Segments = []*guidon.Segment{segments[i]}
			}
			if s = s.Apply(delta); random.IntN(3) > 0 {
				continue // the next list is that of a later state
			}
			fresh := guidon.NewSnapshot(namespace, delta.Revision, slices.Clone(all), slices.Clone(segments))
			if want, got := listsOf(t, fresh), listsOf(t, s); !reflect.DeepEqual(want, got) {
				t.Fatalf("seed %d, step %d (-want +got):\n%s", seed, step, cmp.Diff(fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", got)))
			}
		}
	}
}

// tagsFrom returns metadata with n tags that no other number has.
func tagsFrom(first, n int) json.RawMessage {
	var tags []string
	for i := range n {
		tags = append(tags, fmt.Sprintf(`"tag-%d"`, first+i))
	}
	return json.RawMessage(`{"tags":[` + strings.Join(tags, ",") + `]}`)
}

// listsOf returns what is listed of a snapshot.
func listsOf(t *testing.T, s *guidon.Snapshot) (lists []any) {
	t.Helper()
	v := service.View{Snapshot: s}
	for sort := range service.FlagSort(4) {
		for _, q := range []service.FlagQuery{
			{Window: service.Window{Limit: 20}},
			{Window: service.Window{Offset: 310, Limit: 20}, Descending: true},
			{Text: "is:partly", Window: service.Window{Limit: 5}},
			{Text: "e", Tags: []string{"tag-1", "beta"}, Descending: true},
			{Keys: []string{"flag-7", "flag-300", "flag-7", "none", "flag-0"}, Types: []guidon.FlagType{guidon.BooleanFlag}},
		} {
			q.Sort = sort
			list, err := v.FlagSummaries(q)
			if err != nil {
				t.Fatal(err)
			}
			lists = append(lists, list)
		}
	}
	unused, err := v.UnusedFlags(t.Context(), service.UnusedQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for sort := range service.SegmentSort(4) {
		segments, err := v.SegmentSummaries(service.SegmentQuery{Sort: sort})
		if err != nil {
			t.Fatal(err)
		}
		lists = append(lists, segments)
	}
	properties, total, err := v.Properties(service.PropertyQuery{})
	if err != nil {
		t.Fatal(err)
	}
	page, info, err := v.Flags(service.PageRequest{Limit: 10, Offset: 300})
	if err != nil {
		t.Fatal(err)
	}
	return append(lists, unused, v.CatalogCounts(), properties, total, page, info)
}

// TestCatalogCost: with ten times as many flags, a change of one and the lists that follow
// cost at most twice as much.
func TestCatalogCost(t *testing.T) {
	const few, many = 4_000, 40_000
	cost := map[int]map[string]uint64{}
	for _, n := range []int{few, many} {
		s := largeNamespace(n)
		all := s.Flags()
		cost[n] = map[string]uint64{}
		for what, read := range map[string]func(v service.View) error{
			"flags by name": func(v service.View) error {
				_, err := v.FlagSummaries(service.FlagQuery{})
				return err
			},
			"flags by change": func(v service.View) error {
				_, err := v.FlagSummaries(service.FlagQuery{Text: "owner:team-7", Sort: service.FlagsByChange})
				return err
			},
			"some flags": func(v service.View) error {
				_, err := v.FlagSummaries(service.FlagQuery{Keys: []string{all[1].Key, all[2].Key}})
				return err
			},
			"a page of flags": func(v service.View) error {
				_, _, err := v.Flags(service.PageRequest{Limit: 50})
				return err
			},
			"counts": func(v service.View) error {
				v.CatalogCounts()
				return nil
			},
			"segments": func(v service.View) error {
				_, err := v.SegmentSummaries(service.SegmentQuery{})
				return err
			},
			"properties": func(v service.View) error {
				_, _, err := v.Properties(service.PropertyQuery{})
				return err
			},
		} {
			if err := read(service.View{Snapshot: s}); err != nil { // the first time
				t.Fatal(err)
			}
			const changes = 50
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for i := range changes {
				changed := *all[i*97%n]
				changed.Enabled = !changed.Enabled
				s = s.Apply(guidon.SnapshotDelta{Flags: []*guidon.Flag{&changed}})
				if err := read(service.View{Snapshot: s}); err != nil {
					t.Fatal(err)
				}
			}
			runtime.ReadMemStats(&after)
			cost[n][what] = (after.TotalAlloc - before.TotalAlloc) / changes
		}
	}
	for what, before := range cost[few] {
		if after := cost[many][what]; after > 2*before {
			t.Errorf("%s: %d bytes with %d flags, %d with %d", what, before, few, after, many)
		}
	}
}
