package review

import (
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// EffectSentences returns an effect on people, in at most limit sentences, and whether
// there is more. Moves that are for another reason only are left out.
func EffectSentences(e *guidonv1.FlagEffect, limit int) (sentences []string, more bool) {
	sentences, more = sentencesWithLater(e, limit)
	for _, d := range e.GetDependents() {
		others, moreOthers := sentencesWithLater(d.GetEffect(), limit-len(sentences))
		for _, sentence := range others {
			sentences = append(sentences, "Flag "+d.GetFlagKey()+", which depends on it: "+sentence)
		}
		more = more || moreOthers
	}
	return sentences, more
}

func sentencesWithLater(e *guidonv1.FlagEffect, limit int) (sentences []string, more bool) {
	sentences, more = sentencesAtOnce(e, limit)
	for _, l := range e.GetLater() {
		later, moreLater := sentencesAtOnce(l.GetEffect(), limit-len(sentences))
		if len(later) == 0 && !moreLater {
			later = []string{"Nobody gets anything else."}
		}
		for _, sentence := range later {
			sentences = append(sentences, "From "+analysis.InstantWords(l.GetAt().AsTime())+": "+sentence)
		}
		more = more || moreLater
	}
	return sentences, more
}

func sentencesAtOnce(e *guidonv1.FlagEffect, limit int) (sentences []string, more bool) {
	if e.GetTypeChanged() {
		is, was := "variant", "boolean"
		if e.GetType() == flipt.FlagType_BOOLEAN_FLAG_TYPE {
			is, was = was, is
		}
		return []string{"It becomes a " + is + " flag: evaluations as a " + was + " flag fail."}, e.GetTruncated()
	}
	if all := e.GetEveryone(); all != "" {
		return []string{page.Sentence(all)}, false
	}
	for _, g := range e.GetGroups() {
		for _, m := range g.GetMoves() {
			switch {
			case m.GetSameValue(), m.GetSummary() == "": // said by an earlier one
			case len(sentences) >= limit:
				return sentences, true
			default:
				sentences = append(sentences, page.Sentence(m.GetSummary()))
			}
		}
	}
	return sentences, e.GetTruncated()
}

// Effect is the effect of a change on the users of a flag, in sentences.
type Effect struct {
	Flag  string // its key
	Lines []string
}

// maxEffectLines limits the sentences about one flag.
const maxEffectLines = 30

// NewEffect returns an effect in sentences; the second result is false if nothing changes.
func NewEffect(flag string, e *guidonv1.FlagEffect) (Effect, bool) {
	lines, more := EffectSentences(e, maxEffectLines)
	if more {
		lines = append(lines, "There may be more; not all of it is listed.")
	}
	return Effect{flag, lines}, len(lines) > 0
}
