package service_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/flagrand"
	"github.com/guidonhq/guidon/service"
)

// switched has a boolean flag that is true for everyone in three ways, one that somebody
// has turned off without the service, and a variant flag.
const switched = `
namespace: {key: default}
flags:
- {key: "on", name: "On", type: BOOLEAN_FLAG_TYPE, enabled: true, rollouts: [
    {description: "staff", segment: {key: staff, value: true}}, {threshold: {percentage: 50, value: true}}]}
- {key: bare, name: Bare, type: BOOLEAN_FLAG_TYPE}
- {key: manual, name: Manual, type: BOOLEAN_FLAG_TYPE, enabled: true, rollouts: [
    {description: "not yet", threshold: {percentage: 100, value: false}}]}
- {key: variant, name: Variant, enabled: true}
segments:
- {key: staff, name: Staff, match_type: ALL_MATCH_TYPE}
`

func enabled(t *testing.T, s *service.Service, key, entity string) bool {
	t.Helper()
	result, err := view(t, s, "default").Snapshot.Boolean(key, entity, nil)
	if err != nil {
		t.Fatal(err)
	}
	return result.Enabled
}

// TestSwitch turns a flag off and on again. Each takes one revision with one record, and
// what has no effect takes none.
func TestSwitch(t *testing.T) {
	s := newService(t)
	mustImport(t, s, switched, service.ImportCreate)
	before, original := revision(t, s, "default"), flag(t, s, "default", "on")

	result, at, err := s.TurnFlagOff(t.Context(), service.Write{Message: "incident 7"}, "", "on", &before)
	want := &service.EditResult{Namespace: "default", Revision: before + 1, Changes: []service.EditedObject{{Kind: "flag", Key: "on", Action: "update"}}}
	if diff := cmp.Diff(want, result); diff != "" || err != nil || at != before+1 {
		t.Fatalf("TurnFlagOff: revision %d, %v (-want +got):\n%s", at, err, diff)
	}
	if enabled(t, s, "on", "ann") {
		t.Error("the flag is still on")
	}
	records := changes(t, s, "default", before)
	if len(records) != 1 || records[0].Key != "on" || records[0].Message != "incident 7" {
		t.Errorf("got the records %+v, want one", records)
	}
	off := flag(t, s, "default", "on")
	if r := off.Rollouts[0]; r.Description != service.OffDescription || r.ID == "" || r.Rank >= off.Rollouts[1].Rank {
		t.Errorf("got the first rollout %+v", r)
	}

	// It stays off, whatever is done to its value and its other rollouts.
	if _, _, err := s.UpdateFlag(t.Context(), service.Write{}, "", service.FlagInput{Key: "on", Name: "Renamed", Enabled: true}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.CreateRollout(t.Context(), service.Write{}, "", service.RolloutInput{
		FlagKey: "on", Rank: 3, Threshold: &guidon.RolloutThreshold{Percentage: 100, Value: true},
	}); err != nil {
		t.Fatal(err)
	}
	now := revision(t, s, "default")
	result, at, err = s.TurnFlagOff(t.Context(), service.Write{}, "", "on", nil)
	if err != nil || at != now || len(result.Changes) != 0 || result.Unchanged != 1 || enabled(t, s, "on", "ann") {
		t.Errorf("again: got %+v, revision %d, %v; want nothing changed at %d", result, at, err, now)
	}

	if _, _, err := s.TurnFlagOn(t.Context(), service.Write{}, "", "on", nil); err != nil {
		t.Fatal(err)
	}
	restored := flag(t, s, "default", "on")
	if diff := cmp.Diff(original.Rollouts, restored.Rollouts[:2]); diff != "" || len(restored.Rollouts) != 3 || restored.Name != "Renamed" {
		t.Errorf("got %d rollouts of %q, want 3 (-want +got):\n%s", len(restored.Rollouts), restored.Name, diff)
	}
	if !enabled(t, s, "on", "ann") {
		t.Error("the flag is still off")
	}
	if result, _, err := s.TurnFlagOn(t.Context(), service.Write{}, "", "on", nil); err != nil || len(result.Changes) != 0 {
		t.Errorf("on again: got %+v, %v; want nothing changed", result, err)
	}
}

func TestSwitchWithoutRollouts(t *testing.T) {
	s := newService(t)
	mustImport(t, s, switched, service.ImportCreate)
	for _, key := range []string{"bare", "manual"} {
		if _, _, err := s.TurnFlagOff(t.Context(), service.Write{}, "", key, nil); err != nil {
			t.Errorf("%s: %v", key, err)
		}
		if enabled(t, s, key, "") {
			t.Errorf("%s is on", key)
		}
	}
	if got := flag(t, s, "default", "bare").Rollouts; len(got) != 1 || got[0].Rank != 1 {
		t.Errorf("bare: got %+v, want one rollout", got)
	}
	if got := flag(t, s, "default", "manual").Rollouts; len(got) != 1 || got[0].Description != "not yet" {
		t.Errorf("manual: got %+v, want the rollout that it had", got)
	}
}

func TestSwitchErrors(t *testing.T) {
	s := newService(t)
	mustImport(t, s, switched, service.ImportCreate)
	before := exported(t, s, "default")
	old, negative, future := int64(1), int64(-1), int64(99)
	off := func(key string, since *int64) error {
		_, _, err := s.TurnFlagOff(t.Context(), service.Write{}, "", key, since)
		return err
	}
	on := func(key string, since *int64) error {
		_, _, err := s.TurnFlagOn(t.Context(), service.Write{}, "", key, since)
		return err
	}
	for _, test := range []struct {
		name string
		call func(key string, since *int64) error
		key  string
		at   *int64
		code guidon.Code
		want string
	}{
		{"no key", off, "", nil, guidon.InvalidArgument, "invalid field key: must not be empty"},
		{"no flag", off, "none", nil, guidon.NotFound, `flag "default/none" not found`},
		{"variant flag", off, "variant", nil, guidon.InvalidArgument, `flag "default/variant" is not a boolean flag: set enabled instead`},
		{"changed", off, "on", &old, guidon.FailedPrecondition, `flag "default/on" was created in revision 2`},
		{"changed, on", on, "on", &old, guidon.FailedPrecondition, `flag "default/on" was created in revision 2`},
		{"negative", off, "on", &negative, guidon.InvalidArgument, "invalid field unlessChangedSince: must not be negative"},
		{"future", off, "on", &future, guidon.FailedPrecondition, `flag "default/on": the namespace is at revision 2, before 99`},
		{"turned off by another rollout", on, "manual", nil, guidon.InvalidArgument, `flag "manual": its first rollout turns it off for everyone, but is not described as "Off for everyone"; change or delete that rollout`},
	} {
		if err := test.call(test.key, test.at); !errors.Is(err, test.code) || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %v: %s", test.name, err, test.code, test.want)
		}
	}
	if diff := cmp.Diff(before, exported(t, s, "default")); diff != "" {
		t.Errorf("failed calls have changed something (-before +after):\n%s", diff)
	}
}

