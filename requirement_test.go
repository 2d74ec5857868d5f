package guidon_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/flagtest"
)

func requires(f *guidon.Flag, keys ...string) *guidon.Flag {
	for _, key := range keys {
		f.Requires = append(f.Requires, guidon.Requirement{FlagKey: key})
	}
	return f
}

func named(key string, f *guidon.Flag) *guidon.Flag {
	f.Key = key
	return f
}

// TestRequires: a flag whose requirement is not met is off, and a rule is passed over.
func TestRequires(t *testing.T) {
	off, on := flagtest.BooleanFlag("off", false), flagtest.BooleanFlag("on", true)
	price := named("price", flagtest.VariantFlag("v", flagtest.Rule(flagtest.Shares{100}, "everyone")))
	lonely := requires(flagtest.BooleanFlag("lonely", true), "lost") // off, because nothing answers
	half := flagtest.BooleanFlag("half", false, flagtest.Threshold(50, true))
	for _, tt := range []struct {
		name string
		all  []guidon.Requirement
		want string // the unmet flag, or "" if the flag is on
	}{
		{"none", nil, ""},
		{"on", []guidon.Requirement{{FlagKey: "on"}}, ""},
		{"off", []guidon.Requirement{{FlagKey: "off"}}, "off"},
		{"stated", []guidon.Requirement{{FlagKey: "on", Answers: []string{"true"}}}, ""},
		{"must be off", []guidon.Requirement{{FlagKey: "off", Answers: []string{"false"}}}, ""},
		{"must be off, and is on", []guidon.Requirement{{FlagKey: "on", Answers: []string{"false"}}}, "on"},
		{"off by its own requirement", []guidon.Requirement{{FlagKey: "lonely", Answers: []string{"false"}}}, ""},
		{"one of two variants", []guidon.Requirement{{FlagKey: "price", Answers: []string{"b", price.Variants[0].Key}}}, ""},
		{"another variant", []guidon.Requirement{{FlagKey: "price", Answers: []string{"b"}}}, "price"},
		{"a variant must be true", []guidon.Requirement{{FlagKey: "price"}}, "price"},
		{"the second one", []guidon.Requirement{{FlagKey: "on"}, {FlagKey: "off"}, {FlagKey: "lost"}}, "off"},
		{"no such flag", []guidon.Requirement{{FlagKey: "lost", Answers: []string{"false"}}}, "lost"},
	} {
		boolean := flagtest.BooleanFlag("boolean", true)
		variant := named("variant", flagtest.WithDefault(flagtest.VariantFlag("v", flagtest.Rule(flagtest.Shares{100}, "everyone")), "B"))
		boolean.Requires, variant.Requires = tt.all, tt.all
		rule := flagtest.BooleanFlag("rule", false, &guidon.Rollout{
			Segment: &guidon.RolloutSegment{Value: true}, Conditions: guidon.Conditions{Everyone: true, Requires: tt.all}.OrNil(),
		})
		s := guidon.NewSnapshot(&guidon.Namespace{Key: "n"}, guidon.Revision{}, []*guidon.Flag{variant, rule, boolean, off, on, price, lonely, half}, []*guidon.Segment{flagtest.Everyone()})
		got, err := s.Boolean("boolean", "u", nil)
		if want := (guidon.BooleanResult{Enabled: tt.want == "", Reason: guidon.ReasonDefault, Unmet: tt.want}); err != nil || !cmp.Equal(want, got) {
			t.Errorf("%s: boolean flag: got %+v, %v, want %+v", tt.name, got, err, want)
		}
		v, err := s.Variant("variant", "u", nil)
		if err != nil || v.Unmet != tt.want || (v.Reason == guidon.ReasonFlagDisabled) != (tt.want != "") || tt.want != "" && v.VariantKey != "B" {
			t.Errorf("%s: variant flag: got %+v, %v", tt.name, v, err)
		}
		if got, err := s.Boolean("rule", "u", nil); err != nil || got.Enabled != (tt.want == "") || got.Unmet != "" {
			t.Errorf("%s: rule: got %+v, %v", tt.name, got, err)
		}
	}
}

