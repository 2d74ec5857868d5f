package analysis

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon"
)

// Describe returns the move in words, such as "20 % of those who reach rule 3 move from
// classic to one-page". Rules and rollouts are counted from 1, as they are in the state
// that the words are about. Pages say which outcome people get, but not why.
func (e *Effect) Describe(v Vocabulary, g *EffectGroup, m *Move) string {
	return e.describeShare(v, g, m) + " " + e.describeMove(v, m) + v.Pick(g.caveat(), "")
}

// describeShare returns who gets another outcome.
func (e *Effect) describeShare(v Vocabulary, g *EffectGroup, m *Move) string {
	share := strconv.FormatFloat(float64(m.Buckets)*100/float64(e.Buckets), 'f', -1, 64)
	group := e.describeGroup(v, g)
	switch {
	case v == APIWords:
		return share + " % of " + group
	case m.Buckets == e.Buckets:
		return strings.TrimSuffix("all "+group, " ")
	case group == "":
		return share + "%"
	}
	return share + "% of those " + group
}

// describeGroup returns who is in the group: for pages as a clause, which is empty for
// everyone.
func (e *Effect) describeGroup(v Vocabulary, g *EffectGroup) string {
	kind := v.step(e.Type)
	switch {
	case g.Who == Everyone:
		return v.Pick("all entities", "")
	case g.Before == NoStep && g.After == NoStep:
		return v.Pick("those whom "+numbered(e.Type, NoStep)+" matches", "in none of the segments")
	case e.paired(g.Before, g.After):
		return fmt.Sprintf("%s %s %d", v.Pick("those who reach", "who match"), kind, g.After+1)
	case v == APIWords:
		return fmt.Sprintf("those whom %s matched before and %s matches now", numbered(e.Type, g.Before), numbered(e.Type, g.After))
	case g.After == NoStep:
		return "who no longer match " + e.former(kind, g.Before)
	case g.Before == NoStep:
		return fmt.Sprintf("who newly match %s %d", kind, g.After+1)
	}
	return fmt.Sprintf("who go from %s to %s %d", e.former(kind, g.Before), kind, g.After+1)
}

// former returns the rule or rollout at the index before the change.
func (e *Effect) former(kind string, index int) string {
	if e.paired(index, index) {
		return fmt.Sprintf("%s %d", kind, index+1)
	}
	return fmt.Sprintf("the former %s %d", kind, index+1)
}

func (e *Effect) describeMove(v Vocabulary, m *Move) string {
	from, to := m.From.text(v, e.Type), m.To.text(v, e.Type)
	switch {
	case v == PageWords && m.From.SameValue(m.To):
		return "keep " + to + ", for another reason"
	case v == PageWords && from == to:
		return "keep " + to + ", with another attachment"
	case v == PageWords && e.Type == guidon.BooleanFlag:
		return "go from " + from + " to " + to
	}
	return "move from " + from + " to " + to
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

// numbered returns the rule or rollout at the index, in the words of the API.
func numbered(t guidon.FlagType, index int) string {
	switch {
	case index != NoStep:
		return fmt.Sprintf("%s %d", APIWords.step(t), index+1)
	case t == guidon.BooleanFlag: // the group does not depend on thresholds
		return "no rollout with segments"
	}
	return "no rule"
}

// caveat says which facts about the group are unknown.
func (g *EffectGroup) caveat() string {
	if g.Who != ByChangedMatch {
		return ""
	}
	return fmt.Sprintf("; who they are depends on the changed segments %s", strings.Join(g.ChangedSegments, ", "))
}

// text returns the outcome of a flag of the type in words.
func (o Outcome) text(v Vocabulary, t guidon.FlagType) string {
	switch {
	case o.Absent:
		return "no flag"
	case o.Fails:
		return "an error"
	case v == PageWords:
		return o.value(t)
	case o.Reason == guidon.ReasonUnknown:
		return "no variant"
	case o.VariantKey == "" && o.Reason == guidon.ReasonFlagDisabled:
		return "no variant (disabled)"
	case o.VariantKey != "" && o.Reason == guidon.ReasonFlagDisabled:
		return o.VariantKey + " (disabled)"
	case o.VariantKey != "" && o.Reason == guidon.ReasonDefault:
		return o.VariantKey + " (default)"
	case o.VariantKey != "":
		return o.VariantKey
	case o.Match:
		return "a match without a variant"
	}
	return strconv.FormatBool(o.Enabled)
}

// value returns the outcome of a flag of the type in words.
func (o Outcome) value(t guidon.FlagType) string {
	switch {
	case t == guidon.BooleanFlag && o.Enabled:
		return "on"
	case t == guidon.BooleanFlag:
		return "off"
	case o.VariantKey == "":
		return "nothing"
	}
	return o.VariantKey
}
