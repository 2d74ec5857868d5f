package analysis

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon"
)

// DescribeAll returns the outcome that all entities have after the change in words, such as
// "everyone gets Off". It is empty if their outcomes differ, or no value changes.
func (e *Effect) DescribeAll() string {
	moved := func(m Move) bool { return !m.From.SameValue(m.To) }
	if e.Everyone == nil || !slices.ContainsFunc(e.Groups, func(g EffectGroup) bool { return slices.ContainsFunc(g.Moves, moved) }) {
		return ""
	}
	text := e.Everyone.text(e.Type)
	if e.Type == guidon.BooleanFlag && !e.Everyone.Absent {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return "everyone gets " + text
}

// Describe returns the move in words, such as "20% of those who match rule 3 go from classic
// to one-page". Rules are counted from 1, as they are after the change. Moves of a group that
// differ only in the rules that decide are one in words: all but the first have none.
func (e *Effect) Describe(g *EffectGroup, m *Move) string {
	words, buckets := e.describeMove(m), 0
	for i := range g.Moves {
		switch other := &g.Moves[i]; {
		case e.describeMove(other) != words:
		case buckets == 0 && (other.FromStep != m.FromStep || other.ToStep != m.ToStep):
			return ""
		default:
			buckets += other.Buckets
		}
	}
	return e.describeShare(g, buckets) + " " + words
}

// describeShare returns who gets another outcome, so many buckets of the group.
func (e *Effect) describeShare(g *EffectGroup, buckets int) string {
	group := e.describeGroup(g)
	switch {
	case buckets < e.Buckets:
		return strconv.FormatFloat(float64(buckets)*100/float64(e.Buckets), 'f', -1, 64) + "% of " + group
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
	case g.UnmetAfter != "":
		return fmt.Sprintf("those for whom %s is not as required", g.UnmetAfter)
	case g.UnmetBefore != "" && g.After == NoStep:
		return fmt.Sprintf("those for whom %s was not as required", g.UnmetBefore)
	case g.Before == NoStep && g.After == NoStep && e.Conditional:
		return "the others"
	case g.Before == NoStep && g.After == NoStep:
		return "those in none of the segments"
	case e.paired(g.Before, g.After):
		return fmt.Sprintf("those who match rule %d%s", g.After+1, g.Part)
	case g.Before == NoStep:
		return fmt.Sprintf("those who newly match rule %d%s", g.After+1, g.Part)
	}
	former := "the removed rule for " + guidon.Shorten(strings.Join(g.RemovedSegments, ", "), maxSaid)
	for _, pair := range e.Steps {
		if pair.Before == g.Before && pair.After != NoStep {
			former = fmt.Sprintf("rule %d", pair.After+1)
		}
	}
	switch {
	case g.After != NoStep:
		return fmt.Sprintf("those who match rule %d%s instead of %s", g.After+1, g.Part, former)
	case len(g.RemovedSegments) > 0:
		return "those who matched " + former
	}
	return "those who no longer match " + former
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
	return before != NoStep && after != NoStep && slices.Contains(e.Steps, StepPair{before, after})
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
	case o.VariantKey == "" && o.Reason == guidon.ReasonDefault:
		return "the default in the code"
	case o.VariantKey == "":
		return "no variant"
	case o.Reason == guidon.ReasonDefault:
		return o.VariantKey + " (default)"
	}
	return o.VariantKey
}

// PercentWords returns the number with a percent sign and at most three decimals, which are as
// many as shares have.
func PercentWords(percentage float32) string {
	return strconv.FormatFloat(math.Round(float64(percentage)*1000)/1000, 'f', -1, 64) + "%"
}