// TestSwitchRanks: a rollout before all others keeps their order, and their ranks if that
// is possible.
func TestSwitchRanks(t *testing.T) {
	for _, test := range []struct{ ranks, want []int32 }{
		{nil, []int32{1}},
		{[]int32{1, 2}, []int32{0, 1, 2}},
		{[]int32{5, 5}, []int32{4, 5, 5}},
		{[]int32{0, 1, 7}, []int32{0, 1, 2, 7}},
		{[]int32{0, 3}, []int32{0, 1, 3}},
		{[]int32{0, 0, math.MaxInt32}, []int32{0, 1, 2, math.MaxInt32}},
		{[]int32{-3, math.MaxInt32}, []int32{0, 1, math.MaxInt32}},
	} {
		f := &guidon.Flag{Type: guidon.BooleanFlag}
		for _, rank := range test.ranks {
			f.Rollouts = append(f.Rollouts, &guidon.Rollout{Rank: rank, Segment: &guidon.RolloutSegment{}})
		}
		service.TurnOff(f, time.Time{})
		var got []int32
		for _, r := range f.Rollouts {
			got = append(got, r.Rank)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", test.ranks, diff)
		}
	}
}

// FuzzSwitch: a flag that is turned off is false for every entity and context. Turned on
// again, it is as before.
func FuzzSwitch(f *testing.F) {
	for seed := range uint64(100) {
		f.Add(seed, "user", "staff")
	}
	f.Fuzz(func(t *testing.T, seed uint64, entity, value string) {
		source := flagrand.New(seed)
		flags, segments := source.State(1)
		original := flags[0]
		original.Type = guidon.BooleanFlag
		for range seed % 8 {
			original = source.EditFlag(original)
		}
		changed := *original
		changed.Rollouts = slices.Clone(original.Rollouts)
		now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
		turned := service.TurnOff(&changed, now)
		contexts := []map[string]string{nil, {}}
		for _, g := range segments {
			for _, c := range g.Constraints {
				contexts = append(contexts, map[string]string{c.Property: value}, map[string]string{c.Property: c.Value})
			}
		}
		entities := []string{"", entity, value, "a", "b", "c", "d"}
		for _, context := range contexts {
			for _, e := range entities {
				got, err := evaluate(&changed, segments, e, context)
				if err != nil || got.Enabled || got.Reason != guidon.ReasonMatch || got.Bucketed {
					t.Fatalf("%q, %v: got %+v, %v; want false", e, context, got, err)
				}
			}
		}
		if !turned {
			return
		}
		if changedBack, err := service.TurnOn(&changed, now); err != nil || !changedBack {
			t.Fatalf("turn on: got %t, %v", changedBack, err)
		}
		if diff := cmp.Diff(original, &changed, cmpopts.IgnoreFields(guidon.Flag{}, "UpdatedAt"), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("turned on again (-want +got):\n%s", diff)
		}
	})
}

func evaluate(f *guidon.Flag, segments []*guidon.Segment, entity string, context map[string]string) (guidon.BooleanResult, error) {
	return guidon.NewSnapshot(&guidon.Namespace{Key: "n"}, guidon.Revision{Number: 1}, []*guidon.Flag{f}, segments).Boolean(f.Key, entity, context)
}
