package change_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// planned returns one line for each change and warning of a plan.
func planned(t *testing.T, base change.Objects, patch change.Patch, o change.PlanOptions) (p *change.Plan, lines []string) {
	t.Helper()
	p, err := change.NewPlan(base, patch, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range p.Changes {
		required := ""
		if c.Required {
			required = " (required)"
		}
		lines = append(lines, fmt.Sprintf("%s %s %s%s: %s", c.Action, c.Kind, c.Key, required, c.Summary()))
	}
	for _, w := range p.Warnings {
		lines = append(lines, fmt.Sprintf("%s: %s", w.Kind, w.Text))
	}
	return p, lines
}

func TestNewPlan(t *testing.T) {
	shares := flagtest.Shares{100}
	on := flagtest.BooleanFlag("on", true)
	off := flagtest.BooleanFlag("on", false)
	gone := flagtest.VariantFlag("gone", flagtest.Rule(shares, "s"))
	served := flagtest.VariantFlag("served", flagtest.Rule(shares, "s"))
	without := *served
	without.Variants, without.Rules = served.Variants[1:], nil
	defaults := flagtest.WithDefault(flagtest.VariantFlag("defaults"), "Z")
	other := *defaults
	other.Variants, other.DefaultVariantID = defaults.Variants[:7], ""
	disabled := flagtest.Disabled(flagtest.VariantFlag("defaults"))
	segment := flagtest.Segment("s", guidon.MatchAll, flagtest.Has("x"))
	wider := flagtest.Segment("s", guidon.MatchAny, flagtest.Has("x"))
	base := change.Objects{
		Namespace: &guidon.Namespace{Key: "shop", Name: "Shop"},
		Flags:     []*guidon.Flag{on, gone, served, defaults},
		Segments:  []*guidon.Segment{segment},
	}
	tests := []struct {
		name  string
		patch change.Patch
		o     change.PlanOptions
		want  []string
	}{
		{"nothing", change.Patch{}, change.PlanOptions{}, nil},
		{"namespace", change.Patch{Put: change.Objects{Namespace: &guidon.Namespace{Key: "shop", Name: "Store"}}}, change.PlanOptions{}, []string{
			`update namespace shop: name "Shop" → "Store"`,
		}},
		{"segment that comes along", change.Patch{Put: change.Objects{Segments: []*guidon.Segment{wider}, Flags: []*guidon.Flag{&without}}},
			change.PlanOptions{Required: map[string]bool{"s": true}}, []string{
				"update segment s (required): constraints that must match all → any",
				`update flag served: variant "A" removed; rule 1 removed (segments s, 100% "A")`,
				`segment-shared: segment "s" changes, and other flags use it: gone`,
				`variant-served: flag "served": variant "A" disappears, which rule 1 serves`,
			}},
		{"new segment for everyone", change.Patch{Put: change.Objects{Segments: []*guidon.Segment{flagtest.Everyone()}}}, change.PlanOptions{}, []string{
			"create segment everyone: created",
			`matches-everyone: segment "everyone" has no constraints, so it matches everyone`,
		}},
		{"flags that go off", change.Patch{Put: change.Objects{Flags: []*guidon.Flag{off}}, Delete: change.Keys{Flags: []string{"gone"}}}, change.PlanOptions{}, []string{
			"update flag on: default value on → off",
			"delete flag gone: deleted",
			`goes-off: flag "on" goes off by default`,
			`goes-off: flag "gone" is on, and is deleted`,
		}},
		{"default variant", change.Patch{Put: change.Objects{Flags: []*guidon.Flag{&other}}}, change.PlanOptions{}, []string{
			`update flag defaults: default variant "Z" → nothing; variant "Z" removed`,
			`variant-served: flag "defaults": variant "Z" disappears, which is the default variant`,
		}},
		{"a boolean flag that is deleted", change.Patch{Delete: change.Keys{Flags: []string{"on"}}}, change.PlanOptions{}, []string{
			"delete flag on: deleted",
			`goes-off: flag "on" is on by default, and is deleted`,
		}},
		{"a variant flag that goes off", change.Patch{Put: change.Objects{Flags: []*guidon.Flag{disabled}}}, change.PlanOptions{}, []string{
			"update flag defaults: state on → off; default variant \"Z\" → nothing",
			`goes-off: flag "defaults" goes off`,
		}},
		{"deletions of what is not there", change.Patch{Delete: change.Keys{Flags: []string{"x"}, Segments: []string{"y"}}}, change.PlanOptions{}, nil},
	}
	digests := map[string]string{}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, got := planned(t, base, tt.patch, tt.o)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if other := digests[p.Digest]; other != "" && len(got) > 0 {
				t.Errorf("the digest is that of %s", other)
			}
			digests[p.Digest] = tt.name
		})
	}
	if _, err := change.NewPlan(base, change.Patch{Put: change.Objects{Flags: []*guidon.Flag{on, off}}}, change.PlanOptions{}); err == nil {
		t.Error("a patch that contradicts itself is planned")
	}
}

