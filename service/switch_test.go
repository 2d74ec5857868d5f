package service_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/service"
)

// switched has a boolean flag that is true for everyone in three ways, one that never was on,
// and one that somebody has turned off without the service.
const switched = `
namespace: {key: default}
flags:
- {key: "on", name: "On", type: BOOLEAN_FLAG_TYPE, enabled: true, rollouts: [
    {description: "staff", segment: {key: staff, value: true}}, {threshold: {percentage: 50, value: true}}]}
- {key: bare, name: Bare, type: BOOLEAN_FLAG_TYPE}
- {key: manual, name: Manual, type: BOOLEAN_FLAG_TYPE, enabled: true, rollouts: [
    {description: "not yet", threshold: {percentage: 100, value: false}}]}
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
	want := &service.WriteResult{Namespace: "default", Revision: before + 1, Changes: []*service.ObjectChange{{Kind: "flag", Key: "on", Action: "update"}}}
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
	if _, _, err := s.UpdateFlag(t.Context(), service.Write{}, "", guidon.Flag{Key: "on", Name: "Renamed", Enabled: true}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.CreateRollout(t.Context(), service.Write{}, "", service.RolloutInput{
		FlagKey: "on", Rollout: guidon.Rollout{Rank: 3, Threshold: &guidon.RolloutThreshold{Percentage: 100, Value: true}},
	}); err != nil {
		t.Fatal(err)
	}
	now := revision(t, s, "default")
	result, at, err = s.TurnFlagOff(t.Context(), service.Write{}, "", "on", nil)
	if err != nil || at != now || len(result.Changes) != 0 || result.Unchanged != 1 || enabled(t, s, "on", "ann") {
		t.Errorf("again: got %+v, revision %d, %v; want nothing changed at %d", result, at, err, now)
	}

	if _, _, err := s.TurnFlagOn(t.Context(), service.Write{}, "", "on", false, nil); err != nil {
		t.Fatal(err)
	}
	restored := flag(t, s, "default", "on")
	if diff := cmp.Diff(original.Rollouts, restored.Rollouts[:2]); diff != "" || len(restored.Rollouts) != 3 || restored.Name != "Renamed" {
		t.Errorf("got %d rollouts of %q, want 3 (-want +got):\n%s", len(restored.Rollouts), restored.Name, diff)
	}
	if !enabled(t, s, "on", "ann") {
		t.Error("the flag is still off")
	}
	if result, _, err := s.TurnFlagOn(t.Context(), service.Write{}, "", "on", false, nil); err != nil || len(result.Changes) != 0 {
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
		_, _, err := s.TurnFlagOn(t.Context(), service.Write{}, "", key, false, since)
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
		{"changed", off, "on", &old, guidon.FailedPrecondition, `flag "default/on" was created in revision 2`},
		{"changed, on", on, "on", &old, guidon.FailedPrecondition, `flag "default/on" was created in revision 2`},
		{"negative", off, "on", &negative, guidon.InvalidArgument, "invalid field unlessChangedSince: must not be negative"},
		{"future", off, "on", &future, guidon.FailedPrecondition, `flag "default/on": the namespace is at revision 2, before 99`},
		{"turned off by another rule", on, "manual", nil, guidon.InvalidArgument, `flag "manual" is not turned on: its rules make it false for everybody; change or delete them`},
		{"never on", on, "bare", nil, guidon.InvalidArgument, `flag "bare" is not turned on: it has not been turned off, so there is nothing to restore; to enable it for everyone, set everyone`},
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

// TestSwitchStates: what turning a flag off, on, and on for everyone does to it, by its state.
func TestSwitchStates(t *testing.T) {
	const refused, blocked = "set everyone", "change or delete them"
	for _, test := range []struct {
		name, flag   string
		off          bool   // turning it off changes it
		on, everyone string // what turning it on gives: a state, or the end of the error
		again        string // what turning it on gives after it was turned off
	}{
		{"true", `type: BOOLEAN_FLAG_TYPE, enabled: true`, true, "on", "on", "on"},
		{"false", `type: BOOLEAN_FLAG_TYPE`, true, refused, "on", "off"},
		{"at 0 %", `type: BOOLEAN_FLAG_TYPE, rollouts: [{threshold: {percentage: 0, value: true}}]`, true, refused, "on", "off"},
		{"at 10 %", `type: BOOLEAN_FLAG_TYPE, rollouts: [{threshold: {percentage: 10, value: true}}]`, true, "partly", "on", "partly"},
		{"a segment", `type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {key: staff, value: true}}]`, true, "partly", "on", "partly"},
		{"a segment that matches nobody", `type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {key: nobody, value: true}}]`, true, refused, "on", "off"},
		{"several at 0 %", `type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {key: staff, value: false}}, {threshold: {percentage: 0, value: true}}]`, true, refused, "partly", "off"},
		{"all but a segment", `type: BOOLEAN_FLAG_TYPE, enabled: true, rollouts: [{segment: {key: staff, value: false}}]`, true, "partly", "partly", "partly"},
		{"off by hand", `type: BOOLEAN_FLAG_TYPE, enabled: true, rollouts: [{threshold: {percentage: 100, value: false}}]`, false, blocked, blocked, blocked},
		{"off by a segment", `type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {key: all, value: false}}]`, true, blocked, blocked, "off"},
		{"turned off", `type: BOOLEAN_FLAG_TYPE, rollouts: [{description: Off for everyone, threshold: {percentage: 100, value: false}}, {threshold: {percentage: 10, value: true}}]`, false, "partly", "partly", "partly"},
		{"turned off at 0 %", `type: BOOLEAN_FLAG_TYPE, rollouts: [{description: Off for everyone, threshold: {percentage: 100, value: false}}, {threshold: {percentage: 0, value: true}}]`, false, "off", "off", "off"},
		{"no longer turned off", `type: BOOLEAN_FLAG_TYPE, rollouts: [{description: Off for everyone, threshold: {percentage: 50, value: false}}]`, true, refused, "partly", "off"},
		{"enabled", `enabled: true`, true, "on", "on", "on"},
		{"enabled, with metadata", `enabled: true, metadata: {z: 1.50, a: {b: "}"}}`, true, "on", "on", "on"},
		{"not enabled", `enabled: false`, false, refused, "on", refused},
		{"not enabled, with metadata", `enabled: false, metadata: {guidon.turnedOff: false}`, false, refused, "on", refused},
		{"variants turned off", `enabled: false, metadata: {guidon.turnedOff: true, a: 1}`, false, "on", "on", "on"},
		{"enabled by hand since", `enabled: true, metadata: {guidon.turnedOff: true}`, true, "on", "on", "on"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newService(t)
			mustImport(t, s, "flags: [{key: f, name: F, "+test.flag+"}]\n"+`
