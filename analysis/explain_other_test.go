package analysis_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// TestOthersAreSmallest compares the other results of random small flags with those that all
// contexts of a dense set of values give. The values distinguish all outcomes that the
// constraints of these flags can have.
func TestOthersAreSmallest(t *testing.T) {
	runs := 200
	if testing.Short() {
		runs = 100
	}
	reachable, smallest, impossible, undecided := 0, 0, 0, 0
	for seed := range runs {
		r := newRandomFlags(uint64(seed), 1)
		flag, segments := r.flag(), r.segments()
		s := flagtest.SnapshotOf(flag, segments...)
		entityID := []string{"u1", "u2", "u3", ""}[r.IntN(4)]
		context := r.context()
		e, err := analysis.Explain(s, flag.Key, entityID, context)
		if err != nil {
			t.Fatal(err)
		}
		checkOthers(t, s, e, entityID, context)
		costs := costsOfAll(t, s, flag, entityID, context, r.typed)
		for i := range e.Others {
			o := &e.Others[i]
			least, found := costs[resultOf(o)]
			delete(costs, resultOf(o))
			switch o.Verdict {
			case analysis.Reachable:
				reachable++
				if !found {
					t.Errorf("seed %d: %+v: no context of the set gives the result", seed, o)
				}
				if o.Smallest {
					smallest++
					if got := changedOutcomes(o); got != least {
						t.Errorf("seed %d: %+v: got %d outcomes, the smallest set has %d", seed, o, got, least)
					}
				}
			case analysis.Undecided:
				undecided++
			case analysis.Impossible:
				impossible++
				if found {
					t.Errorf("seed %d: %+v: a context gives the result, with %d outcomes", seed, o, least)
				}
			}
		}
		delete(costs, resultOfExplanation(e))
		if len(costs) > 0 {
			t.Errorf("seed %d: not among the other results: %v", seed, costs)
		}
		if t.Failed() {
			t.Fatalf("seed %d: flag %s", seed, flagJSON(flag, segments))
		}
	}
	t.Logf("%d reachable (%d certainly the smallest), %d impossible, %d undecided", reachable, smallest, impossible, undecided)
	if reachable < runs/4 || impossible < runs/4 || smallest < reachable/2 || undecided > runs/20 {
		t.Error("the flags are not varied enough")
	}
}

// TestOthersCountThePath checks that only constraints of the steps that are tried count, and
// that there may be more than 64 of a property.
func TestOthersCountThePath(t *testing.T) {
	const text = guidon.StringComparison
	rules := []*guidon.Rule{flagtest.Rule(flagtest.Shares{0, 100}, "uv"), flagtest.Rule(flagtest.Shares{0, 0, 100}, "later")}
	segments := []*guidon.Segment{
		flagtest.Segment("uv", guidon.MatchAny, is(text, guidon.OpIsOneOf, `["v","u"]`), is(text, guidon.OpEQ, "v")),
		flagtest.Segment("later", guidon.MatchAny, is(text, guidon.OpPrefix, "u"), is(text, guidon.OpEQ, "u"), is(text, guidon.OpIsOneOf, `["u"]`)),
	}
	for i := range 70 {
		key := fmt.Sprint("w", i)
		rules = append(rules, flagtest.Rule(flagtest.Shares{100}, key))
		segments = append(segments, flagtest.Segment(key, guidon.MatchAll, is(text, guidon.OpEQ, key)))
	}
	rules = append(rules, flagtest.Rule(flagtest.Shares{0, 0, 0, 100}, "last"))
	segments = append(segments, flagtest.Segment("last", guidon.MatchAll, is(text, guidon.OpEQ, "last")))
	s := flagtest.SnapshotOf(flagtest.VariantFlag("f", rules...), segments...)
	context := map[string]string{"p": "w40"}
	e := mustExplain(t, s, "user-1", context)
	checkOthers(t, s, e, "user-1", context)
	var got []string
	for i := range e.Others {
		if o := &e.Others[i]; o.Verdict == analysis.Reachable {
			got = append(got, fmt.Sprintf("%s: %s, %d", o.VariantKey, o.Changes[0].Example, changedOutcomes(o)))
		}
	}
	// The constraint for w40 counts for the last rule and for none.
	want := []string{"B: u, 1", "C: ux, 1", "D: last, 2", ": x, 1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results with their values and numbers of outcomes (-want +got):\n%s", diff)
	}
}

// result identifies a result of a flag.
type result struct {
	match, enabled bool
	variant        string
}

func resultOf(o *analysis.OtherResult) result { return result{o.Match, o.Enabled, o.VariantKey} }

func resultOfExplanation(e *analysis.Explanation) result {
	if e.Boolean != nil {
		return result{enabled: e.Boolean.Enabled}
	}
	return result{match: e.Variant.Match, variant: e.Variant.VariantKey}
}