// TestPlanDigest: the digest depends on everything that a plan states, and on nothing else.
func TestPlanDigest(t *testing.T) {
	s := flagtest.NewSource(7)
	for range 200 {
		flag, segment := s.Flag("f"), s.Segment("s")
		edited, other := s.EditFlag(flag), s.EditFlag(flag)
		plan := func(before, after *guidon.Flag, more ...*guidon.Flag) *change.Plan {
			base := change.Objects{Flags: append([]*guidon.Flag{before}, more...), Segments: []*guidon.Segment{segment}}
			p, _ := planned(t, base, change.Patch{Put: change.Objects{Flags: []*guidon.Flag{after}}}, change.PlanOptions{})
			return p
		}
		p := plan(flag, edited)
		if again := plan(flag, edited, s.Flag("unrelated")); again.Digest != p.Digest {
			t.Fatal("the digest depends on another flag")
		}
		later := *edited
		later.CreatedAt, later.UpdatedAt = s.Namespace("x").CreatedAt, s.Namespace("x").CreatedAt
		if again := plan(flag, &later); again.Digest != p.Digest {
			t.Fatal("the digest depends on times")
		}
		if different := len(change.Compare(edited, other)) > 0; different && plan(flag, other).Digest == p.Digest {
			t.Fatalf("two outcomes have one digest: %s", change.Summarize(change.Compare(edited, other)))
		}
		if different := len(change.Compare(flag, other)) > 0; different && plan(other, edited).Digest == p.Digest {
			t.Fatalf("two bases have one digest: %s", change.Summarize(change.Compare(flag, other)))
		}
		deletion := func(f *guidon.Flag) *change.Plan {
			p, _ := planned(t, change.Objects{Flags: []*guidon.Flag{f}}, change.Patch{Delete: change.Keys{Flags: []string{"f"}}}, change.PlanOptions{})
			return p
		}
		if different := len(change.Compare(flag, other)) > 0; different && deletion(flag).Digest == deletion(other).Digest {
			t.Fatalf("two deletions have one digest: %s", change.Summarize(change.Compare(flag, other)))
		}
		options := change.PlanOptions{Unchanged: 1}
		if q, _ := planned(t, change.Objects{}, change.Patch{}, options); q.Digest == p.Digest {
			t.Fatal("a plan without changes has the digest of one with changes")
		}
	}
	var seen []string
	for _, o := range []change.PlanOptions{{}, {Unchanged: 1}, {Skipped: []string{"flag/a"}}} {
		p, _ := planned(t, change.Objects{}, change.Patch{}, o)
		for _, digest := range seen {
			if digest == p.Digest {
				t.Errorf("%+v does not change the digest", o)
			}
		}
		seen = append(seen, p.Digest)
	}
}

// TestSharedSegmentUsers: a warning names the flags outside of the plan, however often they
// use the segment, and cuts a long list only in words.
func TestSharedSegmentUsers(t *testing.T) {
	base := change.Objects{Segments: []*guidon.Segment{flagtest.Segment("s", guidon.MatchAll, flagtest.Has("x"))}}
	for i := range 7 {
		base.Flags = append(base.Flags, flagtest.BooleanFlag(fmt.Sprint("f", i), false,
			flagtest.SegmentRollout(true, guidon.OrSegments, "s"), flagtest.SegmentRollout(true, guidon.OrSegments, "t", "s")))
	}
	after := flagtest.Segment("s", guidon.MatchAny, flagtest.Has("x"))
	p, lines := planned(t, base, change.Patch{Put: change.Objects{Segments: []*guidon.Segment{after}}}, change.PlanOptions{})
	want := `segment-shared: segment "s" changes, and other flags use it: f0, f1, f2, f3, f4 and 2 more`
	if got := lines[len(lines)-1]; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := len(p.Warnings[0].Flags); got != 7 {
		t.Errorf("got %d flags, want 7", got)
	}
}
