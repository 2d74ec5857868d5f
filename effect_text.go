package guidon

import (
	"fmt"
	"strconv"
	"strings"
)

// Describe returns the move in words, such as "20 % of those who reach rule 3 move from
// classic to one-page". Rules and rollouts are counted from 1, as they are in the state
// that the words are about.
func (e *Effect) Describe(g *EffectGroup, m *Move) string {
	share := strconv.FormatFloat(float64(m.Buckets)*100/float64(e.Buckets), 'f', -1, 64)
	return fmt.Sprintf("%s %% of %s move from %s to %s%s", share, e.describeGroup(g), m.From.text(), m.To.text(), g.caveat())
}

func (e *Effect) describeGroup(g *EffectGroup) string {
	kind := "rule"
	if e.Type == BooleanFlag {
		kind = "rollout"
	}
	switch {
	case g.Who == Everyone:
		return "all entities"
	case g.Before == NoStep && g.After == NoStep:
		return fmt.Sprintf("those whom %s matches", numbered(kind, NoStep))
	case e.paired(g.Before, g.After):
		return fmt.Sprintf("those who reach %s %d", kind, g.After+1)
	}
	return fmt.Sprintf("those whom %s matched before and %s matches now", numbered(kind, g.Before), numbered(kind, g.After))
}

// paired reports whether the rule or rollout is the same one before and after.
func (e *Effect) paired(before, after int) bool {
	for _, pair := range e.Steps {
		if before != NoStep && after != NoStep && pair == (StepPair{before, after}) {
			return true
		}
	}
	return false
}

func numbered(kind string, index int) string {
	switch {
	case index != NoStep:
		return fmt.Sprintf("%s %d", kind, index+1)
	case kind == "rollout": // thresholds are not what the group is about
		return "no rollout with segments"
	}
	return "no rule"
}

// caveat says what is not known about the group.
func (g *EffectGroup) caveat() string {
	if g.Who != ByChangedMatch {
		return ""
	}
	return fmt.Sprintf("; who they are depends on the changed segments %s", strings.Join(g.ChangedSegments, ", "))
}

// text returns the outcome in words.
func (o Outcome) text() string {
	switch {
	case o.Absent:
		return "no flag"
	case o.Fails:
		return "an error"
	case o.Reason == ReasonUnknown:
		return "no variant"
	case o.VariantKey == "" && o.Reason == ReasonFlagDisabled:
		return "no variant (disabled)"
	case o.VariantKey != "" && o.Reason == ReasonFlagDisabled:
		return o.VariantKey + " (disabled)"
	case o.VariantKey != "" && o.Reason == ReasonDefault:
		return o.VariantKey + " (default)"
	case o.VariantKey != "":
		return o.VariantKey
	case o.Match:
		return "a match without a variant"
	}
	return strconv.FormatBool(o.Enabled)
}