// costsOfAll returns, for each result that a context of the set gives, the smallest number of
// outcomes that differ from those with the given context.
func costsOfAll(
	t *testing.T, s *guidon.Snapshot, flag *guidon.Flag, entityID string, context map[string]string, typed guidon.ComparisonType,
) map[result]int {
	t.Helper()
	costs := make(map[result]int)
	paths := constraintsOfPaths(s, flag)
	changes := changesOf(paths[len(paths)-1], entityID, context, typed)
	for _, a := range stringValues {
		for _, n := range typedValues[typed] {
			for _, b := range mixedValues {
				tried := map[string]string{"a": a, "n": n, "b": b}
				e, err := analysis.Decide(s, flag.Key, entityID, tried)
				if err != nil {
					t.Fatal(err)
				}
				last := e.Decided
				if last < 0 {
					last = len(paths) - 2
				}
				cost := 0
				for c := range paths[last+1] {
					if changes[c][tried[c.property]] {
						cost++
					}
				}
				key := resultOfExplanation(e)
				if least, found := costs[key]; !found || cost < least {
					costs[key] = cost
				}
			}
		}
	}
	return costs
}

// constraintsOfPaths returns the different constraints of the first steps of the flag: of none
// of them, of the first, of the first two, and so on.
func constraintsOfPaths(s *guidon.Snapshot, flag *guidon.Flag) []map[outcomeKey]bool {
	var keys [][]string
	for _, r := range flag.Rules {
		keys = append(keys, r.SegmentKeys)
	}
	for _, r := range flag.Rollouts {
		if r.Segment == nil {
			keys = append(keys, nil)
		} else {
			keys = append(keys, r.Segment.SegmentKeys)
		}
	}
	paths := []map[outcomeKey]bool{{}}
	for _, of := range keys {
		path := maps.Clone(paths[len(paths)-1])
		if !slices.Contains(of, "lost") { // evaluations skip the step
			for _, key := range of {
				for _, c := range s.Segment(key).Constraints {
					path[keyOf(c)] = true
				}
			}
		}
		paths = append(paths, path)
	}
	return paths
}

// changesOf returns, for each constraint, the values that give it the other outcome than it has
// with the context. Constraints on the entity's id have none.
func changesOf(
	constraints map[outcomeKey]bool, entityID string, context map[string]string, typed guidon.ComparisonType,
) map[outcomeKey]map[string]bool {
	changes := make(map[outcomeKey]map[string]bool)
	for key := range constraints {
		changes[key] = make(map[string]bool)
		c := &guidon.Constraint{Type: key.kind, Property: key.property, Operator: key.operator, Value: key.value, Negate: key.negate}
		now := matchesAlone(c, entityID, context)
		for _, value := range map[string][]string{"a": stringValues, "n": typedValues[typed], "b": mixedValues}[key.property] {
			changes[key][value] = matchesAlone(c, entityID, map[string]string{key.property: value}) != now
		}
	}
	return changes
}

// The values of each property. Property b has constraints of several types.
var (
	stringValues = append(wordsOf("xyq", 4), " ")
	mixedValues  = []string{"", " ", "true", "f", "q", "2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04T00:00:00Z"}
)

// typedValues are the values of property n, by the type of its constraints.
var typedValues = map[guidon.ComparisonType][]string{
	guidon.NumberComparison:  {"", "q", "0", "1", "1.5", "2", "2.5", "3", "4", "NaN"},
	guidon.VersionComparison: {"", "q", "0.9", "1.0.0-a", "1.0.0-a.0", "1.0.0-b", "1.0.0", "1.0.1-0", "1.5", "2", "2.0.1"},
	guidon.ListComparison:    {"", "q", "x", "y", "[]", `["x","y"]`, `["x","y","z"]`, `["z"]`, `["x","z"]`, `["y","z"]`},
	guidon.AddressComparison: {"", "q", "10.0.0.0", "10.1.0.0", "10.1.2.3", "11.0.0.0", "::1", "::2"},
}

// wordsOf returns all words of the letters up to a length, starting with the empty one.
func wordsOf(letters string, length int) []string {
	words := []string{""}
	for from, n := 0, 0; n < length; n++ {
		to := len(words)
		for _, word := range words[from:to] {
			for _, letter := range letters {
				words = append(words, word+string(letter))
			}
		}
		from = to
	}
	return words
}

// randomFlags makes small flags, which have few different constraints.
type randomFlags struct {
	*rand.Rand
	typed guidon.ComparisonType // of the constraints on n
}

func newRandomFlags(seed, stream uint64) *randomFlags {
	types := []guidon.ComparisonType{guidon.NumberComparison, guidon.VersionComparison, guidon.ListComparison, guidon.AddressComparison}
	return &randomFlags{rand.New(rand.NewPCG(seed, stream)), types[seed%4]}
}

func (r *randomFlags) of(values ...string) string { return values[r.IntN(len(values))] }

func (r *randomFlags) context() map[string]string {
	return map[string]string{
		"a": r.of(stringValues...), "n": r.of(typedValues[r.typed]...), "b": r.of(mixedValues...),
	}
}

