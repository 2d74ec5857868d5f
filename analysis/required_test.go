package analysis_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// requiring returns the flag with requirements of itself.
func requiring(f *guidon.Flag, all ...guidon.Requirement) *guidon.Flag {
	f.Requires = all
	return f
}

// ruleRequiring returns a rollout for everyone that requires others.
func ruleRequiring(value bool, all ...guidon.Requirement) *guidon.Rollout {
	return &guidon.Rollout{
		Segment: &guidon.RolloutSegment{Value: value}, Conditions: &guidon.Conditions{Everyone: true, Requires: all},
	}
}

func snapshotOf(flags ...*guidon.Flag) *guidon.Snapshot {
	segments := []*guidon.Segment{
		flagtest.Everyone(), flagtest.Segment("staff", guidon.MatchAll, flagtest.Has("staff")),
		flagtest.Segment("unknown", guidon.MatchAll, constraint(9, "p", "eq", "a")),
	}
	return guidon.NewSnapshot(&guidon.Namespace{Key: "n"}, guidon.Revision{}, flags, segments)
}

var requiresAPI = guidon.Requirement{FlagKey: "api"}

// TestDependents: the effect of a change has that on the flags that require the changed one.
func TestDependents(t *testing.T) {
	staff := func() *guidon.Flag {
		return flagtest.BooleanFlag("api", false, flagtest.SegmentRollout(true, guidon.OrSegments, "staff"))
	}
	half := flagtest.BooleanFlag("api", false, flagtest.Threshold(50, true))
	for _, tt := range []struct {
		name          string
		before, after *guidon.Flag // named api
		dependent     *guidon.Flag // named invoices
		want          []string
	}{
		{"turned off", flagtest.BooleanFlag("api", true), flagtest.BooleanFlag("api", false), requiring(flagtest.BooleanFlag("invoices", true), requiresAPI),
			[]string{"invoices: everyone gets Off"}},
		{"turned on", flagtest.BooleanFlag("api", false), flagtest.BooleanFlag("api", true), requiring(flagtest.BooleanFlag("invoices", true), requiresAPI),
			[]string{"invoices: everyone gets On"}},
		{"off anyway", flagtest.BooleanFlag("api", true), flagtest.BooleanFlag("api", false), requiring(flagtest.BooleanFlag("invoices", false), requiresAPI), nil},
		{"must be off", flagtest.BooleanFlag("api", true), flagtest.BooleanFlag("api", false),
			requiring(flagtest.BooleanFlag("invoices", true), guidon.Requirement{FlagKey: "api", Answers: []string{"false"}}), []string{"invoices: everyone gets On"}},
		{"either answer", flagtest.BooleanFlag("api", true), flagtest.BooleanFlag("api", false),
			requiring(flagtest.BooleanFlag("invoices", true), guidon.Requirement{FlagKey: "api", Answers: []string{"true", "false"}}), nil},
		{"on for some", staff(), flagtest.BooleanFlag("api", false), requiring(flagtest.BooleanFlag("invoices", true), requiresAPI),
			[]string{"invoices: everyone gets Off"}},
		{"off for some", flagtest.BooleanFlag("api", true), staff(), requiring(flagtest.BooleanFlag("invoices", true), requiresAPI),
			[]string{"invoices: all those for whom api is not as required go from on to off"}},
		{"for more", staff(), flagtest.BooleanFlag("api", true), requiring(flagtest.BooleanFlag("invoices", true), requiresAPI),
			[]string{"invoices: everyone gets On"}},
		{"a share", flagtest.BooleanFlag("api", true), half, requiring(flagtest.BooleanFlag("invoices", true), requiresAPI),
			[]string{"invoices: all those for whom api is not as required go from on to off"}},
		{"of a rule", flagtest.BooleanFlag("api", true), staff(), flagtest.BooleanFlag("invoices", false, ruleRequiring(true, requiresAPI)),
			[]string{"invoices: all those who no longer match rule 1 go from on to off"}},
		{"another rule", flagtest.BooleanFlag("api", false), flagtest.BooleanFlag("api", true),
			flagtest.BooleanFlag("invoices", false, ruleRequiring(true, guidon.Requirement{FlagKey: "api", Answers: []string{"false"}}), flagtest.Threshold(20, true)),
			[]string{"invoices: 80% of all entities go from on to off"}},
		{"a name", staff(), func() *guidon.Flag { f := staff(); f.Name = "API"; return f }(), requiring(flagtest.BooleanFlag("invoices", true), requiresAPI), nil},
		{"an error", staff(), flagtest.BooleanFlag("api", false, flagtest.SegmentRollout(true, guidon.OrSegments, "unknown")), requiring(flagtest.BooleanFlag("invoices", true), requiresAPI),
			[]string{
				"invoices: all those for whom api was not as required go from off to an error", "invoices: all the others go from on to an error",
				"late: all those for whom invoices was not as required go from off to an error", "late: all the others go from off to an error",
			}},
		{"deleted", flagtest.BooleanFlag("api", true), nil, requiring(flagtest.BooleanFlag("invoices", true), requiresAPI), []string{"invoices: everyone gets Off"}},
	} {
		indirect := requiring(flagtest.BooleanFlag("late", false), guidon.Requirement{FlagKey: "invoices"}) // off anyway
		before := snapshotOf(tt.before, tt.dependent, indirect)
		delta := guidon.SnapshotDelta{DeletedFlags: []string{"api"}}
		if tt.after != nil {
			delta = guidon.SnapshotDelta{Flags: []*guidon.Flag{tt.after}}
		}
		var got []string
		for _, d := range effectOf(before, before.Apply(delta), "api").Dependents {
			for _, line := range describe(d.Effect) {
				got = append(got, d.FlagKey+": "+line)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestRequiredChanges: an effect holds if what a flag requires changes with it, by another flag, by a
// segment or at a time.
func TestRequiredChanges(t *testing.T) {
	staff := flagtest.BooleanFlag("api", false, flagtest.SegmentRollout(true, guidon.OrSegments, "staff"))
	invoices := requiring(flagtest.BooleanFlag("invoices", true), requiresAPI)
	late := requiring(flagtest.BooleanFlag("late", true), guidon.Requirement{FlagKey: "invoices"})
	ruled := flagtest.BooleanFlag("ruled", false, ruleRequiring(true, requiresAPI))
	last := requiring(flagtest.BooleanFlag("last", true), guidon.Requirement{FlagKey: "ruled"})
	before := snapshotOf(staff, invoices, late, ruled, last)
	everybody := before.Apply(guidon.SnapshotDelta{Segments: []*guidon.Segment{flagtest.Segment("staff", guidon.MatchAll)}})
	indirect := before.Apply(guidon.SnapshotDelta{Flags: []*guidon.Flag{flagtest.BooleanFlag("api", true)}})
	vip := before.Apply(guidon.SnapshotDelta{Segments: []*guidon.Segment{flagtest.Segment("staff", guidon.MatchAll, flagtest.Has("vip"))}})
	moved := func(key string) []string {
		return []string{"all those for whom " + key + " was not as required go from off to on", "all those for whom " + key + " is not as required go from on to off"}
	}
	both := before.Apply(guidon.SnapshotDelta{Flags: []*guidon.Flag{flagtest.BooleanFlag("api", true), requiring(flagtest.BooleanFlag("invoices", false), requiresAPI)}})
	for _, tt := range []struct {
		name, flag string
		after      *guidon.Snapshot
		want       []string
	}{
		{"a segment", "invoices", everybody, []string{"everyone gets On"}},
		{"another segment", "invoices", vip, moved("api")},
		{"another segment, indirectly", "late", vip, moved("invoices")},
		{"another segment, by a rule", "last", vip, moved("ruled")},
		{"a segment, indirectly", "late", everybody, []string{"everyone gets On"}},
		{"another flag", "invoices", indirect, []string{"everyone gets On"}},
		{"another flag, indirectly", "late", indirect, []string{"everyone gets On"}},
		{"the flag too", "invoices", both, []string{"everyone gets Off"}},
	} {
		if diff := cmp.Diff(tt.want, describe(effectOf(before, tt.after, tt.flag))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	for _, d := range effectOf(before, both, "api").Dependents {
		if d.FlagKey == "invoices" {
			t.Error("a flag that changes itself is a dependent")
		}
	}

	begins := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	tomorrow := &guidon.Rollout{Threshold: &guidon.RolloutThreshold{Percentage: 100, Value: true}, Conditions: &guidon.Conditions{From: begins}}
	timed := snapshotOf(flagtest.BooleanFlag("api", false, tomorrow), flagtest.BooleanFlag("invoices", true))
	e := effectOf(timed, timed.Apply(guidon.SnapshotDelta{Flags: []*guidon.Flag{invoices}}), "invoices")
	if len(e.Later) != 1 || !e.Later[0].At.Equal(begins) {
		t.Errorf("got %+v, want another effect once api is on", e.Later)
	}
	if r := reachOf(snapshotOf(flagtest.BooleanFlag("api", false, tomorrow), requiring(flagtest.VariantFlag("f", flagtest.Rule(flagtest.Shares{100}, "everyone")), requiresAPI)), "f"); r.Unserved != nil {
		t.Errorf("got %q that nobody can get, although api comes on", r.Unserved)
	}
}

// TestRequiredShares: buckets that decide about a required flag are not counted as if they were
// independent of it.
func TestRequiredShares(t *testing.T) {
	share := func(percentage float32) *guidon.Rollout {
		r := flagtest.Threshold(percentage, true)
		r.Threshold.Split = &guidon.Split{Seed: "layer"}
		return r
	}
	flag := func(r *guidon.Rollout) *guidon.Flag {
		return requiring(flagtest.BooleanFlag("f", false, r), requiresAPI)
	}
	before := snapshotOf(flagtest.BooleanFlag("api", false, share(50)), flag(share(10)))
	e := effectOf(before, before.Apply(guidon.SnapshotDelta{Flags: []*guidon.Flag{flag(share(60))}}), "f")
	want := []string{"all those who newly match rule 1 go from off to on"}
	if diff := cmp.Diff(want, describe(e)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRequiredError: a rule fails if a flag that it requires does.
func TestRequiredError(t *testing.T) {
	before := snapshotOf(flagtest.BooleanFlag("api", false), flagtest.BooleanFlag("f", false, ruleRequiring(true, requiresAPI)))
	fails := flagtest.BooleanFlag("api", false, flagtest.SegmentRollout(true, guidon.OrSegments, "unknown"))
	e := effectOf(before, before.Apply(guidon.SnapshotDelta{Flags: []*guidon.Flag{fails}}), "f")
	if diff := cmp.Diff([]string{"all entities go from off to an error"}, describe(e)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// describe returns the effect in words, as pages and the command line do.
func describe(e *analysis.Effect) (lines []string) {
	if all := e.DescribeAll(); all != "" {
		return []string{all}
	}
	for i := range e.Groups {
		for j := range e.Groups[i].Moves {
			lines = append(lines, e.Describe(&e.Groups[i], &e.Groups[i].Moves[j]))
		}
	}
	return lines
}

// TestDependentsLimit: of many flags that require one, the effect has 20 and says that there are more.
func TestDependentsLimit(t *testing.T) {
	flags := []*guidon.Flag{flagtest.BooleanFlag("api", true)}
	for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t", "u"} {
		flags = append(flags, requiring(flagtest.BooleanFlag(key, true), requiresAPI))
	}
	for _, n := range []int{20, 21} {
		before := snapshotOf(flags[:n+1]...)
		e := effectOf(before, before.Apply(guidon.SnapshotDelta{Flags: []*guidon.Flag{flagtest.BooleanFlag("api", false)}}), "api")
		if len(e.Dependents) != 20 || e.Truncated != (n > 20) {
			t.Errorf("%d flags: got %d, truncated: %v", n, len(e.Dependents), e.Truncated)
		}
	}
}

// TestRequirementReach: what a required flag never answers is never reached, and says which flag it is.
func TestRequirementReach(t *testing.T) {
	b, c := guidon.Requirement{FlagKey: "price", Answers: []string{"B"}}, guidon.Requirement{FlagKey: "price", Answers: []string{"C"}}
	price := flagtest.VariantFlag("price", flagtest.Rule(flagtest.Shares{50, 50}, "everyone")) // A and B
	for _, tt := range []struct {
		name string
		flag *guidon.Flag
		want []string
	}{
		{"a variant that is given", flagtest.BooleanFlag("f", false, ruleRequiring(true, b)), []string{"", ""}},
		{"a variant that is never given", flagtest.BooleanFlag("f", false, ruleRequiring(true, c)), []string{"it requires flag price, which never gives that answer", ""}},
		{"of the flag", requiring(flagtest.BooleanFlag("f", true, flagtest.Threshold(100, false)), c), []string{"it requires flag price, which never gives that answer", ""}},
		{"no such flag", requiring(flagtest.BooleanFlag("f", true, flagtest.Threshold(10, false)), guidon.Requirement{FlagKey: "lost"}),
			[]string{"it requires flag lost, which never gives that answer", ""}},
		{"the default of a flag that may be off", requiring(flagtest.BooleanFlag("f", true, flagtest.Threshold(100, true)), b), []string{"", "rule 1 takes everybody who would get here"}},
		{"the default variant of a flag that may be off", requiring(flagtest.VariantFlag("f", flagtest.Rule(flagtest.Shares{100}, "everyone")), b), []string{"", ""}},
		{"both answers", flagtest.BooleanFlag("f", false, ruleRequiring(true, b), ruleRequiring(false, guidon.Requirement{FlagKey: "price", Answers: []string{"A"}})),
			[]string{"", "", "rules 1, 2 together take everybody who would get here"}},
		{"the same answer", flagtest.BooleanFlag("f", false, ruleRequiring(true, b), ruleRequiring(false, b)),
			[]string{"", "rule 1 takes everybody who would get here", ""}},
	} {
		r := reachOf(snapshotOf(tt.flag, price), "f")
		var got []string
		for i := range r.Steps {
			got = append(got, r.Why(&r.Steps[i]))
		}
		if diff := cmp.Diff(tt.want, append(got, r.WhyDefault())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestRequirementSummary: a flag that is off because of another is off in lists.
func TestRequirementSummary(t *testing.T) {
	off, half := flagtest.BooleanFlag("off", false), flagtest.BooleanFlag("half", false, flagtest.Threshold(50, true))
	on := flagtest.BooleanFlag("on", true)
	for _, tt := range []struct {
		key    string
		state  analysis.FlagState
		answer bool // constant
	}{{"off", analysis.OffState, true}, {"half", analysis.PartlyState, false}, {"on", analysis.OnState, true}, {"lost", analysis.OffState, true}} {
		s := snapshotOf(requiring(flagtest.BooleanFlag("f", true), guidon.Requirement{FlagKey: tt.key}), off, half, on)
		got := analysis.Summarize(s.Compiled("f"))
		if got.State != tt.state || got.Constant != tt.answer || got.Unmet != (tt.state == analysis.OffState) || got.Own != analysis.OnState {
			t.Errorf("%s: got %+v, want state %d, constant %v, on by itself", tt.key, got, tt.state, tt.answer)
		}
		ruled := snapshotOf(flagtest.BooleanFlag("f", false, ruleRequiring(true, guidon.Requirement{FlagKey: tt.key})), off, half, on)
		if got := analysis.Summarize(ruled.Compiled("f")); got.State == analysis.OffState && got.Own == analysis.OffState || got.Unmet {
			t.Errorf("%s: a rule: got %+v, want it on by itself", tt.key, got)
		}
		v := requiring(flagtest.VariantFlag("f"), guidon.Requirement{FlagKey: tt.key})
		want := analysis.OnState
		if tt.state == analysis.OffState {
			want = analysis.OffState
		}
		if got := analysis.Summarize(snapshotOf(v, off, half, on).Compiled("f")); got.State != want {
			t.Errorf("%s: variant flag: got state %d, want %d", tt.key, got.State, want)
		}
	}
}

// TestRequirementShares: a rule for everyone that requires another flag is not for everyone else.
func TestRequirementShares(t *testing.T) {
	half := flagtest.BooleanFlag("api", false, flagtest.Threshold(50, true))
	s := analysis.Summarize(snapshotOf(flagtest.BooleanFlag("f", false, ruleRequiring(true, requiresAPI)), half).Compiled("f"))
	if want := []analysis.AnswerShare{{Buckets: guidon.FineBuckets}}; !cmp.Equal(want, s.EveryoneElse) {
		t.Errorf("got %+v, want %+v", s.EveryoneElse, want)
	}
}

// TestExplainRequirements: an explanation has what the required flags answer.
func TestExplainRequirements(t *testing.T) {
	staff := flagtest.BooleanFlag("staff-only", false, flagtest.SegmentRollout(true, guidon.OrSegments, "staff"))
	price := flagtest.VariantFlag("price", flagtest.Rule(flagtest.Shares{100}, "everyone")) // A
	empty := flagtest.VariantFlag("empty")
	variant := func(key string, answers ...string) guidon.Requirement {
		return guidon.Requirement{FlagKey: key, Answers: answers}
	}
	for _, tt := range []struct {
		name      string
		flag      *guidon.Flag
		texts     []string // of the flag and of its rule
		verdict   analysis.Verdict
		obstacles []analysis.Obstacle
	}{
		{"met", requiring(flagtest.BooleanFlag("f", true), variant("price", "B", "A")), []string{`price is "A"`}, analysis.Impossible,
			[]analysis.Obstacle{{Step: -1, Reason: analysis.NoRule, By: -1}}},
		{"unmet", requiring(flagtest.BooleanFlag("f", true), variant("price", "B", "C"), variant("price", "A")),
			[]string{`price is "A", and must be "B" or "C"`, `price is "A"`}, analysis.Impossible,
			[]analysis.Obstacle{{Step: -1, Reason: analysis.RequirementUnmet, By: -1, FlagKey: "price"}}},
		{"lost", requiring(flagtest.BooleanFlag("f", true), guidon.Requirement{FlagKey: "lost"}), []string{"lost does not exist, and must be true"}, analysis.Impossible,
			[]analysis.Obstacle{{Step: -1, Reason: analysis.RequirementUnmet, By: -1, FlagKey: "lost"}}},
		{"no variant", requiring(flagtest.BooleanFlag("f", true), variant("empty", "A")), []string{`empty has no variant, and must be "A"`}, analysis.Impossible,
			[]analysis.Obstacle{{Step: -1, Reason: analysis.RequirementUnmet, By: -1, FlagKey: "empty"}}},
		{"by context", requiring(flagtest.BooleanFlag("f", true), guidon.Requirement{FlagKey: "staff-only"}), []string{"staff-only is false, and must be true"}, analysis.Undecided,
			[]analysis.Obstacle{{Step: -1, Reason: analysis.RequirementUnmet, By: -1, FlagKey: "staff-only"}}},
		{"a rule", flagtest.BooleanFlag("f", false, ruleRequiring(true, variant("price", "B"))), []string{`price is "A", and must be "B"`}, analysis.Impossible,
			[]analysis.Obstacle{{Step: 0, Reason: analysis.RequirementUnmet, By: -1, FlagKey: "price"}}},
		{"met by context", requiring(flagtest.BooleanFlag("f", true), guidon.Requirement{FlagKey: "staff-only", Answers: []string{"false"}}), []string{"staff-only is false"}, analysis.Undecided,
			[]analysis.Obstacle{{Step: -1, Reason: analysis.NoRule, By: -1}}},
		{"a rule, by context", flagtest.BooleanFlag("f", false, ruleRequiring(true, guidon.Requirement{FlagKey: "staff-only"})), []string{"staff-only is false, and must be true"}, analysis.Undecided,
			[]analysis.Obstacle{{Step: 0, Reason: analysis.RequirementUnmet, By: -1, FlagKey: "staff-only"}}},
	} {
		e, err := analysis.Explain(snapshotOf(tt.flag, staff, price, empty), "f", "u", nil)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, r := range e.Requirements {
			texts = append(texts, r.String())
		}
		for _, s := range e.Steps {
			for _, r := range s.Requirements {
				texts = append(texts, r.String())
			}
		}
		if diff := cmp.Diff(tt.texts, texts); diff != "" {
			t.Errorf("%s: requirements (-want +got):\n%s", tt.name, diff)
		}
		if got := e.Others[0]; got.Verdict != tt.verdict || !cmp.Equal(got.Obstacles, tt.obstacles) {
			t.Errorf("%s: got verdict %s, %+v, want %s, %+v", tt.name, got.Verdict, got.Obstacles, tt.verdict, tt.obstacles)
		}
	}
}
