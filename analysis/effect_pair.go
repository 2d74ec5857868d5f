package analysis

import (
	"encoding/json"
	"fmt"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
)

// pairSteps returns the rules of variant flags, or the rollouts of boolean flags, of both
// states, in the order of the state after and then those that no longer exist. They are
// paired by id, then by content, then by what they match.
func pairSteps(before, after *guidon.Flag) []StepPair {
	old, current := stepNames(before, after.Type), stepNames(after, after.Type)
	p := lists.NewPairing(len(old), len(current))
	for level := range 3 {
		p.By(func(i int) string { return old[i][level] }, func(i int) string { return current[i][level] })
	}
	pairs := make([]StepPair, len(current))
	for i, from := range p.From {
		pairs[i] = StepPair{from, i} // NoStep is -1 too
	}
	for i, taken := range p.Taken {
		if !taken {
			pairs = append(pairs, StepPair{i, NoStep})
		}
	}
	return pairs
}

// stepNames returns three texts by which each rule or rollout is recognized, the most certain
// first. An empty one stands for nothing.
func stepNames(f *guidon.Flag, t guidon.FlagType) (names [][]string) {
	if t == guidon.BooleanFlag {
		for _, r := range f.Rollouts {
			names = append(names, rolloutNames(r))
		}
		return names
	}
	for _, r := range f.Rules {
		names = append(names, ruleNames(f, r))
	}
	return names
}

func ruleNames(f *guidon.Flag, r *guidon.Rule) []string {
	who := targetName(r.SegmentKeys, r.SegmentOperator, r.Stated())
	content := who + encode(r.Stated().Portion, r.Split, r.CodeDefault)
	for _, d := range r.Distributions {
		key := ""
		if v := f.Variant(d.VariantID); v != nil {
			key = v.Key
		}
		content += fmt.Sprintf(" %q %v", key, d.Rollout)
	}
	return []string{r.ID, content, who}
}

func rolloutNames(r *guidon.Rollout) []string {
	switch {
	case r.Segment != nil:
		who := targetName(r.Segment.SegmentKeys, r.Segment.SegmentOperator, r.Stated())
		return []string{r.ID, fmt.Sprint(who, r.Segment.Value, encode(r.Stated().Portion)), who}
	case r.Threshold != nil:
		return []string{r.ID, encode(r.Threshold), fmt.Sprint("threshold ", r.Threshold.Value)}
	}
	return []string{r.ID, "", ""}
}

// targetName returns a text that is equal for rules that are for the same entities, but perhaps for
// other portions of them.
func targetName(keys []string, operator guidon.SegmentOperator, c *guidon.Conditions) string {
	return fmt.Sprintf("%q %d %s", keys, operator, encode(c.Groups, c.ExceptSegmentKeys, c.Everyone))
}

// encode returns a text that is equal for equal values.
func encode(values ...any) string {
	text, _ := json.Marshal(values)
	return string(text)
}