func (r *randomFlags) constraint() *guidon.Constraint {
	c := r.comparison()
	c.Negate = r.IntN(4) == 0
	return c
}

func (r *randomFlags) comparison() *guidon.Constraint {
	switch r.IntN(8) {
	case 0, 1:
		return &guidon.Constraint{Type: guidon.StringComparison, Property: "a", Operator: r.of("eq", "neq", "prefix", "suffix"), Value: r.of("x", "y", "xy", "yx")}
	case 2:
		return &guidon.Constraint{Type: guidon.StringComparison, Property: "a", Operator: r.of("isoneof", "isnotoneof", "empty", "notempty"), Value: `["x","yx"]`}
	case 3:
		return &guidon.Constraint{Type: guidon.StringComparison, Property: "a", Operator: r.of("contains", "notcontains"), Value: r.of("x", "yx")}
	case 4, 5:
		return r.typedComparison()
	case 6:
		if r.IntN(3) == 0 {
			return &guidon.Constraint{Type: guidon.EntityIDComparison, Property: "entityId", Operator: r.of("eq", "neq", "isoneof"), Value: r.of("u1", "u2", `["u1","u2"]`)}
		}
		return &guidon.Constraint{Type: guidon.DateTimeComparison, Property: "b", Operator: r.of("eq", "lt", "lte", "gt", "gte", "neq", "isoneof"), Value: r.of("2024-01-02", "2024-01-03")}
	}
	return &guidon.Constraint{Type: guidon.BooleanComparison, Property: "b", Operator: r.of("true", "false", "present", "notpresent")}
}

func (r *randomFlags) typedComparison() *guidon.Constraint {
	ordered := r.of("eq", "neq", "lt", "lte", "gt", "gte", "present", "notpresent")
	switch r.typed {
	case guidon.VersionComparison:
		return constraint(r.typed, "n", ordered, r.of("1", "v1.0.0-a", "2.0+x", "no version"))
	case guidon.ListComparison:
		return constraint(r.typed, "n", r.of("anyof", "allof"), r.of(`["x"]`, `["x","y"]`, `["y","z"]`, `[]`, "x"))
	case guidon.AddressComparison:
		return constraint(r.typed, "n", "isoneof", r.of(`["10.0.0.0/8"]`, `["10.1.0.0/16","::1"]`, `["10.1.2.3"]`, `[]`, `["::/0"]`))
	}
	return constraint(r.typed, "n", ordered, r.of("1", "2", "3", "not a number"))
}

func (r *randomFlags) segments() (segments []*guidon.Segment) {
	for _, key := range []string{"s0", "s1", "s2", "s3"} {
		g := flagtest.Segment(key, guidon.MatchType(r.IntN(2)))
		for range r.IntN(4) {
			g.Constraints = append(g.Constraints, r.constraint())
		}
		segments = append(segments, g)
	}
	return segments
}

func (r *randomFlags) segmentKeys() (keys []string) {
	for range 1 + r.IntN(5)/2 {
		if key := r.of("s0", "s1", "s2", "s3", "s3", "s2", "lost"); len(keys) == 0 || keys[len(keys)-1] != key {
			keys = append(keys, key)
		}
	}
	return keys
}

func (r *randomFlags) flag() *guidon.Flag {
	if r.IntN(2) == 0 {
		var rollouts []*guidon.Rollout
		for range r.IntN(5) {
			if r.IntN(4) == 0 {
				rollouts = append(rollouts, flagtest.Threshold(float32(r.IntN(101)), r.IntN(2) == 0))
			} else {
				rollouts = append(rollouts, flagtest.SegmentRollout(r.IntN(2) == 0, guidon.SegmentOperator(r.IntN(2)), r.segmentKeys()...))
			}
		}
		return flagtest.BooleanFlag("flag", r.IntN(2) == 0, rollouts...)
	}
	var rules []*guidon.Rule
	for range r.IntN(5) {
		shares := []flagtest.Shares{nil, {100}, {0, 100}, {50, 50}, {0, 0, 100}, {30, 0, 30}, {0.05, 60, 40}}[r.IntN(7)]
		rule := flagtest.Rule(shares, r.segmentKeys()...)
		rule.SegmentOperator = guidon.SegmentOperator(r.IntN(2))
		rules = append(rules, rule)
	}
	flag := flagtest.VariantFlag("flag", rules...)
	flag.Variants = flag.Variants[:4]
	if r.IntN(2) == 0 {
		flag = flagtest.WithDefault(flag, r.of("A", "D"))
	}
	if r.IntN(20) == 0 {
		flag = flagtest.Disabled(flag)
	}
	return flag
}

// flagJSON returns the flag and its segments as JSON.
func flagJSON(flag *guidon.Flag, segments []*guidon.Segment) string {
	text, err := json.MarshalIndent(map[string]any{"flag": flag, "segments": segments}, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}
