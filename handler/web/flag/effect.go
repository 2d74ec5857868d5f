package flag

import (
	"fmt"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// maxMoves limits the sentences about an effect.
const maxMoves = 20

// effectWords returns what changes for people, a sentence for each share of them.
func effectWords(e *guidonv1.FlagEffect) (sentences []string) {
	w := effectWriter{e, e.GetType() == flipt.FlagType_BOOLEAN_FLAG_TYPE}
	more := 0
	for _, g := range e.GetGroups() {
		for _, m := range g.GetMoves() {
			switch {
			case m.GetSameValue():
			case len(sentences) == maxMoves:
				more++
			default:
				sentences = append(sentences, w.sentence(g, m))
			}
		}
	}
	switch {
	case e.GetTypeChanged():
		return []string{"The type changes: code that asks for the former type gets an error."}
	case len(sentences) == 0 && !e.GetTruncated():
		return []string{"Nobody gets anything else."}
	case more > 0 || e.GetTruncated():
		sentences = append(sentences, "There are more groups for whom something changes.")
	}
	return sentences
}

type effectWriter struct {
	effect  *guidonv1.FlagEffect
	boolean bool
}

func (w effectWriter) sentence(g *guidonv1.EffectGroup, m *guidonv1.EffectMove) string {
	return page.Percent(float64(m.GetPercentage())) + " of " + w.group(g) + " " + w.move(m) + "."
}

// group returns who they are.
func (w effectWriter) group(g *guidonv1.EffectGroup) string {
	noun := stepNoun(w.boolean)
	switch {
	case g.GetMembership() == guidonv1.GroupMembership_EVERYONE_GROUP_MEMBERSHIP:
		return "everyone"
	case g.Before == nil && g.After == nil:
		return "those in none of the segments"
	case w.paired(g):
		return fmt.Sprintf("those in the segments of %s %d", noun, g.GetAfter()+1)
	case g.Before == nil:
		return fmt.Sprintf("those who come to %s %d now", noun, g.GetAfter()+1)
	case g.After == nil:
		return fmt.Sprintf("those who came to the former %s %d", noun, g.GetBefore()+1)
	}
	return fmt.Sprintf("those who came to the former %s %d, and come to %s %d now,", noun, g.GetBefore()+1, noun, g.GetAfter()+1)
}

// paired reports whether the same step decides before and after.
func (w effectWriter) paired(g *guidonv1.EffectGroup) bool {
	if g.Before == nil || g.After == nil {
		return false
	}
	for _, pair := range w.effect.GetSteps() {
		if pair.Before != nil && pair.After != nil && pair.GetBefore() == g.GetBefore() && pair.GetAfter() == g.GetAfter() {
			return true
		}
	}
	return false
}

func (w effectWriter) move(m *guidonv1.EffectMove) string {
	from, to := w.outcome(m.GetFrom()), w.outcome(m.GetTo())
	switch {
	case w.boolean:
		return "go from " + from + " to " + to
	case from == to:
		return "keep " + to + ", with another attachment"
	}
	return "move from " + from + " to " + to
}

func (w effectWriter) outcome(o *guidonv1.FlagOutcome) string {
	switch {
	case o.GetReason() == guidonv1.OutcomeReason_NOT_FOUND_OUTCOME_REASON:
		return "no flag"
	case o.GetReason() == guidonv1.OutcomeReason_ERROR_OUTCOME_REASON:
		return "an error"
	case w.boolean:
		return onOff(o.GetEnabled())
	case o.GetVariantKey() == "":
		return "no variant"
	}
	return o.GetVariantKey()
}
