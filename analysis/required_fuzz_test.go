package analysis_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// FuzzRequirements is FuzzConditions for flags and rules that require other flags, which change too.
func FuzzRequirements(f *testing.F) {
	seedEdits(f)
	f.Fuzz(checkRequirements)
}

// TestRequirementsAtRandom is FuzzRequirements for inputs at random.
func TestRequirementsAtRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		data := make([]byte, 300+random.IntN(900))
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		if checkRequirements(t, data, []string{"5", "a b", "2024-01-01", ""}[random.IntN(4)]); t.Failed() {
			return
		}
	}
}

func checkRequirements(t *testing.T, data []byte, value string) {
	t.Helper()
	input := flagtest.NewTargetedInput(data)
	now := input.Minute()
	before, after := requiringEdit(input, value)
	before, after = before.At(now), after.At(now)
	if before.Flag("flag").Type > guidon.BooleanFlag {
		return
	}
	for _, s := range []*guidon.Snapshot{before, after} {
		for _, u := range fuzzUsers(value) {
			for _, key := range []string{"flag", "r0", "r1"} {
				if _, err := analysis.Decide(s, key, u.id, u.context); err != nil {
					return // a constraint of an unknown type
				}
			}
		}
	}
	checkReach(t, before, value)
	checkSummary(t, before, value)
	checkMoves(t, before, after, value)
	checkExplanations(t, before, value)
	checkDependents(t, before, after, value)
}

// requiringEdit is editOf with flags that are required.
func requiringEdit(input *flagtest.FuzzInput, value string) (before, after *guidon.Snapshot) {
	before, after = editOf(input, value)
	flag, edited := before.Flag("flag"), after.Flag("flag")
	others := input.Require(flag)
	if input.Bool() {
		others[1].Requires = []guidon.Requirement{{FlagKey: "r0", Answers: []string{"true", "key-a"}}}
	}
	changed := slices.Clone(others)
	switch edited.Requires = flag.Requires; input.Below(4) {
	case 1:
		changed[input.Below(2)] = named("r0", input.Flag())
	case 2:
		changed[1] = input.Require(edited)[1]
	case 3: // only the required flag changes
		after, edited = before, flag
		changed[0] = named("r0", input.Flag())
	}
	if changed[1].Key == "r0" {
		changed = changed[:1]
	}
	return requiringSnapshot(before, flag, others), requiringSnapshot(after, edited, changed)
}

func named(key string, f *guidon.Flag) *guidon.Flag {
	f.Key = key
	return f
}

func requiringSnapshot(s *guidon.Snapshot, f *guidon.Flag, others []*guidon.Flag) *guidon.Snapshot {
	return guidon.NewSnapshot(s.Namespace(), guidon.Revision{Number: 1}, append([]*guidon.Flag{f}, others...), s.Segments())
}

// checkDependents checks that the effect of a change of the required flag r0 on a flag that does not
// change itself is said.
func checkDependents(t *testing.T, before, after *guidon.Snapshot, value string) {
	t.Helper()
	if before.Flag("flag") != after.Flag("flag") {
		return
	}
	e := effectOf(before, after, "r0")
	if e.Truncated {
		return
	}
	said := slices.ContainsFunc(e.Dependents, func(d analysis.DependentEffect) bool { return d.FlagKey == "flag" })
	for _, u := range fuzzUsers(value) {
		if from, to := outcomeOf(before, u), outcomeOf(after, u); !said && !from.SameValue(to) {
			t.Errorf("%v: %+v becomes %+v, which the effect of r0 does not say", u, from, to)
		}
	}
}