// TestRequiresErrors: what fails in a required flag fails the flag, and it needs the entity's id if
// the required one does.
func TestRequiresErrors(t *testing.T) {
	unknown := flagtest.Segment("unknown", guidon.MatchAll, &guidon.Constraint{Type: 99, Property: "p", Operator: "eq"})
	half := flagtest.BooleanFlag("half", false, flagtest.Threshold(50, true))
	broken := flagtest.BooleanFlag("broken", false, &guidon.Rollout{Segment: &guidon.RolloutSegment{SegmentKeys: []string{"unknown"}, Value: true}})
	s := guidon.NewSnapshot(&guidon.Namespace{Key: "n"}, guidon.Revision{}, []*guidon.Flag{
		half, broken, requires(flagtest.BooleanFlag("a", true), "half"), requires(flagtest.BooleanFlag("b", true), "a"),
		requires(flagtest.BooleanFlag("c", true), "broken"),
	}, []*guidon.Segment{unknown})
	for _, key := range []string{"a", "b"} {
		if got, err := s.Boolean(key, "", nil); err != nil || !got.Bucketed {
			t.Errorf("%s: got %+v, %v, want that the id was hashed", key, got, err)
		}
	}
	if got, err := s.Boolean("c", "u", nil); guidon.CodeOf(err) != guidon.InvalidArgument {
		t.Errorf("c: got %+v, %v", got, err)
	}
}

// TestRequiresAfterChanges: a snapshot after changes, or at another time, evaluates required flags as
// they are then. Cycles, which only damaged data have, are never met.
func TestRequiresAfterChanges(t *testing.T) {
	begins := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	a := func(on bool) *guidon.Flag { return flagtest.BooleanFlag("a", on) }
	later := flagtest.BooleanFlag("a", false, &guidon.Rollout{
		Threshold: &guidon.RolloutThreshold{Percentage: 100, Value: true}, Conditions: guidon.Conditions{From: begins}.OrNil(),
	})
	b, c := requires(flagtest.BooleanFlag("b", true), "a"), requires(flagtest.BooleanFlag("c", true), "b")
	s := guidon.NewSnapshot(&guidon.Namespace{Key: "n"}, guidon.Revision{}, []*guidon.Flag{c, b, a(true)}, nil)
	check := func(name string, s *guidon.Snapshot, want bool) {
		t.Helper()
		for _, key := range []string{"b", "c"} {
			if got, err := s.Boolean(key, "u", nil); err != nil || got.Enabled != want {
				t.Errorf("%s: %s: got %+v, %v, want %t", name, key, got, err, want)
			}
		}
	}
	check("at first", s, true)
	off := s.Apply(guidon.SnapshotDelta{Flags: []*guidon.Flag{a(false)}})
	check("off", off, false)
	check("the one before", s, true)
	check("on again", off.Apply(guidon.SnapshotDelta{Flags: []*guidon.Flag{a(true)}}), true)
	check("deleted", s.Apply(guidon.SnapshotDelta{DeletedFlags: []string{"a"}}), false)
	check("created again", s.Apply(guidon.SnapshotDelta{DeletedFlags: []string{"a"}}, guidon.SnapshotDelta{Flags: []*guidon.Flag{a(true)}}), true)
	check("without requirements", off.Apply(guidon.SnapshotDelta{Flags: []*guidon.Flag{flagtest.BooleanFlag("b", true), flagtest.BooleanFlag("c", true)}}), true)
	timed := s.Apply(guidon.SnapshotDelta{Flags: []*guidon.Flag{later}})
	check("before", timed.At(begins.Add(-1)), false)
	check("from then on", timed.At(begins), true)
	check("a cycle", s.Apply(guidon.SnapshotDelta{Flags: []*guidon.Flag{requires(a(true), "c")}}), false)
	check("no longer a cycle", s.Apply(guidon.SnapshotDelta{Flags: []*guidon.Flag{requires(a(true), "c")}}, guidon.SnapshotDelta{Flags: []*guidon.Flag{a(true)}}), true)
}
