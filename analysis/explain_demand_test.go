package analysis_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// TestDemandsOfOneProperty compares what is decided about random outcomes of constraints on one
// property with a dense set of values. Everything must be decided unless a number or a time
// is also compared as a text.
func TestDemandsOfOneProperty(t *testing.T) {
	runs := 6000
	if testing.Short() {
		runs = 1000
	}
	random := rand.New(rand.NewPCG(4, 5))
	values := slices.Concat(wordsOf("ab ", 5), wordsOf("aq", 6), wordsOf(" \t", 3), []string{
		"4", "5", "5.0", "6", "5.5", "1e9", "-3", "1", "0", "+1", "+0", "0.5", "1.5", "NaN", "Inf", "-Inf", "2", "true", "f",
		"1.0", "1.0.0-a", "1.0.0-a.0", "1.0.0-b", "1.0.1-0", "2.0", "3", "0.0.0", "0.0.0-0", "[]", `["a"]`, `["b"]`, `["a","b"]`, `["a","b","c"]`, `["c"]`, `["b","c"]`,
		"10.0.0.0", "10.1.2.3", "10.1.2.4", "10.2.0.0", "11.0.0.0", "0.0.0.0", "255.255.255.255", "::", "::1", "::2", "::1:0:0:0", "::ffff:10.1.2.3",
		"2024-01-01", "2024-01-01T00:00:00Z", "2024-01-01T06:00:00Z", "2024-01-02", "2024-01-01T01:00:00Z", "2023-01-01", "2025-01-01",
	})
	counts := map[analysis.Verdict]int{}
	for n := range runs {
		kinds, mixed := comparedKinds[n%len(comparedKinds)], n%len(comparedKinds) == len(comparedKinds)-1
		match, fail := flagtest.Segment("match", guidon.MatchAll), flagtest.Segment("fail", guidon.MatchAny)
		for range 1 + random.IntN(5) {
			g := match
			if random.IntN(3) == 0 {
				g = fail
			}
			g.Constraints = append(g.Constraints, randomConstraint(random, kinds[random.IntN(len(kinds))]))
		}
		rules := []*guidon.Rule{flagtest.Rule(flagtest.Shares{100}, "fail"), flagtest.Rule(flagtest.Shares{0, 100}, "match")}
		if len(fail.Constraints) == 0 {
			rules = rules[1:]
		}
		s := flagtest.SnapshotOf(flagtest.VariantFlag("flag", rules...), match, fail)
		gives := func(value string) bool {
			result, err := s.Variant("flag", "user", map[string]string{"p": value})
			return err == nil && result.VariantKey == "B"
		}
		got := verdictOf(t, s, "B")
		counts[got]++
		if got == analysis.Undecided && !mixed {
			t.Fatalf("run %d: undecided: %s", n, constraintsOf([]*guidon.Segment{match, fail}))
		}
		if i := slices.IndexFunc(values, gives); i >= 0 && got == analysis.Impossible {
			t.Fatalf("run %d: impossible, but %q gives the result: %s", n, values[i], constraintsOf([]*guidon.Segment{match, fail}))
		}
		checkAgreement(t, s, "flag", "user", map[string]string{"p": values[random.IntN(len(values))]})
		if t.Failed() {
			return
		}
	}
	t.Logf("%d reachable, %d impossible, %d undecided", counts[analysis.Reachable], counts[analysis.Impossible], counts[analysis.Undecided])
	if counts[analysis.Reachable] < runs/5 || counts[analysis.Impossible] < runs/5 || counts[analysis.Undecided] > runs/20 {
		t.Error("the constraints are not varied enough")
	}
}

// comparison are constraints of a type.
type comparison struct {
	kind                guidon.ComparisonType
	operators, operands []string
}

var (
	textComparison = comparison{
		guidon.StringComparison, []string{"eq", "neq", "prefix", "suffix", "contains", "notcontains", "isoneof", "isnotoneof", "empty", "notempty"},
		[]string{"a", "ab", "b", "ba", " ", "a b", " a", "", `["a","ab"]`, `[""," "]`},
	}
	numberComparison = comparison{
		guidon.NumberComparison, []string{"eq", "neq", "lt", "lte", "gt", "gte", "isoneof", "isnotoneof", "present", "notpresent"},
		[]string{"0", "1", "2", "5", "NaN", "[1,5]", "[5]"},
	}
	timeComparison = comparison{
		guidon.DateTimeComparison, []string{"eq", "neq", "lt", "lte", "gt", "gte", "present", "notpresent"},
		[]string{"2024-01-01", "2024-01-02", "2024-01-01T06:00:00Z"},
	}
	booleanComparison = comparison{guidon.BooleanComparison, []string{"true", "false", "present", "notpresent"}, []string{""}}
	versionComparison = comparison{
		guidon.VersionComparison, []string{"eq", "neq", "lt", "lte", "gt", "gte", "present", "notpresent"},
		[]string{"1", "1.0.0-a", "1.0.0-a.0", "2", "v2.0.0+b", "0.0.0-0"},
	}
	listComparison = comparison{
		guidon.ListComparison, []string{"anyof", "allof", "allof", "present", "notpresent"},
		[]string{`["a"]`, `["a","b"]`, `["b","c"]`, `["a","b","c"]`, `["a"," "]`, `[]`},
	}
	addressComparison = comparison{
		guidon.AddressComparison, []string{"isoneof"},
		[]string{`["10.0.0.0/8"]`, `["10.1.0.0/16","::/127"]`, `["10.1.2.3"]`, `["::1","::"]`, `["10.0.0.0/9","10.128.0.0/9"]`, `["0.0.0.0/0"]`, `["::/0"]`},
	}
	patternComparison = comparison{guidon.PatternComparison, []string{"eq"}, []string{"a", "^a$", "^b", "."}}
)

// comparedKinds are the types of the constraints on a property. Only the last ones mix those
// that are not decided together.
var comparedKinds = [][]comparison{
	{textComparison}, {textComparison, textComparison, booleanComparison}, {numberComparison, numberComparison, booleanComparison},
	{timeComparison, timeComparison, numberComparison, booleanComparison}, {versionComparison}, {listComparison}, {addressComparison},
	{textComparison, numberComparison, timeComparison, versionComparison, listComparison, addressComparison, patternComparison},
}

func randomConstraint(random *rand.Rand, c comparison) *guidon.Constraint {
	one := constraint(c.kind, "p", c.operators[random.IntN(len(c.operators))], c.operands[random.IntN(len(c.operands))])
	one.Negate = random.IntN(4) == 0
	return one
}

// verdictOf returns whether the flag can return the variant.
func verdictOf(t *testing.T, s *guidon.Snapshot, variant string) analysis.Verdict {
	t.Helper()
	e, err := analysis.Explain(s, "flag", "user", map[string]string{"p": "other"})
	if err != nil {
		t.Fatal(err)
	}
	checkOthers(t, s, e, "user", map[string]string{"p": "other"})
	i := slices.IndexFunc(e.Others, func(o analysis.OtherResult) bool { return o.VariantKey == variant })
	if i < 0 {
		return analysis.Reachable // it is the result
	}
	return e.Others[i].Verdict
}
