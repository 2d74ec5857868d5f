package analysis_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// describeReach returns a line for each rule or rollout that is never reached, and one for
// the default.
func describeReach(r *analysis.Reach) (lines []string) {
	causes := []string{"reached", "shadowed", "unsatisfiable", "missing segment", "no buckets"}
	for _, s := range r.Steps {
		text := fmt.Sprintf("%d %s", s.Index, causes[s.Cause])
		if len(s.By) > 0 {
			text += fmt.Sprint(" by ", s.By)
		}
		if s.Segment != "" {
			text += " " + s.Segment
		}
		for _, c := range s.Conflicts {
			text += fmt.Sprintf(" %s/%d", c.Segment, c.Index)
		}
		if s.Fails {
			text += " fails"
		}
		if s.Cause == analysis.Reached {
			text += fmt.Sprint(" ", s.Buckets)
		}
		lines = append(lines, text)
	}
	text := "default " + causes[r.Default.Cause]
	if len(r.Default.By) > 0 {
		text += fmt.Sprint(" by ", r.Default.By)
	}
	return append(lines, text)
}

func TestReach(t *testing.T) {
	rule := func(segments ...string) *guidon.Rule { return flagtest.Rule(flagtest.Shares{100}, segments...) }
	rollout := func(segments ...string) *guidon.Rollout {
		return flagtest.SegmentRollout(true, guidon.OrSegments, segments...)
	}
	variant := func(rules ...*guidon.Rule) *guidon.Flag { return flagtest.VariantFlag("f", rules...) }
	boolean := func(rollouts ...*guidon.Rollout) *guidon.Flag { return flagtest.BooleanFlag("f", true, rollouts...) }
	segments := append(testSegments(),
		flagtest.Segment("nobody", guidon.MatchAll, flagtest.Has("beta"), constraint(guidon.StringComparison, "staff", "eq", "yes"), constraint(guidon.StringComparison, "staff", "eq", "no")),
		flagtest.Segment("known", guidon.MatchAll, constraint(guidon.StringComparison, "country", "notempty", "")),
		flagtest.Segment("unknown", guidon.MatchAll, constraint(guidon.NumberComparison, "country", "notpresent", "")),
		flagtest.Segment("both", guidon.MatchAny, constraint(guidon.StringComparison, "country", "empty", ""), constraint(guidon.StringComparison, "country", "notempty", "")),
		flagtest.Segment("adults", guidon.MatchAll, constraint(guidon.NumberComparison, "age", "gte", "18")),
		flagtest.Segment("seniors", guidon.MatchAll, constraint(guidon.NumberComparison, "age", "gt", "65"), constraint(guidon.NumberComparison, "age", "lt", "120")),
		flagtest.Segment("strangers", guidon.MatchAny, constraint(guidon.StringComparison, "staff", "eq", "no"), constraint(guidon.StringComparison, "staff", "prefix", "un")),
		flagtest.Segment("named", guidon.MatchAll, constraint(guidon.StringComparison, "country", "neq", "DE")),
		flagtest.Segment("home", guidon.MatchAll, constraint(guidon.StringComparison, "country", "eq", "DE")),
		flagtest.Segment("hexadecimal", guidon.MatchAll, constraint(guidon.NumberComparison, "id", "gt", "5"), constraint(guidon.StringComparison, "id", "contains", "x")),
		flagtest.Segment("broken", guidon.MatchAll, constraint(guidon.UnknownComparison, "country", "eq", "")),
	)
	for _, tt := range []struct {
		name string
		flag *guidon.Flag
		want []string
	}{
		{"all reached", variant(rule("staff"), rule("beta")), []string{"0 reached 1000", "1 reached 1000", "default reached"}},
		{"any of segments that exclude each other", variant(rule("staff", "guests"), rule("staff")), []string{"0 reached 1000", "1 shadowed by [0]", "default reached"}},
		{"behind a rule for everyone", variant(rule("beta"), rule("everyone"), rule("staff")), []string{"0 reached 1000", "1 reached 1000", "2 shadowed by [1]", "default shadowed by [1]"}},
		{"the same segment", variant(rule("staff"), rule("beta"), rule("staff")), []string{"0 reached 1000", "1 reached 1000", "2 shadowed by [0]", "default reached"}},
		{"implied", variant(rule("staff"), rule("staff-beta")), []string{"0 reached 1000", "1 shadowed by [0]", "default reached"}},
		{"one of several", variant(rule("staff", "beta"), rule("beta")), []string{"0 reached 1000", "1 shadowed by [0]", "default reached"}},
		{"several together", variant(rule("staff"), rule("guests"), rule("beta"), rule("staff", "beta")), []string{"0 reached 1000", "1 reached 1000", "2 reached 1000", "3 shadowed by [0 2]", "default reached"}},
		{"opposites together", variant(rule("known"), rule("beta"), rule("unknown"), rule("staff")), []string{"0 reached 1000", "1 reached 1000", "2 reached 1000", "3 shadowed by [0 2]", "default shadowed by [0 2]"}},
		{"opposites in one segment", variant(rule("both"), rule("staff")), []string{"0 reached 1000", "1 shadowed by [0]", "default shadowed by [0]"}},
		{"a range in another one", variant(rule("adults"), rule("seniors")), []string{"0 reached 1000", "1 shadowed by [0]", "default reached"}},
		{"a range around another one", variant(rule("seniors"), rule("adults")), []string{"0 reached 1000", "1 reached 1000", "default reached"}},
		{"three that cover everything", variant(rule("home"), rule("beta"), rule("named"), rule("unknown"), rule("staff")), []string{
			"0 reached 1000", "1 reached 1000", "2 reached 1000", "3 reached 1000", "4 shadowed by [0 2 3]", "default shadowed by [0 2 3]",
		}},
		{"segments that exclude each other", variant(rule("beta"), flagtest.RuleOfAll(flagtest.Shares{100}, "staff", "strangers")), []string{"0 reached 1000", "1 unsatisfiable", "default reached"}},
		{"a number with a letter", variant(rule("hexadecimal"), rule("hexadecimal")), []string{"0 reached 1000", "1 shadowed by [0]", "default reached"}},
		{"nobody", variant(rule("nobody")), []string{"0 unsatisfiable nobody/1 nobody/2", "default reached"}},
		{"nobody of several", variant(flagtest.RuleOfAll(flagtest.Shares{100}, "staff", "guests")), []string{"0 unsatisfiable staff/0 guests/0", "default reached"}},
		{"a missing segment", variant(rule("staff", "nowhere"), rule()), []string{"0 missing segment nowhere", "1 missing segment", "default reached"}},
		{"an error", variant(rule("broken"), rule("staff")), []string{"0 reached fails 1000", "1 shadowed by [0]", "default shadowed by [0]"}},
		{"disabled", flagtest.Disabled(variant(rule("staff"))), []string{"0 reached 1000", "default reached"}},

		{"behind a threshold", boolean(flagtest.Threshold(25, true), rollout("staff")), []string{"0 reached 25", "1 reached 75", "default reached"}},
		{"behind a full threshold", boolean(rollout("beta"), flagtest.Threshold(100, true), rollout("staff"), flagtest.Threshold(10, true)), []string{"0 reached 100", "1 reached 100", "2 shadowed by [1]", "3 shadowed by [1]", "default shadowed by [1]"}},
		{"a full threshold by rounding", boolean(flagtest.Threshold(99.5, true), rollout("staff")), []string{"0 reached 100", "1 shadowed by [0]", "default shadowed by [0]"}},
		{"a smaller threshold", boolean(flagtest.Threshold(20, true), flagtest.Threshold(30, false), flagtest.Threshold(25, true)), []string{"0 reached 20", "1 reached 10", "2 shadowed by [1]", "default reached"}},
		{"no threshold", boolean(flagtest.Threshold(0, true), flagtest.Threshold(0.1, true)), []string{"0 no buckets", "1 reached 1", "default reached"}},
		{"behind everyone", boolean(rollout("everyone"), flagtest.Threshold(10, true)), []string{"0 reached 100", "1 shadowed by [0]", "default shadowed by [0]"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := flagtest.SnapshotOf(tt.flag, segments...)
			got := reachOf(s, "f")
			if diff := cmp.Diff(tt.want, describeReach(got)); diff != "" {
				t.Errorf("reach (-want +got):\n%s", diff)
			}
			if got.Disabled != (tt.name == "disabled") {
				t.Errorf("disabled: %v", got.Disabled)
			}
			if reachOf(s, "f") != got {
				t.Error("computed twice for one snapshot")
			}
		})
	}
	if got := reachOf(flagtest.SnapshotOf(variant()), "other"); got != nil {
		t.Errorf("got %+v of a flag that does not exist", got)
	}
}

