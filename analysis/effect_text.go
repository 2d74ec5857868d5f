package analysis

import (
	"fmt"
	"strconv"

	"github.com/guidonhq/guidon"
)

// Describe returns the move in words, such as "20% of those who match rule 3 go from classic
// to one-page". Rules are counted from 1, as they are in the state that the words are about.
func (e *Effect) Describe(g *EffectGroup, m *Move) string {
	return e.describeShare(g, m) + " " + e.describeMove(m)
}

// describeShare returns who gets another outcome.
func (e *Effect) describeShare(g *EffectGroup, m *Move) string {
	group := e.describeGroup(g)
	switch {
	case m.Buckets < e.Buckets:
		return strconv.FormatFloat(float64(m.Buckets)*100/float64(e.Buckets), 'f', -1, 64) + "% of " + group
	case g.Who == Everyone:
		return group
	}
	return "all " + group
}

// describeGroup returns who is in the group.
func (e *Effect) describeGroup(g *EffectGroup) string {
	switch {
	case g.Who == Everyone:
		return "all entities"
	case g.Before == NoStep && g.After == NoStep:
		return "those in none of the segments"
	case e.paired(g.Before, g.After):
		return fmt.Sprintf("those who match rule %d", g.After+1)
	case g.After == NoStep:
		return "those who no longer match " + e.former(g.Before)
	case g.Before == NoStep:
		return fmt.Sprintf("those who newly match rule %d", g.After+1)
	}
	return fmt.Sprintf("those who go from %s to rule %d", e.former(g.Before), g.After+1)
}

// former returns the rule at the index before the change.
func (e *Effect) former(index int) string {
	if e.paired(index, index) {
		return fmt.Sprintf("rule %d", index+1)
	}
	return fmt.Sprintf("the former rule %d", index+1)
}

func (e *Effect) describeMove(m *Move) string {
	from, to := m.From.text(e.Type), m.To.text(e.Type)
	switch {
	case m.From.SameValue(m.To):
		return "keep " + to + ", for another reason"
	case from == to:
		return "keep " + to + ", with another attachment"
	}
	return "go from " + from + " to " + to
}

// paired reports whether the rule is the same one before and after.
func (e *Effect) paired(before, after int) bool {
	for _, pair := range e.Steps {
		if before != NoStep && after != NoStep && pair == (StepPair{before, after}) {
			return true
		}
	}
	return false
}

// text returns the outcome of a flag of the type in words.
func (o Outcome) text(t guidon.FlagType) string {
	switch {
	case o.Absent:
		return "no flag"
	case o.Fails:
		return "an error"
	case t == guidon.BooleanFlag && o.Enabled:
		return "on"
	case t == guidon.BooleanFlag:
		return "off"
	case o.VariantKey == "":
		return "no variant"
	case o.Reason == guidon.ReasonDefault:
		return o.VariantKey + " (default)"
	}
	return o.VariantKey
}