segments:
- {key: all, name: All}
- {key: staff, name: Staff, constraints: [{type: STRING_COMPARISON_TYPE, property: role, operator: eq, value: staff}]}
- {key: nobody, name: Nobody, match_type: ALL_MATCH_TYPE, constraints: [{type: STRING_COMPARISON_TYPE, property: role, operator: eq, value: a}, {type: STRING_COMPARISON_TYPE, property: role, operator: eq, value: b}]}
`, service.ImportCreate)
			original := flag(t, s, "default", "f")
			reset := func() {
				t.Helper()
				if _, _, err := s.ReplaceFlag(t.Context(), service.Write{}, "", "f", service.NewDocumentFlag(original), nil); err != nil {
					t.Fatal(err)
				}
			}
			if got := turnedOn(t, s, false); got != test.on {
				t.Errorf("on: got %s, want %s", got, test.on)
			}
			reset()
			if got := turnedOn(t, s, true); got != test.everyone {
				t.Errorf("on for everyone: got %s, want %s", got, test.everyone)
			}
			reset()
			before := flag(t, s, "default", "f")
			result, _, err := s.TurnFlagOff(t.Context(), service.Write{}, "", "f", nil)
			if err != nil || len(result.Changes) > 0 != test.off {
				t.Fatalf("off: got %+v, %v; want a change: %t", result, err, test.off)
			}
			if got := state(t, s); got != "off" {
				t.Errorf("off: got the state %s", got)
			}
			if got := turnedOn(t, s, false); got != test.again {
				t.Errorf("off and on: got %s, want %s", got, test.again)
			}
			if test.off {
				before.UpdatedAt = time.Time{}
				after := flag(t, s, "default", "f")
				after.UpdatedAt = time.Time{}
				if test.name == "enabled by hand since" {
					before.Metadata = nil
				}
				if diff := cmp.Diff(before, after); diff != "" {
					t.Errorf("off and on (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestSwitchTravels: a flag that was turned off, exported and imported elsewhere is turned on
// there to what it was.
func TestSwitchTravels(t *testing.T) {
	s := newService(t)
	const text = `
