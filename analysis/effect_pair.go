package analysis

import (
	"fmt"

	"github.com/guidonhq/guidon"
)

// pairSteps returns the rules of variant flags, or the rollouts of boolean flags, of both
// states, in the order of the state after and then those that no longer exist. They are
// paired by id, then by content, then by what they match.
func pairSteps(before, after *guidon.Flag) []StepPair {
	if after.Type == guidon.BooleanFlag {
		return pairBy(len(before.Rollouts), len(after.Rollouts),
			func(i int) []string { return rolloutNames(before.Rollouts[i]) },
			func(i int) []string { return rolloutNames(after.Rollouts[i]) })
	}
	return pairBy(len(before.Rules), len(after.Rules),
		func(i int) []string { return ruleNames(before, before.Rules[i]) },
		func(i int) []string { return ruleNames(after, after.Rules[i]) })
}

// ruleNames returns texts by which the rule is recognized, the most certain first.
func ruleNames(f *guidon.Flag, r *guidon.Rule) []string {
	who := fmt.Sprintf("%q %d", r.SegmentKeys, r.SegmentOperator)
	content := who
	for _, d := range r.Distributions {
		key := ""
		if v := f.Variant(d.VariantID); v != nil {
			key = v.Key
		}
		content += fmt.Sprintf(" %q %v", key, d.Rollout)
	}
	return []string{r.ID, content, who}
}

// rolloutNames returns texts by which the rollout is recognized, the most certain first.
func rolloutNames(r *guidon.Rollout) []string {
	switch {
	case r.Segment != nil:
		who := fmt.Sprintf("%q %d", r.Segment.SegmentKeys, r.Segment.SegmentOperator)
		return []string{r.ID, fmt.Sprint(who, r.Segment.Value), who}
	case r.Threshold != nil:
		return []string{r.ID, fmt.Sprint(*r.Threshold), fmt.Sprint("threshold ", r.Threshold.Value)}
	}
	return []string{r.ID, "", ""}
}

// pairBy pairs the items of two lists. names returns as many texts for every item; an
// earlier one that is equal and not empty counts more than a later one.
func pairBy(before, after int, namesBefore, namesAfter func(i int) []string) []StepPair {
	old, current := namesOf(before, namesBefore), namesOf(after, namesAfter)
	pairs := make([]StepPair, after)
	for j := range pairs {
		pairs[j] = StepPair{NoStep, j}
	}
	used := make([]bool, before)
	for level := range 3 {
		free := map[string][]int{}
		for i, names := range old {
			if !used[i] {
				free[names[level]] = append(free[names[level]], i)
			}
		}
		for j, names := range current {
			same := free[names[level]]
			if pairs[j].Before != NoStep || names[level] == "" || len(same) == 0 {
				continue
			}
			pairs[j].Before, used[same[0]] = same[0], true
			free[names[level]] = same[1:]
		}
	}
	for i := range used {
		if !used[i] {
			pairs = append(pairs, StepPair{i, NoStep})
		}
	}
	return pairs
}

func namesOf(n int, names func(i int) []string) [][]string {
	list := make([][]string, n)
	for i := range list {
		list[i] = names(i)
	}
	return list
}
