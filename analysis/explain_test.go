package analysis_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/flagtest"
)

func mustExplain(t *testing.T, s *guidon.Snapshot, entityID string, context map[string]string) *analysis.Explanation {
	t.Helper()
	e, err := analysis.Explain(s, "f", entityID, context)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestExplainOutcomes checks the outcome of each step.
func TestExplainOutcomes(t *testing.T) {
	const (
		skipped = analysis.StepNotReached
		missed  = analysis.StepNotMatched
		never   = analysis.StepNeverMatches
		matched = analysis.StepMatched
		none    = analysis.StepNoVariant
	)
	everyone, has := flagtest.Everyone(), flagtest.Segment("has", guidon.MatchAll, flagtest.Has("p"))
	for _, tt := range []struct {
		name    string
		flag    *guidon.Flag
		want    []analysis.StepOutcome
		decided int
	}{
		{"no rules", flagtest.VariantFlag("f"), nil, -1},
		{"a disabled flag", flagtest.Disabled(flagtest.VariantFlag("f", flagtest.Rule(nil, "everyone"))), []analysis.StepOutcome{skipped}, -1},
		{
			"a rule that decides", flagtest.VariantFlag("f", flagtest.Rule(nil, "has"), flagtest.Rule(flagtest.Shares{100}, "everyone"), flagtest.Rule(nil, "everyone")),
			[]analysis.StepOutcome{missed, matched, skipped}, 1,
		},
		{"rules that never match", flagtest.VariantFlag("f", flagtest.Rule(nil), flagtest.Rule(nil, "everyone", "lost")), []analysis.StepOutcome{never, never}, -1},
		{"no variant for the bucket", flagtest.VariantFlag("f", flagtest.Rule(flagtest.Shares{0.1}, "everyone"), flagtest.Rule(nil, "everyone")), []analysis.StepOutcome{none, skipped}, 0},
		{
			"rollouts", flagtest.BooleanFlag("f", true, flagtest.Threshold(0, false), flagtest.SegmentRollout(true, guidon.OrSegments, "has"), &guidon.Rollout{}, flagtest.Threshold(100, false), flagtest.Threshold(100, true)),
			[]analysis.StepOutcome{missed, missed, never, matched, skipped}, 3,
		},
		{"a disabled boolean flag", flagtest.BooleanFlag("f", false, flagtest.SegmentRollout(true, guidon.OrSegments, "everyone")), []analysis.StepOutcome{matched}, 0},
		{"a boolean flag with rules", func() *guidon.Flag {
			f := flagtest.BooleanFlag("f", true)
			f.Rules = []*guidon.Rule{flagtest.Rule(nil, "everyone")}
			return f
		}(), nil, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := mustExplain(t, flagtest.SnapshotOf(tt.flag, everyone, has), "user-1", nil)
			var got []analysis.StepOutcome
			for _, s := range e.Steps {
				got = append(got, s.Outcome)
				if s.Outcome == skipped && s.Segments != nil {
					t.Errorf("%v: segments %v", s.Outcome, s.Segments)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || e.Decided != tt.decided {
				t.Errorf("decided by %d, want %d; outcomes (-want +got):\n%s", e.Decided, tt.decided, diff)
			}
			decided, err := analysis.Decide(flagtest.SnapshotOf(tt.flag, everyone, has), "f", "user-1", nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(e, decided, cmpopts.IgnoreFields(analysis.Explanation{}, "Steps", "Others")); diff != "" {
				t.Errorf("Explain and Decide (-Explain +Decide):\n%s", diff)
			}
		})
	}
}

// TestExplainBucket checks ranges, which are those of contract 16.2.
func TestExplainBucket(t *testing.T) {
	for _, tt := range []struct {
		shares flagtest.Shares
		want   string
	}{
		{flagtest.Shares{100}, "A 0-1000*"},
		{flagtest.Shares{50, 50}, "A 0-500 B 500-1000*"},
		{flagtest.Shares{33.33, 33.33, 33.34}, "A 0-333 B 333-666* C 666-999"},
		{flagtest.Shares{0.05, 100}, "A 0-0 B 0-1000*"},
		{flagtest.Shares{0, 30, 90}, "A 0-0 B 0-300 C 300-1000*"},
		{flagtest.Shares{100, 50}, "A 0-1000* B 1000-1000"},
		{flagtest.Shares{10}, "A 0-100"},
	} {
		s := flagtest.SnapshotOf(flagtest.VariantFlag("f", flagtest.Rule(tt.shares, "everyone")), flagtest.Everyone())
		b := mustExplain(t, s, "user-2", nil).Steps[0].Bucket
		var got []string
		for i, r := range b.Ranges {
			text := fmt.Sprintf("%s %d-%d", r.Variant, r.Start, r.End)
			if i == b.Chosen {
				text += "*"
			}
			got = append(got, text)
		}
		if text := strings.Join(got, " "); text != tt.want || b.Of != 1000 {
			t.Errorf("shares %v, bucket %d: got %s, want %s", tt.shares, b.Number, text, tt.want)
		}
	}
	for _, tt := range []struct {
		percentage float32
		end        int
	}{{0, 0}, {-1, 0}, {0.5, 1}, {12.5, 13}, {13, 13}, {100, 100}, {1000, 100}} {
		s := flagtest.SnapshotOf(flagtest.BooleanFlag("f", false, flagtest.Threshold(tt.percentage, true)))
		if got := mustExplain(t, s, "user-2", nil).Steps[0].Bucket; got.Of != 100 || got.Ranges[0].End != tt.end {
			t.Errorf("percentage %v: got %+v, want the end %d", tt.percentage, got, tt.end)
		}
	}
}

// TestExplainConstraint checks what a constraint compared, and why it could not.
func TestExplainConstraint(t *testing.T) {
	const (
		text    = guidon.StringComparison
		number  = guidon.NumberComparison
		boolean = guidon.BooleanComparison
		date    = guidon.DateTimeComparison
		entity  = guidon.EntityIDComparison
		version = guidon.VersionComparison
		pattern = guidon.PatternComparison
		items   = guidon.ListComparison
		address = guidon.AddressComparison
	)
	long := strings.Repeat("x", 4<<10+1)
	context := map[string]string{"p": "pro", "n": "7", "empty": "", "b": "yes", "d": "2024-13-01", "long": long, "ip": "192.0.2.7", "l": `["a","b"]`}
	for _, tt := range []struct {
		kind                      guidon.ComparisonType
		property, operator, value string
		actual                    string
		present, matched          bool
		problem                   string
	}{
		{text, "p", "eq", "pro", "pro", true, true, ""},
		{text, "p", "eq", "free", "pro", true, false, ""},
		{text, "none", "neq", "free", "", false, false, "there is no value"},
		{text, "empty", "neq", "free", "", true, false, "there is no value"},
		{text, "none", "empty", "", "", false, true, ""},
		{text, "none", "notempty", "", "", false, false, ""},
		{text, "p", "isnotoneof", "free", "pro", true, false, "the value of the constraint is not a JSON list of strings"},
		{text, "p", "gt", "1", "pro", true, false, "the operator never matches values of this type"},
		{number, "p", "gt", "1", "pro", true, false, "the value is not a number"},
		{number, "n", "gt", "one", "7", true, false, "the value of the constraint is not a number"},
		{number, "n", "isoneof", `["7"]`, "7", true, false, "the value of the constraint is not a JSON list of numbers"},
		{number, "n", "lt", "7", "7", true, false, ""},
		{number, "p", "present", "", "pro", true, true, ""},
		{boolean, "b", "true", "", "yes", true, false, "the value is not a boolean"},
		{date, "d", "gt", "2024-01-01", "2024-13-01", true, false, "the value is not an RFC 3339 time or a date"},
		{date, "d", "gt", "now", "2024-13-01", true, false, "the value of the constraint is not an RFC 3339 time or a date"},
		{date, "d", "isoneof", "2024-01-01", "2024-13-01", true, false, "the operator never matches values of this type"},
		{entity, "entityId", "eq", "user-1", "user-1", true, true, ""},
		{version, "n", "gte", "6.5", "7", true, true, ""},
		{version, "n", "lt", "6.5", "7", true, false, ""},
		{version, "p", "lt", "6.5", "pro", true, false, "the value is not a version"},
		{version, "n", "lt", "six", "7", true, false, "the value of the constraint is not a version"},
		{pattern, "p", "eq", "^p.o$", "pro", true, true, ""},
		{pattern, "p", "eq", "^x", "pro", true, false, ""},
		{pattern, "long", "eq", "x", long, true, false, "the value is longer than 4 KiB"},
		{pattern, "p", "eq", "(", "pro", true, false, "the value of the constraint is not a pattern of RE2 within the limits"},
		{pattern, "none", "eq", ".*", "", false, false, "there is no value"},
		{items, "l", "anyof", `["b","c"]`, `["a","b"]`, true, true, ""},
		{items, "l", "allof", `["b","c"]`, `["a","b"]`, true, false, ""},
		{items, "l", "anyof", "a", `["a","b"]`, true, false, "the value of the constraint is not a JSON list of texts, numbers and booleans"},
		{address, "ip", "isoneof", `["192.0.2.0/24"]`, "192.0.2.7", true, true, ""},
		{address, "p", "isoneof", `["192.0.2.0/24"]`, "pro", true, false, "the value is not an address"},
		{address, "ip", "isoneof", `["home"]`, "192.0.2.7", true, false, "the value of the constraint is not a JSON list of addresses and CIDR blocks"},
	} {
		for _, negate := range []bool{false, true} {
			c := &guidon.Constraint{Type: tt.kind, Property: tt.property, Operator: tt.operator, Value: tt.value, Negate: negate}
			s := flagtest.SnapshotOf(flagtest.VariantFlag("f", flagtest.Rule(nil, "s")), flagtest.Segment("s", guidon.MatchAll, c))
			got := mustExplain(t, s, "user-1", context).Steps[0].Segments[0].Constraints[0]
			if got.Actual != tt.actual || got.Present != tt.present || got.Matched != (tt.matched != negate) || string(got.Problem) != tt.problem {
				t.Errorf("%v %s %s %s, negated %v: got %+v (%v)", tt.kind, tt.property, tt.operator, tt.value, negate, got, got.Problem)
			}
		}
	}
}

// is returns a constraint on the property p, or on the entity.
func is(kind guidon.ComparisonType, operator, value string) *guidon.Constraint {
	return &guidon.Constraint{Type: kind, Property: "p", Operator: operator, Value: value}
}

// TestObstacles checks the reason why the entity cannot have a result.
func TestObstacles(t *testing.T) {
	const text, number = guidon.StringComparison, guidon.NumberComparison
	all := flagtest.Shares{100}
	toB := flagtest.Shares{0, 100}
	segments := []*guidon.Segment{
		flagtest.Everyone(),
		flagtest.Segment("pro", guidon.MatchAll, is(text, "eq", "pro")),
		flagtest.Segment("other", guidon.MatchAll, is(text, "neq", "pro")),
		flagtest.Segment("missing", guidon.MatchAll, is(text, "empty", "")),
		flagtest.Segment("both", guidon.MatchAll, is(text, "eq", "pro"), is(text, "eq", "free")),
		flagtest.Segment("gap", guidon.MatchAll, is(number, "gt", "3"), is(number, "lt", "3")),
		flagtest.Segment("broken", guidon.MatchAny, is(number, "gt", "x"), is(number, "lt", "y")),
		flagtest.Segment("boss", guidon.MatchAll, is(guidon.EntityIDComparison, "eq", "boss")),
		flagtest.Segment("unknown", guidon.MatchAll, is(9, "eq", "x")),
		flagtest.Segment("parts", guidon.MatchAll, is(text, "contains", "ab"), is(text, "eq", "ba"), is(text, "prefix", "b")),
		flagtest.Segment("hexadecimal", guidon.MatchAll, is(number, "gt", "5"), is(text, "contains", "x")),
	}
	for _, tt := range []struct {
		name string
		flag *guidon.Flag
		want analysis.Obstacle // of the variant B, or of the other value
	}{
		{"disabled", flagtest.Disabled(flagtest.VariantFlag("f", flagtest.Rule(toB, "pro"))), analysis.Obstacle{Step: -1, Reason: analysis.FlagDisabled, By: -1}},
		{"no rule", flagtest.VariantFlag("f", flagtest.Rule(all, "pro")), analysis.Obstacle{Step: -1, Reason: analysis.NoRule, By: -1}},
		{"no segments", flagtest.VariantFlag("f", flagtest.Rule(toB)), analysis.Obstacle{Reason: analysis.NoSegments, By: -1}},
		{"a lost segment", flagtest.VariantFlag("f", flagtest.Rule(toB, "pro", "lost")), analysis.Obstacle{Reason: analysis.SegmentMissing, By: -1, SegmentKey: "lost"}},
		{"no share", flagtest.VariantFlag("f", flagtest.Rule(flagtest.Shares{99, 0}, "pro")), analysis.Obstacle{Reason: analysis.EmptyRange, By: -1}},
		{"after all shares", flagtest.VariantFlag("f", flagtest.Rule(flagtest.Shares{100, 100}, "pro")), analysis.Obstacle{Reason: analysis.EmptyRange, By: -1}},
		{"another bucket", flagtest.VariantFlag("f", flagtest.Rule(flagtest.Shares{99.9, 0.1}, "pro")), analysis.Obstacle{Reason: analysis.OtherBucket, By: -1}},
		{"after everyone", flagtest.VariantFlag("f", flagtest.Rule(all, "everyone"), flagtest.Rule(toB, "pro")), analysis.Obstacle{Step: 1, Reason: analysis.EarlierStep, By: 0}},
		{"after the same segment", flagtest.VariantFlag("f", flagtest.Rule(all, "missing"), flagtest.Rule(all, "pro"), flagtest.Rule(toB, "pro")), analysis.Obstacle{Step: 2, Reason: analysis.EarlierStep, By: 1}},
		{"after two that cover it", flagtest.VariantFlag("f", flagtest.Rule(all, "pro"), flagtest.Rule(all, "other"), flagtest.Rule(all, "missing"), flagtest.Rule(toB, "everyone")), analysis.Obstacle{Step: 3, Reason: analysis.EarlierSteps, By: 2}},
		{"two values", flagtest.VariantFlag("f", flagtest.Rule(toB, "both")), analysis.Obstacle{Reason: analysis.Contradiction, By: -1, SegmentKey: "both", Property: "p"}},
		{"an empty interval", flagtest.VariantFlag("f", flagtest.Rule(toB, "gap")), analysis.Obstacle{Reason: analysis.Contradiction, By: -1, SegmentKey: "gap", Property: "p"}},
		{"constraints that do not parse", flagtest.VariantFlag("f", flagtest.Rule(toB, "broken")), analysis.Obstacle{Reason: analysis.Contradiction, By: -1, SegmentKey: "broken"}},
		{"segments that exclude each other", flagtest.VariantFlag("f", flagtest.RuleOfAll(toB, "pro", "other")), analysis.Obstacle{Reason: analysis.Contradiction, By: -1}},
		{"another entity", flagtest.VariantFlag("f", flagtest.Rule(toB, "boss")), analysis.Obstacle{Reason: analysis.OtherEntity, By: -1, SegmentKey: "boss"}},
		{"after a rule that fails", flagtest.VariantFlag("f", flagtest.Rule(all, "everyone"), flagtest.Rule(all, "unknown"), flagtest.Rule(toB, "pro")), analysis.Obstacle{Step: 2, Reason: analysis.EarlierStep, By: 0}},
		{"parts and a whole", flagtest.VariantFlag("f", flagtest.Rule(toB, "parts")), analysis.Obstacle{Reason: analysis.Contradiction, By: -1, SegmentKey: "parts", Property: "p"}},
		{"a combination that is not decided", flagtest.VariantFlag("f", flagtest.Rule(toB, "hexadecimal")), analysis.Obstacle{Reason: analysis.NotDecided, By: -1}},
		{"no rollout", flagtest.BooleanFlag("f", true), analysis.Obstacle{Step: -1, Reason: analysis.NoRule, By: -1}},
		{"a threshold of 0", flagtest.BooleanFlag("f", true, flagtest.Threshold(0, false)), analysis.Obstacle{Reason: analysis.EmptyRange, By: -1}},
		{"a threshold for others", flagtest.BooleanFlag("f", true, flagtest.Threshold(1, false)), analysis.Obstacle{Reason: analysis.OtherBucket, By: -1}},
		{"a threshold first", flagtest.BooleanFlag("f", true, flagtest.Threshold(100, true), flagtest.SegmentRollout(false, guidon.OrSegments, "pro")), analysis.Obstacle{Step: 1, Reason: analysis.EarlierStep, By: 0}},
		{"always a match", flagtest.BooleanFlag("f", false, flagtest.SegmentRollout(true, guidon.OrSegments, "everyone")), analysis.Obstacle{Step: -1, Reason: analysis.EarlierStep, By: 0}},
		{"matches that cover everything", flagtest.BooleanFlag("f", false, flagtest.SegmentRollout(true, guidon.OrSegments, "pro", "other", "missing")), analysis.Obstacle{Step: -1, Reason: analysis.EarlierStep, By: 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := mustExplain(t, flagtest.SnapshotOf(tt.flag, segments...), "user-1", nil)
			for _, o := range e.Others {
				if e.Variant != nil && o.VariantKey != "B" {
					continue
				}
				want := analysis.Impossible
				if tt.want.Reason == analysis.NotDecided {
					want = analysis.Undecided
				}
				ignore := cmpopts.IgnoreFields(analysis.Obstacle{}, "Range")
				if diff := cmp.Diff([]analysis.Obstacle{tt.want}, o.Obstacles, ignore); diff != "" || o.Verdict != want {
					t.Errorf("verdict %v, want %v; obstacles (-want +got):\n%s", o.Verdict, want, diff)
				}
				return
			}
			t.Errorf("not among the other results: %+v", e.Others)
		})
	}
}

// TestExplainBounds checks that the work is limited, and that the response says so.
func TestExplainBounds(t *testing.T) {
	var constraints []*guidon.Constraint
	for i := range 3000 {
		constraints = append(constraints, flagtest.Has(fmt.Sprint("p", i)))
	}
	many := flagtest.SnapshotOf(flagtest.VariantFlag("f", flagtest.Rule(flagtest.Shares{100}, "s")), flagtest.Segment("s", guidon.MatchAll, constraints...))
	// To reach the last rule, one outcome of each earlier segment must be different.
	rules := []*guidon.Rule{}
	segments := []*guidon.Segment{flagtest.Segment("last", guidon.MatchAll, flagtest.Has("p0"))}
	for i := range 200 {
		g := flagtest.Segment(fmt.Sprint("s", i), guidon.MatchAll)
		for j := range 8 {
			g.Constraints = append(g.Constraints, flagtest.Has(fmt.Sprint("p", 1+(i*i*7+j*(i+13))%60)))
		}
		segments, rules = append(segments, g), append(rules, flagtest.Rule(flagtest.Shares{100}, g.Key))
	}
	hard := flagtest.SnapshotOf(flagtest.VariantFlag("f", append(rules, flagtest.Rule(flagtest.Shares{0, 100}, "last"))...), segments...)
	all := make(map[string]string)
	for i := range 61 {
		all[fmt.Sprint("p", i)] = "yes"
	}
	for name, e := range map[string]*analysis.Explanation{
		"too many constraints": mustExplain(t, many, "user-1", nil),
		"too much work":        mustExplain(t, hard, "user-1", all),
	} {
		if !e.Limited {
			t.Errorf("%s: the limit was not reached", name)
		}
		limited := false
		for _, o := range e.Others {
			for _, b := range o.Obstacles {
				limited = limited || b.Reason == analysis.WorkLimit && o.Verdict == analysis.Undecided
			}
		}
		if !limited {
			t.Errorf("%s: no result is undecided for that reason: %+v", name, e.Others)
		}
	}
	rules = nil
	for range analysis.MaxExplainedSteps + 1 {
		rules = append(rules, flagtest.Rule(nil, "everyone"))
	}
	_, err := analysis.Explain(flagtest.SnapshotOf(flagtest.VariantFlag("f", rules...), flagtest.Everyone()), "f", "user-1", nil)
	flagtest.CheckError(t, err, guidon.TooLarge, `flag "f" has more than 10000 rules, which cannot be explained`)
	_, err = analysis.Explain(many, "nope", "user-1", nil)
	flagtest.CheckError(t, err, guidon.NotFound, `flag "default/nope" not found`)
}