namespace: {key: %s, name: Shop}
flags:
- {key: ramp, name: Ramp, type: BOOLEAN_FLAG_TYPE, rollouts: [{description: first, threshold: {percentage: 0, value: true}}]}
- {key: variant, name: Variant, enabled: true, metadata: {owner: ada}, variants: [{key: a}], rules: [{segment: all, distributions: [{variant: a, rollout: 100}]}]}
segments: [{key: all, name: All}]
`
	mustImport(t, s, fmt.Sprintf(text, "here"), service.ImportCreate)
	keys := []string{"ramp", "variant"}
	for _, key := range keys {
		if _, _, err := s.TurnFlagOff(t.Context(), service.Write{}, "here", key, nil); err != nil {
			t.Fatal(err)
		}
	}
	mustImport(t, s, strings.ReplaceAll(exported(t, s, "here"), "key: here", "key: there"), service.ImportCreate)
	for _, key := range keys {
		if _, _, err := s.TurnFlagOn(t.Context(), service.Write{}, "there", key, false, nil); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	other := newService(t)
	mustImport(t, other, fmt.Sprintf(text, "there"), service.ImportCreate)
	if diff := cmp.Diff(exported(t, other, "there"), exported(t, s, "there")); diff != "" {
		t.Errorf("turned on elsewhere (-want +got):\n%s", diff)
	}
}

// turnedOn turns the flag on, and returns its state then, or the end of the error.
func turnedOn(t *testing.T, s *service.Service, everyone bool) string {
	t.Helper()
	if _, _, err := s.TurnFlagOn(t.Context(), service.Write{}, "", "f", everyone, nil); err != nil {
		return err.Error()[strings.LastIndexAny(err.Error(), ",;")+2:]
	}
	return state(t, s)
}

func state(t *testing.T, s *service.Service) string {
	t.Helper()
	return map[analysis.FlagState]string{analysis.OnState: "on", analysis.OffState: "off", analysis.PartlyState: "partly"}[analysis.Summarize(view(t, s, "default").Snapshot.Compiled("f")).State]
}

// FuzzSwitch: a flag that is turned off is off for every entity and context. Turned on again,
// it is as before. To turn on a flag that was not turned off gives nothing to anybody, unless
// it is for everyone.
func FuzzSwitch(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed, "user", "staff")
	}
	f.Fuzz(func(t *testing.T, seed uint64, entity, value string) {
		source := flagtest.NewSource(seed)
		flags, segments := source.State(1)
		original := flags[0]
		for range seed % 8 {
			original = source.EditFlag(original)
		}
		segment := func(key string) (*guidon.Segment, error) {
			i := slices.IndexFunc(segments, func(g *guidon.Segment) bool { return g.Key == key })
			return segments[i], nil
		}
		contexts := []map[string]string{nil, {}}
		for _, g := range segments {
			for _, c := range g.Constraints {
				contexts = append(contexts, map[string]string{c.Property: value}, map[string]string{c.Property: c.Value})
			}
		}
		all := func(f *guidon.Flag) (results []string) {
			for _, context := range contexts {
				for _, e := range []string{"", entity, value, "a", "b", "c", "d"} {
					results = append(results, outcome(f, segments, e, context))
				}
			}
			return results
		}
		now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
		wasOff, before := service.TurnedOff(original), all(original)

		off, kept := *original, flagtest.Copy(original)
		turned := service.TurnOff(&off, now)
		for _, got := range all(&off) {
			if got != outcome(&off, nil, "", nil) || strings.HasPrefix(got, "true") || strings.HasPrefix(got, "match") {
				t.Fatalf("turned off: got %s", got)
			}
		}
		if turned && wasOff {
			t.Error("turned off twice")
		}
		again := off
		_, err := service.TurnOn(&again, false, now, segment)
		switch {
		case turned && err != nil:
			t.Fatalf("turned on again: %v", err)
		case turned:
			if diff := cmp.Diff(original, &again, cmpopts.IgnoreFields(guidon.Flag{}, "UpdatedAt"), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("turned off and on (-want +got):\n%s", diff)
			}
		case !wasOff && !slices.Equal(all(&again), before):
			t.Errorf("turned off without effect, and on: got %q, %v; want %q", all(&again), err, before)
		}
		if diff := cmp.Diff(kept, original, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("the flag itself has changed (-want +got):\n%s", diff)
		}

		if on := *original; !wasOff {
			if _, err := service.TurnOn(&on, false, now, segment); !slices.Equal(all(&on), before) {
				t.Errorf("turned on: got %q, %v; want %q", all(&on), err, before)
			}
		}
	})
}

// outcome returns what the entity gets from the flag.
func outcome(f *guidon.Flag, segments []*guidon.Segment, entity string, context map[string]string) string {
	if f.Type == guidon.BooleanFlag {
		result, err := evaluate(f, segments, entity, context)
		return fmt.Sprint(result.Enabled, " ", err)
	}
	result, err := snapshotOf(f, segments).Variant(f.Key, entity, context)
	if result.Match {
		return fmt.Sprint("match ", result.VariantKey, err)
	}
	return fmt.Sprint("default ", result.VariantKey, err)
}

func snapshotOf(f *guidon.Flag, segments []*guidon.Segment) *guidon.Snapshot {
	return guidon.NewSnapshot(&guidon.Namespace{Key: "n"}, guidon.Revision{Number: 1}, []*guidon.Flag{f}, segments)
}

func evaluate(f *guidon.Flag, segments []*guidon.Segment, entity string, context map[string]string) (guidon.BooleanResult, error) {
	return snapshotOf(f, segments).Boolean(f.Key, entity, context)
}