func constraint(t guidon.ComparisonType, property, operator, value string) *guidon.Constraint {
	return &guidon.Constraint{Type: t, Property: property, Operator: operator, Value: value}
}

// TestShares covers what percentages become in buckets (contract 7.5).
func TestShares(t *testing.T) {
	shareCauses := []string{"", " zero", " below one bucket", " beyond the end", " lost"}
	describe := func(r *analysis.Reach) (lines []string) {
		for _, s := range r.Steps {
			text := ""
			for _, share := range s.Shares {
				text += fmt.Sprintf("%s %v: %v [%d,%d)%s", share.Variant, share.Percentage, share.Given(), share.Start, share.End, shareCauses[share.Cause])
				if share.Rounded() {
					text += " rounded"
				}
				text += "; "
			}
			lines = append(lines, fmt.Sprintf("%srest %d", text, s.Unassigned))
		}
		return append(lines, "unserved "+strings.Join(r.Unserved, ""))
	}
	lost := flagtest.VariantFlag("f", flagtest.Rule(flagtest.Shares{50, 50}, "everyone"))
	lost.Rules[0].Distributions[0].VariantID = "lost"
	for _, tt := range []struct {
		name string
		flag *guidon.Flag
		want []string
	}{
		{"exact", flagtest.VariantFlag("f", flagtest.Rule(flagtest.Shares{12.5, 87.5}, "everyone")), []string{"A 12.5: 12.5 [0,125); B 87.5: 87.5 [125,1000); rest 0", "unserved CDEFGZ"}},
		{"thirds", flagtest.VariantFlag("f", flagtest.Rule(flagtest.Shares{33.33, 33.33, 33.34}, "everyone")), []string{
			"A 33.33: 33.3 [0,333) rounded; B 33.33: 33.3 [333,666) rounded; C 33.34: 33.3 [666,999) rounded; rest 1", "unserved DEFGZ",
		}},
		{"nothing", flagtest.VariantFlag("f", flagtest.Rule(flagtest.Shares{0, 0.05, 100, 20}, "everyone")), []string{
			"A 0: 0 [0,0) zero; B 0.05: 0 [0,0) below one bucket rounded; C 100: 100 [0,1000); D 20: 0 [1000,1000) beyond the end rounded; rest 0", "unserved ABDEFGZ",
		}},
		{"cut off", flagtest.VariantFlag("f", flagtest.Rule(flagtest.Shares{80, 50}, "everyone")), []string{"A 80: 80 [0,800); B 50: 20 [800,1000) rounded; rest 0", "unserved CDEFGZ"}},
		{"a lost variant", lost, []string{" 50: 0 [0,0) lost rounded; B 50: 50 [0,500); rest 500", "unserved ACDEFGZ"}},
		{"the default for the rest", flagtest.WithDefault(flagtest.VariantFlag("f", flagtest.Rule(flagtest.Shares{80}, "everyone")), "Z"), []string{"A 80: 80 [0,800); rest 200", "unserved BCDEFG"}},
		{"no rest for the default", flagtest.WithDefault(flagtest.VariantFlag("f", flagtest.Rule(flagtest.Shares{100}, "everyone")), "Z"), []string{"A 100: 100 [0,1000); rest 0", "unserved BCDEFGZ"}},
		{"of a rule that is not reached", flagtest.VariantFlag("f", flagtest.Rule(flagtest.Shares{100}, "everyone"), flagtest.Rule(flagtest.Shares{0, 100}, "staff")), []string{
			"A 100: 100 [0,1000); rest 0", "A 0: 0 [0,0) zero; B 100: 100 [0,1000); rest 0", "unserved BCDEFGZ",
		}},
		{"thresholds", flagtest.BooleanFlag("f", true, flagtest.Threshold(12.5, true), flagtest.Threshold(0, true), flagtest.Threshold(50, true)), []string{
			" 12.5: 13 [0,13) rounded; rest 0", " 0: 0 [0,0) zero; rest 0", " 50: 50 [0,50); rest 0", "unserved ",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, describe(reachOf(stateOf(tt.flag), "f"))); diff != "" {
				t.Errorf("shares (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPercentagesInBuckets checks every percentage with one decimal: a bucket is 0.1 %, but
// not all of them can be written in 32 bits.
func TestPercentagesInBuckets(t *testing.T) {
	for n := range 1001 {
		percentage := float32(n) / 10
		r := reachOf(stateOf(flagtest.VariantFlag("f", flagtest.Rule(flagtest.Shares{percentage}, "everyone"))), "f")
		share := r.Steps[0].Shares[0]
		if share.Rounded() != (share.Buckets() != n) {
			t.Errorf("%v becomes %d buckets, %v %%: rounded is %v", percentage, share.Buckets(), share.Given(), share.Rounded())
		}
	}
}

// TestContradictions compares constraints about one property that are known to exclude or
// imply each other with evaluations for many values.
func TestContradictions(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	operands := []string{
		"", " ", "a", "ab", "b", "a b", " a", "a ", "5", "5.0", "6", "4", "NaN", "+Inf", "-Inf", "1", "0", "true",
		`["a","b"]`, `["a b"]`, `[""]`, `[]`, `[5,6]`, `[4]`, "2024-01-01", "2024-01-02", "2024-01-01T00:00:00Z", "2024-01-01T01:00:00+01:00",
		"5.0.0-a", "5.1", `["10.0.0.0/8"]`, `["10.1.0.0/16","::1"]`, "^a",
	}
	values := append([]string{"x", "xa", "ba", "a b c", "4.999", "5e0", "1e9", "T", "2023-12-31", "2024-01-01T12:00:00Z", "\t", "abab", " ab ", "-1", "5.0.0", "5.0.1-0", "10.0.0.1", "10.1.2.3", "11.0.0.0", "::1", "::2", `["a"]`, `["b"]`, `["a","b","c"]`}, operands...)
	types := []guidon.ComparisonType{guidon.StringComparison, guidon.NumberComparison, guidon.BooleanComparison, guidon.DateTimeComparison,
		guidon.VersionComparison, guidon.PatternComparison, guidon.ListComparison, guidon.AddressComparison}
	operators := flagtest.Operators()
	found := map[analysis.Cause]int{}
	for range 4000 {
		kind := types[random.IntN(len(types))]
		segment := func(key string) *guidon.Segment {
			g := flagtest.Segment(key, guidon.MatchType(random.IntN(2)))
			for range 1 + random.IntN(3) {
				if random.IntN(8) == 0 {
					kind = types[random.IntN(len(types))]
				}
				c := constraint(kind, "p", operators[random.IntN(len(operators))], operands[random.IntN(len(operands))])
				c.Negate = random.IntN(4) == 0
				g.Constraints = append(g.Constraints, c)
			}
			return g
		}
		segments := []*guidon.Segment{segment("s0"), segment("s1"), segment("s2")}
		flag := flagtest.VariantFlag("flag", flagtest.Rule(nil, "s0"), flagtest.RuleOfAll(nil, "s1", "s2"), flagtest.Rule(nil, "s2"))
		s := flagtest.SnapshotOf(flag, segments...)
		reach := reachOf(s, "flag")
		for _, step := range reach.Steps {
			found[step.Cause]++
		}
		for _, value := range values {
			decides := firstMatch(s, fuzzUser{"user", map[string]string{"p": value}})
			if decides >= 0 && reach.Steps[decides].Cause != analysis.Reached || decides < 0 && reach.Default.Cause != analysis.Reached {
				t.Fatalf("rule %d decides for %q, but %v of %s", decides, value, describeReach(reach), constraintsOf(segments))
			}
		}
	}
	for _, cause := range []analysis.Cause{analysis.Reached, analysis.Shadowed, analysis.Unsatisfiable} {
		if found[cause] < 100 {
			t.Errorf("cause %d occurred %d times only", cause, found[cause])
		}
	}
}

func constraintsOf(segments []*guidon.Segment) (text string) {
	for _, g := range segments {
		text += fmt.Sprintf("%s %v:", g.Key, g.MatchType)
		for _, c := range g.Constraints {
			text += fmt.Sprintf(" %v %s %q %v;", c.Type, c.Operator, c.Value, c.Negate)
		}
	}
	return text
}

// TestUnsatisfiable covers contradictions that are found.
func TestUnsatisfiable(t *testing.T) {
	text, number, boolean, instant := guidon.StringComparison, guidon.NumberComparison, guidon.BooleanComparison, guidon.DateTimeComparison
	version, pattern, items, address := guidon.VersionComparison, guidon.PatternComparison, guidon.ListComparison, guidon.AddressComparison
	on := func(t guidon.ComparisonType, pairs ...string) (list []*guidon.Constraint) {
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, constraint(t, "p", pairs[i], pairs[i+1]))
		}
		return list
	}
	for _, tt := range []struct {
		name        string
		constraints []*guidon.Constraint
		want        bool
	}{
		{"different texts", on(text, "eq", "a", "eq", "b"), true},
		{"a text of none", on(text, "isoneof", `[]`), true},
		{"no list", on(text, "isnotoneof", `a`), true},
		{"different lists", on(text, "isoneof", `["a","b"]`, "isoneof", `["c"]`), true},
		{"lists in common", on(text, "isoneof", `["a","b"]`, "isoneof", `["b","c"]`), false},
		{"the list excludes all", on(text, "isoneof", `["a"]`, "isnotoneof", `["a","b"]`), true},
		{"beginnings", on(text, "prefix", "ab", "prefix", "b"), true},
		{"beginnings that fit", on(text, "prefix", "ab", "prefix", "a"), false},
		{"a beginning that is trimmed", on(text, "prefix", " a"), true},
		{"ends", on(text, "suffix", "ab", "suffix", "a"), true},
		{"an end that is trimmed", on(text, "suffix", "a "), true},
		{"contained and not", on(text, "contains", "abc", "notcontains", "b"), true},
		{"contained, and other not", on(text, "contains", "abc", "notcontains", "d"), false},
		{"empty and not", on(text, "empty", "", "notempty", ""), true},
		{"empty and a beginning", on(text, "empty", "", "prefix", "a"), true},
		{"blank and something else", on(text, "empty", "", "neq", "a"), false},
		{"a range", on(number, "gt", "5", "lt", "6"), false},
		{"an empty range", on(number, "gt", "5", "lte", "5"), true},
		{"below and not below", on(number, "gte", "5", "lt", "5"), true},
		{"a limit that is outside and inside", on(number, "gt", "5", "gte", "5", "lte", "5"), true},
		{"a limit that is inside and outside", on(number, "gte", "5", "lte", "5", "lt", "5"), true},
		{"a limit inside, then outside", on(number, "gte", "5", "gt", "5", "lte", "5"), true},
		{"a reversed range", on(number, "gt", "6", "lt", "5"), true},
		{"one number", on(number, "gte", "5", "lte", "5"), false},
		{"one number, excluded", on(number, "gte", "5", "lte", "5", "neq", "5.0"), true},
		{"one number, excluded by a list", on(number, "eq", "5", "isnotoneof", "[5]"), true},
		{"numbers of a list", on(number, "isoneof", "[5,6]", "gt", "6"), true},
		{"no number", on(number, "gt", "many"), true},
		{"never greater", on(number, "gt", "NaN"), true},
		{"not present, but greater", on(number, "notpresent", "", "gt", "5"), true},
		{"true and false", on(boolean, "true", "", "false", ""), true},
		{"before and after", on(instant, "lt", "2024-01-01", "gt", "2024-01-02"), true},
		{"another zone", on(instant, "eq", "2024-01-01T00:00:00Z", "neq", "2024-01-01T01:00:00+01:00"), true},
		{"a list of times", on(instant, "isoneof", "2024-01-01"), true},
		{"between", on(instant, "gt", "2024-01-01", "lt", "2024-01-02"), false},
		{"true as a text", append(on(boolean, "true", ""), on(text, "eq", "no")...), true},
		{"a text that is true", append(on(boolean, "true", ""), on(text, "eq", "T")...), false},
		{"negated and not", append(on(text, "eq", "a"), negated(constraint(text, "p", "eq", "a"))), true},
		{"negated twice in other words", append(on(text, "neq", "a"), negated(constraint(text, "p", "eq", "a"))), false},
		{"negated, and the only other text", []*guidon.Constraint{negated(constraint(text, "p", "neq", "a")), negated(constraint(text, "p", "eq", ""))}, false},
		{"no value at all", []*guidon.Constraint{negated(constraint(text, "p", "notempty", "")), negated(constraint(text, "p", "neq", "a"))}, false},
		{"an operand that is not valid, negated", []*guidon.Constraint{negated(constraint(number, "p", "gt", "many"))}, false},
		{"a version in a gap", on(version, "gt", "1.0.0-a", "lt", "1.0.0-a.0"), true},
		{"a version between", on(version, "gt", "1.0.0-a", "lt", "1.0.0-b"), false},
		{"a version before the first", on(version, "lt", "0.0.0-0"), true},
		{"a version after the last", on(version, "gt", "999999999999999999.999999999999999999.999999999999999999"), true},
		{"a version and the same in other words", on(version, "gt", "v2", "lte", "2.0.0+build"), true},
		{"a pattern and the same negated", append(on(pattern, "eq", "a"), negated(constraint(pattern, "p", "eq", "a"))), true},
		{"patterns", on(pattern, "eq", "^a", "eq", "^b"), false},
		{"a pattern and a text", append(on(pattern, "eq", "^a"), on(text, "eq", "b")...), true},
		{"any of what another excludes", append(on(items, "anyof", `["a","b"]`), negated(constraint(items, "p", "anyof", `["a","b","c"]`))), true},
		{"any but not all", append(on(items, "anyof", `["a","b"]`), negated(constraint(items, "p", "allof", `["a","b"]`))), false},
		{"all but not any", append(on(items, "allof", `["a","b"]`), negated(constraint(items, "p", "anyof", `["b","c"]`))), true},
		{"not all of two lists, but of both", append(on(items, "allof", `["b"]`), negated(constraint(items, "p", "allof", `["a","b"]`)), negated(constraint(items, "p", "allof", `["b","c"]`))), false},
		{"any of none", on(items, "anyof", `[]`), true},
		{"a block in another", on(address, "isoneof", `["10.0.0.0/8"]`, "isoneof", `["10.1.0.0/16"]`), false},
		{"a block without its parts", append(on(address, "isoneof", `["10.0.0.0/8"]`), negated(constraint(address, "p", "isoneof", `["10.0.0.0/9","10.128.0.0/9"]`))), true},
		{"a block without most of it", append(on(address, "isoneof", `["10.0.0.0/8"]`), negated(constraint(address, "p", "isoneof", `["10.0.0.0/9","10.128.0.0/10"]`))), false},
		{"blocks of both kinds", on(address, "isoneof", `["::/0"]`, "isoneof", `["0.0.0.0/0"]`), true},
		{"after the addresses that stand for IPv4", append(on(address, "isoneof", `["::/16"]`), negated(constraint(address, "p", "isoneof", `["::/81"]`))), false},
		{"other properties", append(on(text, "eq", "a"), constraint(text, "q", "eq", "b")), false},
		{"an entity and a property", append(on(text, "eq", "a"), constraint(guidon.EntityIDComparison, "p", "eq", "b")), false},
		{"entities", []*guidon.Constraint{constraint(guidon.EntityIDComparison, "entityId", "eq", "a"), constraint(guidon.EntityIDComparison, "", "eq", "b")}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := flagtest.SnapshotOf(flagtest.VariantFlag("f", flagtest.Rule(nil, "s")), flagtest.Segment("s", guidon.MatchAll, tt.constraints...))
			step := reachOf(s, "f").Steps[0]
			if got := step.Cause == analysis.Unsatisfiable; got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			if got := len(step.Conflicts) > 0; got != tt.want {
				t.Errorf("got conflicts %v", step.Conflicts)
			}
		})
	}
}
